//! From what somebody typed to what the store looks for.

use anyhow::Context;
use jiff::civil::Date;
use jiff::{Span, Timestamp, Zoned};
use sayso_store::{AuditFilter, UnixMillis};

use super::arguments::FilterArguments;

pub(super) fn filter(arguments: &FilterArguments, now: &Zoned) -> anyhow::Result<AuditFilter> {
    let project = match &arguments.project {
        Some(folder) => {
            // A folder that is gone can still be asked for.
            let folder = folder
                .canonicalize()
                .or_else(|_| std::path::absolute(folder))
                .with_context(|| format!("The folder {} is not known", folder.display()))?;
            Some(folder.to_string_lossy().into_owned())
        }
        None => None,
    };
    let time = |text: &Option<String>| text.as_deref().map(|text| time(text, now)).transpose();
    Ok(AuditFilter {
        kind: arguments.kind.clone(),
        session_id: arguments.session.clone(),
        request_id: None,
        project,
        tool_name: arguments.tool.clone(),
        outcome: arguments.outcome.clone(),
        actor_kind: arguments.by.clone(),
        since: time(&arguments.since)?,
        until: time(&arguments.until)?,
        search: arguments.search.clone(),
    })
}

/// A time, the beginning of a day here, or so long ago.
fn time(text: &str, now: &Zoned) -> anyhow::Result<UnixMillis> {
    let text = text.trim();
    let time = || -> Option<Timestamp> {
        if let Ok(time) = text.parse::<Timestamp>() {
            return Some(time);
        }
        if let Ok(day) = text.parse::<Date>() {
            let midnight = day.to_zoned(now.time_zone().clone()).ok()?;
            return Some(midnight.timestamp());
        }
        let ago: Span = text.parse().ok()?;
        let then = now.checked_sub(ago).ok()?;
        (then < *now).then(|| then.timestamp())
    };
    let time = time().with_context(|| {
        format!("`{text}` is not a time; write it like 2026-01-31T12:00:00Z, 2026-01-31, 90m or 7d")
    })?;
    Ok(UnixMillis(time.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let now: Zoned = "2026-03-10T12:00:00+01:00[+01:00]".parse().unwrap();
        for (text, expected) in [
            ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
            ("2026-01-31", "2026-01-30T23:00:00Z"),
            ("90m", "2026-03-10T09:30:00Z"),
            (" 7d ", "2026-03-03T11:00:00Z"),
            ("1h 30m", "2026-03-10T09:30:00Z"),
        ] {
            let expected: Timestamp = expected.parse().unwrap();
            assert_eq!(
                time(text, &now).unwrap().0,
                expected.as_millisecond(),
                "{text}"
            );
        }
        for text in ["", "soon", "-5m", "5", "2026-13-01"] {
            assert!(time(text, &now).is_err(), "{text}");
        }
    }
}
