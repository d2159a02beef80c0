//! The last steps of a run, short enough to be read.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use sayso_broker::{Broadcast, Effect, Event, RequestView};

/// Kept only when a failing seed is run again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    lines: Option<Rc<RefCell<VecDeque<String>>>>,
    length: usize,
}

impl Trace {
    const WIDTH: usize = 200;

    /// Keeps that many steps.
    pub(crate) fn of(length: usize) -> Self {
        Self {
            lines: Some(Rc::default()),
            length,
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        let lines = self.lines.as_ref().map(|lines| lines.borrow());
        lines.map_or_else(Vec::new, |lines| lines.iter().cloned().collect())
    }

    pub(crate) fn say(&self, text: impl FnOnce() -> String) {
        if let Some(lines) = &self.lines {
            let mut lines = lines.borrow_mut();
            if lines.len() >= self.length {
                lines.pop_front();
            }
            // Ids are small numbers here.
            let mut line = text().replace("00000000-0000-", "");
            line.truncate(line.floor_char_boundary(Self::WIDTH));
            lines.push_back(line);
        }
    }
}

pub(crate) fn event(event: &Event) -> String {
    match event {
        Event::Asked { ask, ruling, .. } => {
            let ruling = ruling.as_ref().map(|ruling| &ruling.verdict);
            format!("Asked({} {:?}, ruling {ruling:?})", ask.id, ask.kind)
        }
        Event::SessionRestored { session, restored } => {
            let requests = restored.requests.iter();
            let requests = requests.map(|request| {
                let decided = request.decided.as_ref().map(|decided| decided.outcome);
                format!("{} {decided:?}", request.ask.id)
            });
            let requests: Vec<_> = requests.collect();
            format!("SessionRestored({session}, {requests:?})")
        }
        other => format!("{other:?}"),
    }
}

pub(crate) fn effect(effect: &Effect) -> String {
    let brief = |request: &RequestView| format!("{} {:?}", request.ask.id, request.clock);
    match effect {
        Effect::Record {
            record,
            request,
            open,
            resolution,
        } => {
            let request = brief(request);
            format!("{record:?}, opens {open}, {request}, {resolution:?}")
        }
        Effect::Note { request, .. } => format!("Note {}", brief(request)),
        Effect::NoteClock { request } => format!("NoteClock {}", brief(request)),
        Effect::Broadcast(Broadcast::Opened(request)) => format!("Opened {}", brief(request)),
        Effect::Broadcast(Broadcast::Updated(request)) => format!("Updated {}", brief(request)),
        Effect::Broadcast(Broadcast::Closed {
            request,
            resolution,
        }) => format!("Closed {} {:?}", request.ask.id, resolution.outcome),
        other => format!("{other:?}"),
    }
}
