//! What clients ask for.

use sayso_broker::{Event, Mode, SessionId};
use sayso_claude::{ControlRequest, PermissionMode, SendError};
use sayso_protocol::{
    Ack, ClientMessage, ContentBlock, ErrorCode, ErrorMessage, SendMessage, ServerMessage,
};
use sayso_store::Write;
use uuid::Uuid;

use super::audit::Actor;
use super::controls::ControlPurpose;
use super::messages::Outgoing;
use super::sessions::Stopped;
use super::shutdown::Phase;
use super::start::check_model;
use super::{Caller, Hub, Reply, now, wire};
use crate::access::Pass;
use crate::agents::claude;

const MAXIMUM_TITLE: usize = 200;

impl Hub {
    pub(super) fn command(&mut self, pass: &Pass, caller: Caller, message: ClientMessage) {
        if self.phase != Phase::Running {
            let error = wire::error(ErrorCode::ShuttingDown, "Sayso is shutting down.");
            return self.reply(caller, Err(error));
        }
        if let Err(error) = self.check_permission(pass, &message) {
            return self.reply(caller, Err(error));
        }
        match message {
            ClientMessage::StartSession(start) => self.start_session(caller, start),
            ClientMessage::Respond(respond) => self.respond(pass, caller, respond),
            ClientMessage::Hold(target) => self.set_held(caller, target.request_id, true),
            ClientMessage::ResumeClock(target) => self.set_held(caller, target.request_id, false),
            ClientMessage::Extend(extend) => self.extend(caller, extend.request_id, extend.seconds),
            ClientMessage::Interrupt(target) => {
                let request = ControlRequest::Interrupt {
                    cancel_queued: false,
                };
                self.control(
                    caller,
                    SessionId(target.session_id),
                    request,
                    ControlPurpose::Plain,
                );
            }
            ClientMessage::SetModel(set) => {
                if let Err(error) = check_model(Some(&set.model)) {
                    return self.reply(caller, Err(error));
                }
                let request = ControlRequest::SetModel {
                    model: Some(set.model.clone()),
                };
                let purpose = ControlPurpose::SetModel(set.model);
                self.control(caller, SessionId(set.session_id), request, purpose);
            }
            ClientMessage::SetPermissionMode(set) => {
                self.set_mode(caller, SessionId(set.session_id), &set.permission_mode);
            }
            ClientMessage::StopSession(target) => {
                let reply = self.running(SessionId(target.session_id));
                if reply.is_ok() {
                    self.stop_agent(SessionId(target.session_id), Stopped::Asked);
                }
                self.reply(caller, reply.map(|()| Ack::default()));
            }
            ClientMessage::RemoveSession(target) => {
                let reply = self.remove_session(SessionId(target.session_id));
                self.reply(caller, reply);
            }
            ClientMessage::RenameSession(rename) => {
                let reply = self.rename(SessionId(rename.session_id), &rename.title);
                self.reply(caller, reply);
            }
            ClientMessage::ArchiveSession(archive) => {
                let reply = self.archive(SessionId(archive.session_id), archive.archived);
                self.reply(caller, reply);
            }
            ClientMessage::ImportConversation(import) => self.import_conversation(caller, import),
            ClientMessage::EditQueued(edit) => self.edit_queued(caller, edit),
            ClientMessage::RemoveQueued(remove) => self.remove_queued(caller, &remove),
            ClientMessage::SendMessage(send) => self.send_message(caller, send),
            ClientMessage::Subscribe(subscribe) => {
                let session = SessionId(subscribe.session_id);
                let reply = self.known(session);
                let client = match &caller {
                    Caller::Socket { client, .. } => Some(*client),
                    Caller::Rest { .. } => None,
                };
                let known = reply.is_ok();
                self.reply(caller, reply.map(|()| Ack::default()));
                if let (true, Some(client)) = (known, client) {
                    self.subscribe(client, session, &subscribe);
                }
            }
            ClientMessage::Unsubscribe(target) => {
                if let Caller::Socket { client, .. } = &caller {
                    self.clients
                        .unsubscribe(*client, SessionId(target.session_id));
                }
                self.reply(caller, Ok(Ack::default()));
            }
            ClientMessage::AddRule(wanted) => self.add_rule(caller, wanted),
            ClientMessage::UpdateRule(update) => self.update_rule(caller, update),
            ClientMessage::EnableRule(enable) => self.enable_rule(caller, &enable),
            ClientMessage::RemoveRule(remove) => self.remove_rule(caller, remove.rule_id),
            ClientMessage::ListAgentRules(target) => {
                let session = SessionId(target.session_id);
                let request = ControlRequest::ListPermissionRules;
                self.control(caller, session, request, ControlPurpose::AgentRules);
            }
            ClientMessage::DismissAlert(target) => {
                self.dismiss_alert(caller, SessionId(target.session_id));
            }
            // Who looks is known where the socket is.
            ClientMessage::Presence(_) | ClientMessage::Ping(_) => {
                self.reply(caller, Ok(Ack::default()));
            }
        }
    }

    fn set_mode(&mut self, caller: Caller, session: SessionId, asked: &str) {
        let mode = claude::current_mode_name(asked);
        let checked = match self.sessions.get(session) {
            Some(known) => self.check_mode(&known.agent, mode),
            None => self.known(session),
        };
        if let Err(error) = checked {
            return self.reply(caller, Err(error));
        }
        self.explain_mode_name(session, asked);
        if let Some(known) = self.sessions.get_mut(session)
            && known.run.is_none()
        {
            // Takes effect when the session goes on.
            known.permission_mode = mode.to_owned();
            if self.broker.session(session).is_some() {
                self.dispatch(Event::AgentMode {
                    session,
                    mode: Mode::new(mode),
                });
            } else {
                self.session_changed(session);
            }
            return self.reply(caller, Ok(Ack::default()));
        }
        let wanted = PermissionMode::from_wire(mode);
        let must_restart = wanted == PermissionMode::BypassPermissions
            && self
                .sessions
                .get(session)
                .and_then(|known| known.run.as_ref())
                .is_some_and(|run| !run.allows_bypass);
        if must_restart {
            return self.restart_in(caller, session, mode);
        }
        // The agent may report its new mode before it answers.
        let actor = Actor::human(&self.client_of(&caller).label);
        self.mode_actors.insert(session, actor);
        let request = ControlRequest::SetPermissionMode { mode: wanted };
        self.control(
            caller,
            session,
            request,
            ControlPurpose::SetMode(Mode::new(mode)),
        );
    }

    fn send_message(&mut self, caller: Caller, send: SendMessage) {
        let session = SessionId(send.session_id);
        let checked = self.running(session);
        if let Err(error) = checked.and_then(|()| check_content(&send.content)) {
            return self.reply(caller, Err(error));
        }
        if let Caller::Socket { client, .. } = &caller {
            let client = *client;
            self.dispatch(Event::ClientAttached { client, session });
        }
        self.post(Outgoing {
            session,
            id: Uuid::new_v4(),
            content: send.content,
            at: now(),
            replaces: None,
            caller,
            ack: Ack::default(),
        });
    }

    pub(super) fn send_to_agent(
        &self,
        session: SessionId,
        input: sayso_claude::AgentInput,
    ) -> Result<(), ErrorMessage> {
        let run = self
            .sessions
            .get(session)
            .and_then(|known| known.run.as_ref());
        let Some(run) = run else {
            return Err(ended());
        };
        let sent = run.handle.try_send(input);
        sent.map(|_| ()).map_err(|error| match error {
            SendError::Overloaded => wire::error(
                ErrorCode::Overloaded,
                "The agent has not read what was sent before. Try again in a moment.",
            ),
            SendError::Closed => ended(),
            other => wire::error(ErrorCode::AgentError, other.to_string()),
        })
    }

    fn remove_session(&mut self, session: SessionId) -> Reply {
        self.known(session)?;
        if let Some(run) = self
            .sessions
            .get(session)
            .and_then(|known| known.run.as_ref())
        {
            run.handle.kill();
        }
        // First, so that nobody hears of a session that is going.
        let removed = self.sessions.remove(session);
        if let Some(unsaved) = removed.and_then(|removed| removed.unsaved_row) {
            let entries = unsaved.into_entries();
            self.keep_note(entries, "what the history says of a session");
        }
        self.dispatch(Event::SessionRemoved { session });
        let removed = ServerMessage::SessionRemoved {
            session_id: session.0,
        };
        self.clients.broadcast_about(session, &removed);
        self.clients.forget_session(session);
        let id = sayso_store::SessionId(session.0);
        self.save_fresh();
        self.keep_note(vec![Write::DeleteSession(id)], "the removal of a session");
        if self.rules.remove_session(session.0) {
            self.tell_rules();
        }
        Ok(Ack::default())
    }

    fn rename(&mut self, session: SessionId, title: &str) -> Reply {
        self.known(session)?;
        let title = title.trim();
        if title.is_empty() || title.chars().count() > MAXIMUM_TITLE {
            let text = format!("`title` must have 1 to {MAXIMUM_TITLE} characters.");
            return Err(wire::error(ErrorCode::InvalidMessage, text));
        }
        if let Some(known) = self.sessions.get_mut(session) {
            known.title = title.to_owned();
            known.title_fixed = true;
            self.session_changed(session);
        }
        Ok(Ack::default())
    }

    fn archive(&mut self, session: SessionId, archived: bool) -> Reply {
        self.known(session)?;
        if let Some(known) = self.sessions.get_mut(session) {
            known.archived_at = archived.then(now);
            self.session_changed(session);
        }
        Ok(Ack::default())
    }

    pub(super) fn known(&self, session: SessionId) -> Result<(), ErrorMessage> {
        match self.sessions.get(session) {
            Some(_) => Ok(()),
            None => Err(wire::error(
                ErrorCode::UnknownSession,
                "There is no such session.",
            )),
        }
    }

    pub(super) fn running(&self, session: SessionId) -> Result<(), ErrorMessage> {
        self.known(session)?;
        match self
            .sessions
            .get(session)
            .and_then(|known| known.run.as_ref())
        {
            Some(_) => Ok(()),
            None => Err(ended()),
        }
    }

    pub(super) fn reply(&mut self, caller: Caller, reply: Reply) {
        match caller {
            Caller::Socket { client, id } => {
                let message = match reply {
                    Ok(ack) if id.is_some() => ServerMessage::Ack(Ack { id, ..ack }),
                    // Nobody waits for the good news.
                    Ok(_) => return,
                    Err(error) => ServerMessage::Error(ErrorMessage { id, ..error }),
                };
                self.clients.send(client, &message);
            }
            Caller::Rest { reply: sender, .. } => {
                // The one who asked may have gone.
                let _ = sender.send(reply);
            }
        }
    }
}

pub(super) fn check_content(content: &[ContentBlock]) -> Result<(), ErrorMessage> {
    let empty = content.iter().all(|block| match block {
        ContentBlock::Text { text } => text.trim().is_empty(),
        ContentBlock::Image { .. } | ContentBlock::Document { .. } => false,
    });
    if empty {
        return Err(wire::error(
            ErrorCode::InvalidMessage,
            "The message is empty.",
        ));
    }
    Ok(())
}

fn ended() -> ErrorMessage {
    wire::error(
        ErrorCode::SessionEnded,
        "This session's agent has ended. Send `start_session` with `resume` to go on.",
    )
}
