//! Which decisions fit which requests, and what a refusal says.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a failure in the world fails the test"
)]

mod world;

use pretty_assertions::assert_eq;
use sayso_broker::{
    AgentAnswer, Allowance, AnswerValue, Answers, Decision, Effect, Form, FormField, FormFieldKind,
    Json, Kind, Limits, Mode, NumberField, Policies, Refusal, TextField, TextFormat,
};
use serde_json::json;
use world::{AskShape, World, answer};

/// What the agent hears, or why the human was refused.
fn decide(shape: AskShape, kind: Option<Kind>, decision: Decision) -> Result<AgentAnswer, String> {
    let mut world = World::new();
    world.connect();
    world.start(0, Policies::default());
    world.ask_as(0, shape, kind);
    world.disk_step(true);
    let digest = world.asks[0].digest.clone();
    let effects = world.decide(0, digest, decision);
    world.disk_step(true);
    if let [
        Effect::Reply {
            result: Err(Refusal::InvalidAnswer(text)),
            ..
        },
    ] = &effects[..]
    {
        return Err(text.clone());
    }
    Ok(world.asks[0].answers.first().expect("an answer").clone())
}

fn plan(mode: &str) -> Decision {
    Decision::Allow(Allowance {
        mode: Some(Mode::new(mode)),
        ..Allowance::default()
    })
}

#[test]
fn an_approved_plan_leads_to_the_mode_that_was_chosen() {
    let AgentAnswer::Allow(allowance) = decide(AskShape::Plan, None, plan("acceptEdits")).unwrap()
    else {
        unreachable!("a plan was allowed")
    };
    assert_eq!(allowance.mode, Some(Mode::new("acceptEdits")));
}

#[test]
fn i3_no_approval_of_a_plan_leads_to_a_mode_that_asks_nothing() {
    assert_eq!(
        decide(AskShape::Plan, None, plan("bypassPermissions")).unwrap_err(),
        "`permission_mode`: an approved plan cannot lead to \"bypassPermissions\"; \
         it can lead to default, acceptEdits."
    );
    assert_eq!(
        decide(AskShape::Tool, None, plan("acceptEdits")).unwrap_err(),
        "`permission_mode` can only be named when a plan is approved."
    );
}

#[test]
fn notes_belong_to_a_question_of_the_request() {
    let with_note = |question: &str| {
        Decision::Answer(Answers {
            answers: vec![("Which?".to_owned(), AnswerValue::Text("A".to_owned()))],
            notes: vec![(question.to_owned(), "but soon".to_owned())],
        })
    };
    let heard = decide(AskShape::Question, None, with_note("Which?")).unwrap();
    let AgentAnswer::Answers(answers) = heard else {
        unreachable!("a question was answered")
    };
    assert_eq!(
        answers.notes,
        [("Which?".to_owned(), "but soon".to_owned())]
    );
    assert_eq!(
        decide(AskShape::Question, None, with_note("Who?")).unwrap_err(),
        "There is no question \"Who?\" in this request."
    );
    assert!(decide(AskShape::Question, None, answer("B")).is_ok());
}

fn submit(kind: FormFieldKind, value: &serde_json::Value) -> Result<AgentAnswer, String> {
    let form = Form {
        fields: vec![FormField {
            name: "field".to_owned(),
            required: true,
            kind,
        }],
    };
    let content = json!({"field": value}).to_string();
    let decision = Decision::Submit(Json::new(&content));
    decide(AskShape::Other, Some(Kind::Elicitation(form)), decision)
}

fn text(format: TextFormat) -> FormFieldKind {
    FormFieldKind::Text(TextField {
        format: Some(format),
        ..TextField::default()
    })
}

#[test]
fn texts_keep_to_their_format() {
    let cases = [
        (TextFormat::Email, "a@b.example", true),
        (TextFormat::Email, "a b@c", false),
        (TextFormat::Email, "@c", false),
        (TextFormat::Email, "nobody", false),
        (TextFormat::Uri, "https://example.org/x", true),
        (TextFormat::Uri, "mailto:a@b", true),
        (TextFormat::Uri, "example.org", false),
        (TextFormat::Uri, "https://", false),
        (TextFormat::Date, "2028-02-29", true),
        (TextFormat::Date, "2027-02-29", false),
        (TextFormat::Date, "2026-13-01", false),
        (TextFormat::Date, "26-1-1", false),
        (TextFormat::DateTime, "2026-01-31T14:05:00Z", true),
        (TextFormat::DateTime, "2026-01-31T14:05:00.123+02:00", true),
        (TextFormat::DateTime, "2026-01-31T24:05:00Z", false),
        (TextFormat::DateTime, "2026-01-31T14:05:00", false),
        (TextFormat::DateTime, "2026-01-31", false),
    ];
    for (format, value, fits) in cases {
        let result = submit(text(format), &json!(value));
        assert_eq!(result.is_ok(), fits, "{format:?} {value}: {result:?}");
    }
    assert_eq!(
        submit(text(TextFormat::Date), &json!("tomorrow")).unwrap_err(),
        "The field \"field\" must be a date such as 2026-01-31."
    );
}

#[test]
fn numbers_lengths_and_lists_keep_to_their_limits() {
    let whole = |minimum: i32, maximum: i32| {
        FormFieldKind::Number(NumberField {
            whole: true,
            minimum: Some(minimum.into()),
            maximum: Some(maximum.into()),
        })
    };
    let limits = Limits {
        least: Some(2),
        most: Some(3),
    };
    let length = FormFieldKind::Text(TextField {
        format: None,
        length: limits,
    });
    let some = FormFieldKind::SomeOf {
        options: ["a", "b", "c"].map(str::to_owned).to_vec(),
        limits,
    };
    let cases = [
        (whole(1, 9), json!(5), None),
        (whole(1, 9), json!(5.0), None),
        (whole(1, 9), json!(5.5), Some("a whole number")),
        (whole(1, 9), json!("5"), Some("a whole number")),
        (whole(1, 9), json!(0), Some("at least 1")),
        (whole(1, 9), json!(10), Some("at most 9")),
        (length.clone(), json!("äö"), None),
        (
            length.clone(),
            json!("ä"),
            Some("at least 2 characters long"),
        ),
        (length, json!("äöüß"), Some("at most 3 characters long")),
        (some.clone(), json!(["a", "c"]), None),
        (
            some.clone(),
            json!(["a"]),
            Some("at least 2 of the choices"),
        ),
        (
            some.clone(),
            json!(["a", "a"]),
            Some("a list of a, b, c, each once"),
        ),
        (
            some.clone(),
            json!(["a", "x"]),
            Some("a list of a, b, c, each once"),
        ),
        (some, json!("a"), Some("a list of a, b, c, each once")),
        (FormFieldKind::Boolean, json!(true), None),
        (FormFieldKind::Boolean, json!("yes"), Some("true or false")),
        (
            FormFieldKind::OneOf(vec!["a".to_owned()]),
            json!("b"),
            Some("one of a"),
        ),
    ];
    for (kind, value, misfit) in cases {
        let expected = misfit.map(|words| format!("The field \"field\" must be {words}."));
        assert_eq!(submit(kind, &value).err(), expected, "{value}");
    }
}
