//! Asks of every shape, and the decisions that may follow.

#![allow(
    dead_code,
    reason = "shared by several tests, each of which uses a part"
)]

use std::sync::Arc;

use sayso_broker::{
    Allowance, AnswerValue, Answers, Ask, Decision, Json, Kind, Mode, ModeEffect, Plan, Question,
    QuestionOption, RequestId, RuleRef, Ruling, Verdict,
};

/// What kind of ask the agent makes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AskShape {
    Tool,
    Edit,
    Unfaithful,
    Interactive,
    /// Somebody wants a human to see it.
    Guarded,
    Question,
    Plan,
    Other,
}

impl AskShape {
    pub(crate) fn build(self, id: RequestId) -> Ask {
        let questions = vec![Question {
            text: "Which?".to_owned(),
            multi_select: false,
            options: vec![
                QuestionOption {
                    label: "A".to_owned(),
                },
                QuestionOption {
                    label: "B".to_owned(),
                },
            ],
        }];
        let everything = vec![
            (Mode::new("bypassPermissions"), ModeEffect::Allows),
            (Mode::new("dontAsk"), ModeEffect::Denies),
        ];
        let mut mode_effects = everything;
        if matches!(self, Self::Edit) {
            mode_effects.push((Mode::new("acceptEdits"), ModeEffect::Allows));
        }
        Ask {
            id,
            native_id: Json::new(&format!("\"{id}\"")),
            kind: match self {
                Self::Tool | Self::Edit | Self::Unfaithful | Self::Interactive | Self::Guarded => {
                    Kind::Tool
                }
                Self::Question => Kind::Questions(questions),
                Self::Plan => Kind::Plan(Plan {
                    modes: vec![Mode::new("default"), Mode::new("acceptEdits")],
                }),
                Self::Other => Kind::Other,
            },
            tool_name: "Bash".to_owned(),
            input: Json::new("{}"),
            digest: format!("digest of {id}"),
            input_faithful: !matches!(self, Self::Unfaithful),
            can_edit: true,
            suggestions: 1,
            suppress_always_allow: false,
            rules_may_allow: !matches!(self, Self::Guarded),
            requires_user_interaction: matches!(
                self,
                Self::Interactive | Self::Question | Self::Plan
            ),
            mode_effects: mode_effects.into(),
            choices: Arc::default(),
            tool_use_id: None,
            detail: Json::new("{}"),
            raw: Some(Json::new("{}")),
        }
    }
}

pub(crate) fn ruling(id: RequestId, allows: bool) -> Ruling {
    Ruling {
        rule: RuleRef {
            id: format!("rule for {id}"),
            text: "Bash(ls)".to_owned(),
        },
        verdict: if allows {
            Verdict::Allow
        } else {
            Verdict::Deny { reason: None }
        },
    }
}

pub(crate) fn allow() -> Decision {
    Decision::Allow(Allowance::default())
}

pub(crate) fn edited() -> Decision {
    Decision::Allow(Allowance {
        updated_input: Some(Json::new(r#"{"command":"ls"}"#)),
        remember: vec![0],
        mode: None,
        automatic: false,
    })
}

pub(crate) fn deny(interrupt: bool) -> Decision {
    Decision::Deny {
        message: None,
        interrupt,
    }
}

pub(crate) fn answer(text: &str) -> Decision {
    Decision::Answer(Answers {
        answers: vec![("Which?".to_owned(), AnswerValue::Text(text.to_owned()))],
        notes: Vec::new(),
    })
}
