//! What clients are shown of a request beside its input. It is kept as JSON, because the broker does not look into it;
//! what is being asked right now is read once.

use std::collections::VecDeque;
use std::sync::Arc;

use sayso_broker::{Ask, RequestId};
use sayso_protocol::RequestDetail;

/// Requests that are asked and decided at about the same time. Others are read again when they are needed.
const REMEMBERED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Details {
    newest_last: VecDeque<(RequestId, Arc<RequestDetail>)>,
}

impl Details {
    pub(super) fn remember(&mut self, request: RequestId, detail: RequestDetail) {
        if self.newest_last.len() == REMEMBERED {
            self.newest_last.pop_front();
        }
        self.newest_last.push_back((request, Arc::new(detail)));
    }

    /// Made by our own adapter, so `None` is a fault, and only means that less is shown.
    pub(super) fn of(&self, ask: &Ask) -> Option<Arc<RequestDetail>> {
        let known = self.newest_last.iter().rev().find(|(id, _)| *id == ask.id);
        match known {
            Some((_, detail)) => Some(Arc::clone(detail)),
            None => read(ask).map(Arc::new),
        }
    }

    pub(super) fn forget(&mut self, request: RequestId) {
        self.newest_last.retain(|(id, _)| *id != request);
    }
}

pub(super) fn read(ask: &Ask) -> Option<RequestDetail> {
    serde_json::from_str(ask.detail.as_str()).ok()
}
