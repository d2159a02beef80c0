//! What one channel has to say about one thing, and when.

use std::collections::BTreeSet;

use jiff::Timestamp;
use uuid::Uuid;

use super::plan::{Lane, Millis, Open, Verdict, What};

/// How often one thing is tried, and for how long.
const MOST_TRIES: u32 = 8;
const LONGEST_TRIED: Millis = 60 * 60 * 1000;

/// How far one channel has come with one subject.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) announced: Option<Millis>,
    pub(super) reminded: bool,
    first_try: Option<Millis>,
    tries: u32,
    given_up: bool,
}

impl Progress {
    /// A try may have arrived although nobody said so.
    pub(super) fn may_be_shown(&self) -> bool {
        self.announced.is_some() || self.first_try.is_some()
    }

    pub(super) fn ended(&mut self, now: Millis, verdict: Verdict, reminder: bool) {
        let since = self.first_try.unwrap_or(now);
        let too_long = now.saturating_sub(since) >= LONGEST_TRIED;
        let over = match verdict {
            Verdict::Delivered => {
                self.announced.get_or_insert(now);
                self.tries = 0;
                self.reminded |= reminder;
                return;
            }
            Verdict::Refused => true,
            Verdict::Later(_) => self.tries >= MOST_TRIES || (too_long && !reminder),
        };
        self.given_up |= over;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    Announce,
    Remind,
    At(Millis),
    /// Not before something happens.
    NotNow,
}

pub(super) fn due(open: &Open, channel: Uuid, lane: &Lane, now: Millis) -> Due {
    let (subject, settings) = (&open.subject, &lane.settings);
    let progress = open.progress.get(&channel).copied().unwrap_or_default();
    let wanted = settings.enabled && settings.kinds.contains(&subject.kind);
    if !wanted || progress.given_up {
        return Due::NotNow;
    }
    let seconds = |seconds: u32| Millis::from(seconds) * 1000;
    let mut times = Vec::new();
    if progress.announced.is_none() {
        let at = subject
            .opened_at
            .saturating_add(seconds(settings.after_seconds));
        if at <= now {
            return Due::Announce;
        }
        times.push(at);
    }
    if let Some(deadline) = subject.deadline
        && settings.remind_seconds > 0
        && !progress.reminded
        && now < deadline
    {
        let at = deadline.saturating_sub(seconds(settings.remind_seconds));
        // Whoever heard of it that late knows.
        if progress.announced.is_none_or(|announced| announced < at) {
            if at <= now {
                return Due::Remind;
            }
            times.push(at);
        }
    }
    times.into_iter().min().map_or(Due::NotNow, Due::At)
}

/// Begins a try, if one is due.
pub(super) fn start(open: &mut Open, channel: Uuid, lane: &Lane, now: Millis) -> Option<What> {
    let subject = open.subject.clone();
    let what = match due(open, channel, lane, now) {
        Due::Announce => What::Announce(subject),
        Due::Remind => What::Remind(subject),
        Due::At(_) | Due::NotNow => return None,
    };
    let progress = open.progress.entry(channel).or_default();
    progress.first_try.get_or_insert(now);
    progress.tries = progress.tries.saturating_add(1);
    Some(what)
}

/// Whether a channel may be used at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Open,
    Quiet,
    /// Somebody looks.
    Closed,
}

impl Gate {
    pub(super) fn of(lane: &Lane, looking: &BTreeSet<Uuid>, anybody: bool, now: Millis) -> Self {
        let own = lane.device.is_some_and(|device| looking.contains(&device));
        if own || (lane.settings.only_when_away && anybody) {
            return Self::Closed;
        }
        let time = Timestamp::from_millisecond(now).unwrap_or_default();
        match &lane.quiet {
            Some(quiet) if quiet.covers(time) => Self::Quiet,
            _ => Self::Open,
        }
    }
}
