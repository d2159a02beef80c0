//! What agents do, as it arrives.

use sayso_broker::{AgentActivity, Delivery, Event, Json, SessionId};
use sayso_protocol::{CommandInfo, ContextUse, EntryBody, ModelInfo};
use sayso_store::{AgentFactsRow, Write};
use tokio::time::Instant;

use super::Hub;
use super::run::AllowedTool;
use super::sessions::Run;
use crate::agents::link::FromAgent;
use crate::agents::{AgentOutput, EndedTurn, claude};

impl Hub {
    pub(super) fn agent_output(&mut self, from: FromAgent) {
        let FromAgent {
            session,
            run,
            outputs,
        } = from;
        for output in outputs {
            let current = self
                .sessions
                .get(session)
                .and_then(|known| known.run.as_ref())
                .is_some_and(|current| current.number == run);
            if current {
                self.output(session, output);
            }
        }
        if let Some(run) = self.run_of(session) {
            run.progress.end_of_batch();
        }
        self.acknowledge(session);
    }

    pub(super) fn run_of(&mut self, session: SessionId) -> Option<&mut Run> {
        self.sessions.get_mut(session)?.run.as_mut()
    }

    fn output(&mut self, session: SessionId, output: AgentOutput) {
        match output {
            AgentOutput::Line(line) => {
                self.heard(session);
                if let Some(run) = self.run_of(session) {
                    run.progress.begin_line(line);
                }
            }
            AgentOutput::Written(id) => {
                if self.delivering.contains_key(&id) {
                    self.expect_reaction(session, Instant::now());
                } else {
                    self.expect_a_word(session, id, Instant::now());
                }
                self.message_arrived(session, id);
                self.was_written(id, Delivery::Sent);
            }
            AgentOutput::NotWritten(id) => self.was_written(id, Delivery::Failed),
            AgentOutput::Input(reading) => self.input_is(session, reading),
            AgentOutput::Ready => {
                self.hand_over_denials(session);
                self.dispatch(Event::AgentActive {
                    session,
                    activity: AgentActivity::Idle,
                });
            }
            AgentOutput::Entry {
                parent_tool_use_id,
                body,
            } => {
                self.tool_used(session, &body);
                self.told(session, parent_tool_use_id, body);
            }
            AgentOutput::Delta(delta) => self.stream(session, delta),
            AgentOutput::Asked(ask) => {
                if !self.is_known(session, &ask.native_id) {
                    self.asked(session, ask);
                }
            }
            AgentOutput::ToolAsked(asked) => {
                if !self.is_known(session, &asked.ask.native_id) {
                    self.tool_asked(session, *asked);
                }
            }
            AgentOutput::AskedBefore(native_id) => {
                self.is_known(session, &native_id);
            }
            AgentOutput::ToolStarting(starting) => {
                if !self.is_known(session, &claude::native_id(&starting.start.request_id)) {
                    self.tool_starting(session, starting);
                }
            }
            AgentOutput::ToolRan { tool_use_id } => self.tool_ran(session, &tool_use_id),
            AgentOutput::Withdrawn(native_id) => {
                self.dispatch(Event::Withdrawn { session, native_id });
            }
            AgentOutput::Activity(activity) => {
                if activity == AgentActivity::Idle {
                    self.all_read(session);
                }
                self.dispatch(Event::AgentActive { session, activity });
            }
            AgentOutput::Mode(mode) => self.dispatch(Event::AgentMode { session, mode }),
            AgentOutput::AgentSession(id) => {
                self.update(session, |known| {
                    known.agent_session_id.replace(id.clone()) != Some(id)
                });
            }
            AgentOutput::Model(model) => {
                self.update(session, |known| {
                    known.model.replace(model.clone()) != Some(model)
                });
            }
            AgentOutput::Title(title) => {
                self.update(session, |known| {
                    let changed = !known.title_fixed && known.title != title;
                    if changed {
                        known.title = title;
                    }
                    changed
                });
            }
            AgentOutput::Features { commands, models } => {
                self.take_features(session, commands, models);
            }
            AgentOutput::ContextUsed(used) => self.update(session, |known| {
                let window = known.context.and_then(|context| context.window);
                let context = Some(ContextUse { used, window });
                std::mem::replace(&mut known.context, context) != context
            }),
            AgentOutput::ContextWindow(window) => self.update(session, |known| {
                let Some(context) = &mut known.context else {
                    return false;
                };
                context.window.replace(window) != Some(window)
            }),
            AgentOutput::Message { id, progress } => self.message_progress(session, id, progress),
            AgentOutput::TurnEnded(turn) => self.turn_ended(session, turn),
            AgentOutput::ControlDone { token, result } => self.control_done(token, result),
            AgentOutput::Ended(reason) => self.agent_ended(session, reason),
        }
    }

    /// Something that the agent said, unless an earlier server has it already.
    fn told(&mut self, session: SessionId, parent_tool_use_id: Option<String>, body: EntryBody) {
        let place = self.run_of(session).map(|run| run.progress.next_place());
        if place != Some(None) {
            self.note_tool(session, &body);
        }
        match place {
            Some(None) => {}
            Some(place) => self.append_from(session, parent_tool_use_id, body, place),
            None => self.append(session, parent_tool_use_id, body),
        }
    }

    pub(super) fn expect_tool(
        &mut self,
        session: SessionId,
        tool_use_id: &str,
        allowed: AllowedTool,
    ) {
        if let Some(run) = self.run_of(session) {
            run.allowed.insert(tool_use_id.to_owned(), allowed);
        }
    }

    /// The history tells what became of a tool that was allowed.
    fn note_tool(&mut self, session: SessionId, body: &EntryBody) {
        let EntryBody::ToolResult {
            tool_use_id,
            is_error,
            ..
        } = body
        else {
            return;
        };
        let run = self.run_of(session);
        if let Some(tool) = run.and_then(|run| run.allowed.remove(tool_use_id)) {
            let entry = self.tool_entry(session, &tool, tool_use_id, *is_error);
            self.keep_note(vec![entry], "what became of a tool");
        }
    }

    /// True for a request that an earlier server has stored: it is restored, or over.
    fn is_known(&mut self, session: SessionId, native_id: &Json) -> bool {
        let known = self
            .run_of(session)
            .is_some_and(|run| run.progress.is_known(native_id.as_str()));
        if known {
            self.is_recorded(session, native_id);
        }
        known
    }

    fn turn_ended(&mut self, session: SessionId, turn: EndedTurn) {
        let mut cost_usd = 0.0;
        self.update(session, |known| {
            let line = known.run.as_ref().map_or(0, |run| run.progress.line());
            if line > 0 && line <= known.counted_line {
                return false;
            }
            known.counted_line = line;
            // A process counts from where the one before it stopped, or from nothing.
            let before = known.run.as_ref().map_or(0.0, |run| run.cost_before);
            cost_usd = match turn.total_cost_usd - before {
                added if added >= 0.0 => added,
                _ => turn.total_cost_usd,
            };
            if let Some(run) = &mut known.run {
                run.cost_before = turn.total_cost_usd;
            }
            known.usage.cost_usd += cost_usd;
            known.usage.turns += 1;
            known.usage.tokens.input += turn.tokens.input;
            known.usage.tokens.output += turn.tokens.output;
            known.usage.tokens.cache_read += turn.tokens.cache_read;
            known.usage.tokens.cache_write += turn.tokens.cache_write;
            true
        });
        let body = EntryBody::TurnEnded {
            is_error: turn.is_error,
            reason: turn.reason,
            text: turn.text,
            duration_ms: turn.duration_ms,
            cost_usd,
            tokens: turn.tokens,
        };
        self.told(session, None, body);
    }

    fn take_features(
        &mut self,
        session: SessionId,
        commands: Vec<CommandInfo>,
        models: Vec<ModelInfo>,
    ) {
        let Some(known) = self.sessions.get_mut(session) else {
            return;
        };
        let agent = known.agent.clone();
        known.features.commands = commands;
        known.features.models.clone_from(&models);
        if let Some(message) = self.features_message(session) {
            self.clients.broadcast_to_watchers(session, &message);
        }
        let json = serde_json::to_string(&models).unwrap_or_default();
        if self.agents.set_models(&agent, models) {
            let row = AgentFactsRow {
                agent,
                models: json,
            };
            self.note(Write::PutAgentFacts(row), "what an agent said of itself");
            self.tell_agents();
        }
    }

    /// Changes a session and tells everybody when something changed.
    pub(super) fn update(
        &mut self,
        session: SessionId,
        change: impl FnOnce(&mut super::sessions::Session) -> bool,
    ) {
        if self.sessions.get_mut(session).is_some_and(change) {
            self.session_changed(session);
        }
    }
}
