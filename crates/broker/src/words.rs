//! What agents are told. Each sentence says what happened, so that a model
//! does not take silence for a refusal or a refusal for an error.

use std::time::Duration;

pub(crate) const DENIED: &str =
    "The user declined this action. Do not try it again in another way; go on without it or ask.";
pub(crate) const SKIPPED: &str =
    "The user chose not to answer. Go on with your best judgement, or ask in another way.";
pub(crate) const UNATTENDED: &str = "Nobody is connected to answer, and Sayso is set to refuse in that case. \
     This is not a decision of the user's: go on with what needs no permission, or stop and wait.";
pub(crate) const SHUTTING_DOWN: &str = "Sayso is shutting down, so nobody can answer now. \
     This is not a decision of the user's: stop here.";
pub(crate) const TOO_MANY: &str =
    "Too many requests are waiting for the user already. Wait until some are answered.";
pub(crate) const MODE_DENIES: &str =
    "The user switched to a permission mode in which this action is refused without asking.";
pub(crate) const RESTARTING: &str = "The user switched to a permission mode for which the agent must start again, \
     so this action was refused. It was not judged by itself: it may be tried again afterwards.";

pub(crate) fn denied_by_rule(rule: &str, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => reason.to_owned(),
        None => format!(
            "A rule of the user's refuses this: {rule}. Do not try it again in another way; \
             go on without it or ask."
        ),
    }
}

/// `waited` is the time since the agent asked, whatever the limit was moved to.
pub(crate) fn expired(waited: Duration) -> String {
    let waited = spell(waited);
    format!(
        "Nobody answered within {waited}. This is not a refusal: the user may be away. \
         Go on with what needs no permission, or stop and wait for the user."
    )
}

fn spell(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (count, unit) = match seconds {
        0..=119 => (seconds, "second"),
        _ if seconds.is_multiple_of(60) => (seconds / 60, "minute"),
        _ => (seconds, "second"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}
