//! What is known of a request beside what the broker has of it. It is kept as JSON, because the broker does not look
//! into it; what is being asked right now is read once.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use sayso_broker::{Ask, RequestId};
use sayso_policy::Link;
use sayso_protocol::RequestDetail;
use serde_json::Value;

use super::ById;
use crate::rules::Call;

/// Requests that are asked and decided at about the same time. Others are read again when they are needed.
const REMEMBERED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Details {
    newest_last: VecDeque<Known>,
    /// Of every tool call that this server was asked about and that is open.
    surroundings: ById<RequestId, Surroundings>,
}

/// One of the requests that are being asked.
#[derive(Debug)]
struct Known {
    id: RequestId,
    detail: Arc<RequestDetail>,
    input: Value,
}

/// What was found around a tool call when it was asked about.
#[derive(Debug)]
struct Surroundings {
    cwd: String,
    links: Vec<Link>,
}

impl Details {
    pub(super) fn remember(&mut self, ask: &Ask, detail: RequestDetail, call: Call) {
        if self.newest_last.len() == REMEMBERED {
            self.newest_last.pop_front();
        }
        self.newest_last.push_back(Known {
            id: ask.id,
            detail: Arc::new(detail),
            input: call.input,
        });
        let Call { cwd, links, .. } = call;
        self.surroundings
            .insert(ask.id, Surroundings { cwd, links });
    }

    /// Made by our own adapter, so `None` is a fault, and only means that less is shown.
    pub(super) fn of(&self, ask: &Ask) -> Option<Arc<RequestDetail>> {
        match self.known(ask) {
            Some(known) => Some(Arc::clone(&known.detail)),
            None => read(ask).map(Arc::new),
        }
    }

    pub(super) fn input(&self, ask: &Ask) -> Cow<'_, Value> {
        match self.known(ask) {
            Some(known) => Cow::Borrowed(&known.input),
            None => Cow::Owned(serde_json::from_str(ask.input.as_str()).unwrap_or_default()),
        }
    }

    /// As it was asked about. `None` for what an earlier server was asked.
    pub(super) fn call(&self, ask: &Ask) -> Option<Call> {
        let Surroundings { cwd, links } = self.surroundings.get(&ask.id)?;
        let input = self.input(ask).into_owned();
        Some(Call {
            links: links.clone(),
            ..Call::new(&ask.tool_name, input, Path::new(cwd))
        })
    }

    pub(super) fn forget(&mut self, request: RequestId) {
        self.newest_last.retain(|known| known.id != request);
        self.surroundings.remove(&request);
    }

    fn known(&self, ask: &Ask) -> Option<&Known> {
        self.newest_last
            .iter()
            .rev()
            .find(|known| known.id == ask.id)
    }
}

pub(super) fn read(ask: &Ask) -> Option<RequestDetail> {
    serde_json::from_str(ask.detail.as_str()).ok()
}
