use indexmap::IndexMap;

use super::ProtocolError;
use crate::input::SendError;
use crate::raw::RawJson;
use crate::recent::RecentIds;

/// Far more than agents ask at once; beyond it the agent has run wild.
const OPEN_LIMIT: usize = 4096;

/// A request of the agent that waits for an answer, with what is needed to answer it.
#[derive(Debug, PartialEq)]
pub(super) enum OpenRequest {
    Tool(OpenTool),
    Elicitation,
    /// A tool that is about to run.
    BeforeTool,
    Other,
}

/// What an answer to an ask is made of.
#[derive(Debug, PartialEq)]
pub(super) struct OpenTool {
    pub(super) tool_use_id: Option<String>,
    pub(super) input: RawJson,
    pub(super) input_faithful: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    Answered,
    Withdrawn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Withdrawal {
    WhileOpen,
    AfterAnswer,
}

/// The agent's requests: those open, in the order they came, and the last ones that ended.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    open: IndexMap<String, OpenRequest>,
    /// To tell a repeated id from a new one.
    closed: RecentIds<Closed>,
}

impl Ledger {
    pub(super) fn knows(&self, request_id: &str) -> bool {
        self.open.contains_key(request_id) || self.closed.contains(request_id)
    }

    pub(super) fn check_new(&self, request_id: &str) -> Result<(), ProtocolError> {
        if self.knows(request_id) {
            let request_id = request_id.to_owned();
            return Err(ProtocolError::RepeatedRequestId { request_id });
        }
        if self.open.len() >= OPEN_LIMIT {
            return Err(ProtocolError::TooManyOpen { limit: OPEN_LIMIT });
        }
        Ok(())
    }

    pub(super) fn insert(&mut self, request_id: String, request: OpenRequest) {
        self.open.insert(request_id, request);
    }

    pub(super) fn open_ids(&self) -> impl Iterator<Item = &str> {
        self.open.keys().map(String::as_str)
    }

    pub(super) fn open(&self, request_id: &str) -> Result<&OpenRequest, SendError> {
        self.open.get(request_id).ok_or_else(|| SendError::NotOpen {
            request_id: request_id.to_owned(),
        })
    }

    pub(super) fn close(&mut self, request_id: &str, how: Closed) {
        if self.open.shift_remove(request_id).is_none() {
            return;
        }
        self.closed.insert(request_id, how);
    }

    /// `None` when there is nothing to withdraw.
    pub(super) fn withdraw(&mut self, request_id: &str) -> Option<Withdrawal> {
        if self.open.contains_key(request_id) {
            self.close(request_id, Closed::Withdrawn);
            return Some(Withdrawal::WhileOpen);
        }
        let closed = self.closed.get_mut(request_id)?;
        match std::mem::replace(closed, Closed::Withdrawn) {
            Closed::Answered => Some(Withdrawal::AfterAnswer),
            Closed::Withdrawn => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recent::REMEMBERED;

    #[test]
    fn memory_of_ended_requests_is_bounded() {
        let mut ledger = Ledger::default();
        for number in 0..=REMEMBERED {
            let id = number.to_string();
            ledger.insert(id.clone(), OpenRequest::Other);
            ledger.close(&id, Closed::Answered);
        }
        assert!(!ledger.knows("0"));
        assert!(ledger.knows("1"));
    }
}
