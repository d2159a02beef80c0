//! Starting sessions, new ones and those that go on.

use sayso_broker::{Event, Mode, SessionId, SessionSpec};
use sayso_claude::launch::Conversation;
use sayso_claude::{LaunchOptions, PassedVariables, PermissionMode};
use sayso_protocol::{
    Ack, ContentBlock, EntryBody, ErrorCode, ErrorMessage, NoticeLevel, StartSession,
};
use sayso_runner::{LaunchSpec, Limits as RunnerLimits};
use sayso_store::Write;
use std::sync::Arc;
use uuid::Uuid;

use super::audit::Actor;
use super::checks::{CheckedStart, Checks, Trust, check};
use super::messages::Outgoing;
use super::progress::Progress;
use super::run::Run;
use super::sessions::{Session, title};
use super::{Caller, Hub, HubHandle, HubMessage, now, takeover, wire};
use crate::agents::link::{self, Destination, Launch};
use crate::agents::{self, claude};
use crate::config::PolicySettings;

/// Tells Claude Code to go on by itself with the turn in which it was cut off.
const TAKE_UP_TURN: &str = "CLAUDE_CODE_RESUME_INTERRUPTED_TURN";

/// What an agent that goes on does with a turn that had no end.
#[derive(Clone, Copy)]
enum CutOffTurn {
    TakenUp,
    Left,
}

impl Hub {
    /// Looks at the folder first, outside the hub: a file system may be slow.
    pub(super) fn start_session(&mut self, caller: Caller, start: StartSession) {
        let checks = match self.checks(&caller, &start) {
            Ok(checks) => checks,
            Err(error) => return self.reply(caller, Err(error)),
        };
        let hub = self.handle.clone();
        let store = self.store.clone();
        tokio::spawn(async move {
            let checked = match check(start, checks, &store).await {
                Ok(checked) => remember_trust(&hub, checked).await,
                Err(error) => Err(error),
            };
            // When the hub has ended there is nothing left to start.
            let _ = hub.send(HubMessage::StartChecked { caller, checked }).await;
        });
    }

    fn checks(&self, caller: &Caller, start: &StartSession) -> Result<Checks, ErrorMessage> {
        let (agent, cwd, restricted) = match start.resume {
            None => {
                let agent = start.agent.clone().unwrap_or_else(|| self.default_agent());
                (agent, start.cwd.clone(), false)
            }
            // A session that goes on stays in its own folder.
            Some(id) => match self.sessions.get(SessionId(id)) {
                Some(known) => (known.agent.clone(), known.cwd.clone(), known.restricted),
                None => return Err(unknown_session()),
            },
        };
        Ok(Checks {
            cwd,
            reads_folder: agent == agents::CLAUDE,
            restricted,
            client_label: self.client_of(caller).label,
        })
    }

    pub(super) fn start_checked(
        &mut self,
        caller: Caller,
        checked: Result<CheckedStart, ErrorMessage>,
    ) {
        if self.phase != super::Phase::Running {
            let error = wire::error(ErrorCode::ShuttingDown, "Sayso is shutting down.");
            return self.reply(caller, Err(error));
        }
        let resumed = checked.as_ref().ok().and_then(|it| it.start.resume);
        if let (Ok(checked), Some(session)) = (&checked, resumed.map(SessionId))
            && self.is_unresponsive(session)
        {
            return self.replace(caller, session, checked.start.clone());
        }
        let actor = Actor::human(&self.client_of(&caller).label);
        let started = checked.and_then(|checked| match checked.start.resume {
            Some(session) => self.resume(SessionId(session), &checked, &actor),
            None => self.start_new(&checked, &actor),
        });
        let (session, prompt) = match started {
            Ok(started) => started,
            Err(error) => return self.reply(caller, Err(error)),
        };
        if let Caller::Socket { client, .. } = &caller {
            self.attend(*client, session);
        }
        let ack = Ack {
            session_id: Some(session.0),
            ..Ack::default()
        };
        match prompt {
            None => self.reply(caller, Ok(ack)),
            Some(text) => self.post(Outgoing {
                session,
                id: Uuid::new_v4(),
                content: vec![ContentBlock::Text { text }],
                at: now(),
                replaces: None,
                caller,
                ack,
            }),
        }
    }

    fn start_new(
        &mut self,
        checked: &CheckedStart,
        actor: &Actor,
    ) -> Result<(SessionId, Option<String>), ErrorMessage> {
        let start = &checked.start;
        let agent = start.agent.clone().unwrap_or_else(|| self.default_agent());
        let asked = start.permission_mode.as_deref().unwrap_or("default");
        let mode = claude::current_mode_name(asked).to_owned();
        self.check_mode(&agent, &mode)?;
        check_model(start.model.as_deref())?;
        let policies = self.policies(start, &self.config.policies)?;
        let cwd = checked.cwd.display().to_string();
        let prompt = start
            .prompt
            .clone()
            .filter(|prompt| !prompt.trim().is_empty());
        let session = Session {
            title: title(prompt.as_deref(), &cwd),
            cwd,
            agent,
            permission_mode: mode,
            model: start.model.clone(),
            restricted: matches!(checked.trust, Trust::Restricted),
            policies,
            ..Session::new(SessionId(Uuid::now_v7()), now())
        };
        let id = session.id;
        self.sessions.insert(session);
        match self.launch(id, actor, CutOffTurn::Left) {
            Ok(()) => {
                self.explain_mode_name(id, asked);
                Ok((id, prompt))
            }
            Err(error) => {
                self.sessions.remove(id);
                Err(error)
            }
        }
    }

    fn resume(
        &mut self,
        id: SessionId,
        checked: &CheckedStart,
        actor: &Actor,
    ) -> Result<(SessionId, Option<String>), ErrorMessage> {
        let start = &checked.start;
        let policies = match self.sessions.get(id) {
            Some(session) => self.policies(start, &session.policies)?,
            None => return Err(unknown_session()),
        };
        if let (Some(mode), Some(agent)) = (
            &start.permission_mode,
            self.sessions.get(id).map(|session| session.agent.clone()),
        ) {
            self.check_mode(&agent, claude::current_mode_name(mode))?;
        }
        check_model(start.model.as_deref())?;
        let Some(session) = self.sessions.get_mut(id) else {
            return Err(unknown_session());
        };
        if start
            .agent
            .as_ref()
            .is_some_and(|agent| *agent != session.agent)
        {
            let text = format!(
                "This session's agent is `{}`; it goes on with that.",
                session.agent
            );
            return Err(wire::error(ErrorCode::InvalidMessage, text));
        }
        if session.run.is_some() {
            let text = "This session is still running; send it a message instead.";
            return Err(wire::error(ErrorCode::InvalidMessage, text));
        }
        session.policies = policies;
        session.restricted = matches!(checked.trust, Trust::Restricted);
        session.archived_at = None;
        if let Some(mode) = &start.permission_mode {
            session.permission_mode = claude::current_mode_name(mode).to_owned();
        }
        if start.model.is_some() {
            session.model.clone_from(&start.model);
        }
        let turn = match start.ask_again {
            true => CutOffTurn::TakenUp,
            false => CutOffTurn::Left,
        };
        self.launch(id, actor, turn)?;
        if let Some(mode) = &start.permission_mode {
            self.explain_mode_name(id, mode);
        }
        let prompt = start
            .prompt
            .clone()
            .filter(|prompt| !prompt.trim().is_empty());
        Ok((id, prompt))
    }

    /// Starts the agent's process for a session that has none.
    fn launch(
        &mut self,
        id: SessionId,
        actor: &Actor,
        turn: CutOffTurn,
    ) -> Result<(), ErrorMessage> {
        let Some(session) = self.sessions.get(id) else {
            return Err(unknown_session());
        };
        let Some(program) = self.agents.program(&session.agent) else {
            let problem = self
                .agents
                .info(&session.agent)
                .and_then(|info| info.problem);
            let problem =
                problem.unwrap_or_else(|| format!("There is no agent `{}`.", session.agent));
            return Err(wire::error(ErrorCode::AgentUnavailable, problem));
        };
        let most = self.config.max_sessions;
        if self.sessions.running().len() >= most {
            let text = format!("{most} agents run already. Stop one, or raise `max_sessions`.");
            return Err(wire::error(ErrorCode::Overloaded, text));
        }
        let agent = session.agent.clone();
        let mode = PermissionMode::from_wire(&session.permission_mode);
        let earlier = session
            .agent_session_id
            .as_ref()
            .and_then(|id| id.parse().ok());
        let options = LaunchOptions {
            leading_arguments: program.leading_arguments,
            // It may also be what an agent said of itself.
            model: session
                .model
                .clone()
                .filter(|model| check_model(Some(model)).is_ok()),
            conversation: earlier.map_or_else(
                || Conversation::NewWithId(Uuid::new_v4()),
                Conversation::Resume,
            ),
            allow_bypass: mode == PermissionMode::BypassPermissions,
            restricted: session.restricted,
            permission_mode: Some(mode),
            set_variables: match turn {
                CutOffTurn::TakenUp => vec![(TAKE_UP_TURN.into(), "1".into())],
                CutOffTurn::Left => Vec::new(),
            },
            passed_variables: PassedVariables(self.config.pass_environment.clone()),
            ..LaunchOptions::new(program.path, &session.cwd)
        };
        let spec = SessionSpec {
            policies: session.policies.policies(),
            mode: Mode::new(&session.permission_mode),
        };
        let destination = self.next_run_of(id);
        let number = destination.run;
        let adapter = claude::Adapter::new(options.cwd.clone());
        let handle = link::start(self.runner_for(id, &options), adapter, destination);
        if let Some(session) = self.sessions.get_mut(id) {
            session.run_after = session.transcript.last_seq();
            session.counted_line = 0;
            session.run = Some(Run::new(number, handle, session, Progress::default()));
        }
        tracing::info!(session = %id, agent = %agent, "an agent was started");
        let entry = self.session_entry(id, actor, "started", &agent);
        self.keep_note(vec![entry], "the start of a session");
        self.dispatch(Event::SessionStarted { session: id, spec });
        self.send_unread(id);
        Ok(())
    }

    /// Where the output of a session's next process goes.
    pub(super) fn next_run_of(&mut self, session: SessionId) -> Destination {
        self.next_run += 1;
        Destination {
            session,
            run: self.next_run,
            hub: self.to_hub.clone(),
            busy: Arc::clone(&self.links),
        }
    }

    fn runner_for(&self, id: SessionId, options: &LaunchOptions) -> Launch {
        Launch {
            program: self.agents.own_program().to_owned(),
            arguments: vec!["runner".into()],
            folder: takeover::folder_of(&self.config.data_dir, id),
            spec: LaunchSpec {
                program: options.program.clone(),
                arguments: options.arguments(),
                folder: options.cwd.clone(),
                environment: options.environment(std::env::vars_os()),
                limits: RunnerLimits {
                    unclaimed: self.config.unclaimed_timeout.0,
                    ..RunnerLimits::default()
                },
            },
        }
    }

    fn policies(
        &self,
        start: &StartSession,
        base: &PolicySettings,
    ) -> Result<PolicySettings, ErrorMessage> {
        match &start.policies {
            None => Ok(base.clone()),
            Some(overrides) => base.with(overrides).map_err(|error| {
                let text = format!("`start_session`: field `policies`: {error}.");
                wire::error(ErrorCode::InvalidMessage, text)
            }),
        }
    }

    /// Says so when a mode goes by another name here.
    pub(super) fn explain_mode_name(&mut self, session: SessionId, asked: &str) {
        let current = claude::current_mode_name(asked);
        if current != asked {
            let text = format!("The mode `{asked}` is called `{current}` here.");
            let level = NoticeLevel::Info;
            self.append(session, None, EntryBody::Notice { level, text });
        }
    }

    pub(super) fn check_mode(&self, agent: &str, mode: &str) -> Result<(), ErrorMessage> {
        let Some(info) = self.agents.info(agent) else {
            let text = format!("There is no agent `{agent}`.");
            return Err(wire::error(ErrorCode::AgentUnavailable, text));
        };
        let names: Vec<&str> = info
            .permission_modes
            .iter()
            .map(|known| known.mode.as_str())
            .collect();
        if names.contains(&mode) {
            return Ok(());
        }
        let text = format!("`permission_mode` must be one of {}.", names.join(", "));
        Err(wire::error(ErrorCode::InvalidMessage, text))
    }
}

pub(super) fn check_model(model: Option<&str>) -> Result<(), ErrorMessage> {
    let checked = model.map_or(Ok(()), sayso_claude::launch::check_model);
    checked.map_err(|error| {
        let text = format!("`model` {error}.");
        wire::error(ErrorCode::InvalidMessage, text)
    })
}

fn unknown_session() -> ErrorMessage {
    wire::error(ErrorCode::UnknownSession, "There is no such session.")
}

/// On record before anything of the folder runs.
async fn remember_trust(
    hub: &HubHandle,
    checked: CheckedStart,
) -> Result<CheckedStart, ErrorMessage> {
    if let Trust::Given(row) = &checked.trust {
        let written = hub.write(vec![Write::TrustFolder(row.clone())]).await;
        written.map_err(|error| wire::error(ErrorCode::StoreUnavailable, error.to_string()))?;
        tracing::info!(folder = %row.path, "a folder's own settings were trusted");
    }
    Ok(checked)
}
