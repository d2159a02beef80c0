//! What clients say to open requests: decisions and clocks.

use std::time::Duration;

use sayso_broker::{Event, Refusal, RequestId};
use sayso_protocol::{Ack, ErrorCode, ErrorMessage, Respond};
use uuid::Uuid;

use super::{Caller, Hub, HubMessage, records, wire};

/// A day is as far as one click moves a deadline.
const MAXIMUM_EXTENSION: u32 = 24 * 60 * 60;

impl Hub {
    pub(super) fn decide(&mut self, caller: Caller, respond: Respond) {
        let request = RequestId(respond.request_id);
        let Some(caller) = self.if_known(caller, request) else {
            return;
        };
        let client = self.client_of(&caller);
        let reply = self.remember_caller(caller, request);
        self.dispatch(Event::Decided {
            request,
            client,
            digest: respond.input_digest,
            decision: wire::decision(respond.decision),
            reply,
        });
    }

    /// Gives the caller back when the broker knows the request; otherwise it is
    /// answered from the store.
    fn if_known(&self, caller: Caller, request: RequestId) -> Option<Caller> {
        if self.broker.request(request).is_some() || self.broker.closed(request).is_some() {
            return Some(caller);
        }
        self.look_up_closed(caller, request.0);
        None
    }

    /// The broker forgets what was closed long ago; the store does not.
    fn look_up_closed(&self, caller: Caller, request: Uuid) {
        let (store, hub) = (self.store.clone(), self.handle.clone());
        tokio::spawn(async move {
            let found = store.request(sayso_store::RequestId(request)).await;
            let decision = found.ok().flatten().and_then(|found| found.decision);
            let error = match decision {
                Some(decision) => ErrorMessage {
                    outcome: Some(Box::new(records::outcome(&decision))),
                    ..wire::error(
                        ErrorCode::AlreadyDecided,
                        "This request is already decided.",
                    )
                },
                None => wire::refusal(&Refusal::UnknownRequest),
            };
            let reply = Err(ErrorMessage {
                request_id: Some(request),
                ..error
            });
            // When the hub has ended there is nobody left to answer.
            let _ = hub.send(HubMessage::LateReply { caller, reply }).await;
        });
    }

    pub(super) fn set_held(&mut self, caller: Caller, request: Uuid, held: bool) {
        let request = RequestId(request);
        let Some(caller) = self.if_known(caller, request) else {
            return;
        };
        let reply = self.remember_caller(caller, request);
        self.dispatch(Event::SetHeld {
            request,
            held,
            reply,
        });
    }

    pub(super) fn extend(&mut self, caller: Caller, request: Uuid, seconds: u32) {
        if !(1..=MAXIMUM_EXTENSION).contains(&seconds) {
            let text = format!("`extend`: field `seconds`: must be from 1 to {MAXIMUM_EXTENSION}.");
            return self.reply(caller, Err(wire::error(ErrorCode::InvalidMessage, text)));
        }
        let request = RequestId(request);
        let Some(caller) = self.if_known(caller, request) else {
            return;
        };
        let reply = self.remember_caller(caller, request);
        self.dispatch(Event::Extended {
            request,
            by: Duration::from_secs(seconds.into()),
            reply,
        });
    }

    /// Answers a client with what the broker said.
    pub(super) fn answer(
        &mut self,
        caller: Caller,
        request: RequestId,
        result: Result<(), Refusal>,
    ) {
        let reply = result
            .map(|()| Ack::default())
            .map_err(|refusal| ErrorMessage {
                request_id: Some(request.0),
                ..wire::refusal(&refusal)
            });
        self.reply(caller, reply);
    }
}
