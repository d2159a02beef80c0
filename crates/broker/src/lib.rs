//! The heart of Sayso: who asked what, who decided it, and what follows.
//!
//! A [`Broker`] takes [`Event`]s and returns [`Effect`]s. It does no IO, reads
//! no clock and makes no ids; all of that comes in as data. The safety of the
//! product rests on this crate, so its invariants (I1 to I6 in
//! `ARCHITECTURE.md`) are property tests in `tests/invariants.rs`, and
//! `tests/simulation` plays them with everything around it: a store, agents that
//! outlive the server, clients, time and crashes.

mod answer;
mod ask;
mod broker;
mod clock;
mod effect;
mod event;
mod form;
mod policies;
mod request;
mod resolution;
mod ruling;
mod session;
mod values;
mod words;

pub use ask::{
    Ask, Choice, Form, FormField, FormFieldKind, Kind, Limits, ModeEffect, NumberField, Plan,
    Question, QuestionOption, TextField, TextFormat,
};
pub use broker::Broker;
pub use clock::ClockView;
pub use effect::{AgentAnswer, Broadcast, Effect, FollowUp, RecordId, StopReason};
pub use event::{
    AgentActivity, EndReason, Event, ReplyTo, RestoredRequest, RestoredSession, SessionSpec,
};
pub use policies::{OnTimeout, Policies, Responders, WhenUnattended};
pub use request::RequestView;
pub use resolution::{
    Allowance, AnswerValue, Answers, ClientRef, DecidedBy, Decision, Delivery, OutcomeKind,
    Refusal, Resolution,
};
pub use ruling::{RuleRef, Ruling, Verdict};
pub use session::{SessionState, SessionView};
pub use values::{ClientId, Json, Mode, RequestId, SessionId, Timestamp};
