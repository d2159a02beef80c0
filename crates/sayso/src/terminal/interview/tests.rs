use pretty_assertions::assert_eq;
use serde_json::json;

use super::super::form::Field;
use super::*;

fn options(labels: &[&str]) -> Vec<Choice> {
    labels
        .iter()
        .map(|label| Choice {
            value: json!(label),
            label: (*label).to_owned(),
            description: String::new(),
            preview: String::new(),
        })
        .collect()
}

fn questions() -> Form {
    let question = |text: &str, header: &str, several, labels: &[&str]| Question {
        text: text.to_owned(),
        header: header.to_owned(),
        several,
        options: options(labels),
    };
    Form::Questions(vec![
        question("Is a=b?", "Sum", false, &["Yes", "No"]),
        question("Which?", "Pick", true, &["Red", "Green", "Blue"]),
    ])
}

fn form() -> Form {
    let field = |name: &str, kind, required| Field {
        name: name.to_owned(),
        label: name.to_owned(),
        description: String::new(),
        kind,
        required,
    };
    Form::Fields(vec![
        field("name", FieldKind::Text, true),
        field("count", FieldKind::Number, false),
        field("sure", FieldKind::Boolean, false),
        field("size", FieldKind::Choice(options(&["S", "L"])), false),
        field("extras", FieldKind::Choices(options(&["a", "b"])), false),
    ])
}

fn decision(interview: Interview) -> Value {
    serde_json::to_value(interview.decision().unwrap()).unwrap()
}

#[test]
fn typed_numbers_and_words_become_answers() {
    let mut interview = Interview::new(questions(), true);
    assert_eq!(
        interview.prompt().unwrap(),
        "1 of 2: Is a=b? (a number, or your own words)"
    );
    assert!(interview.take("").unwrap_err().starts_with("An answer"));
    assert!(interview.take("3").unwrap_err().contains("1 to 2"));
    assert!(interview.take("1,2").unwrap_err().starts_with("One number"));
    interview.take(" 2 ").unwrap();
    interview.take("1, 3").unwrap();
    assert_eq!(interview.prompt(), None);
    assert_eq!(
        decision(interview),
        json!({"behavior": "answer", "answers": {"Is a=b?": "No", "Which?": ["Red", "Blue"]}})
    );
    let mut interview = Interview::new(questions(), true);
    interview.take("=2").unwrap();
    interview.take("Green").unwrap();
    assert_eq!(
        decision(interview),
        json!({"behavior": "answer", "answers": {"Is a=b?": "2", "Which?": ["Green"]}})
    );
    let mut strict = Interview::new(questions(), false);
    assert!(strict.take("maybe").is_err());
}

#[test]
fn scripts_name_questions_by_text_header_or_number() {
    let mut interview = Interview::new(questions(), true);
    interview.choose("Is a=b?=Yes").unwrap();
    interview.choose("Pick=Red").unwrap();
    interview.choose("2=Blue").unwrap();
    interview.say("Which?=grey = fine").unwrap();
    interview.note("1=a note").unwrap();
    assert_eq!(
        decision(interview),
        json!({"behavior": "answer",
            "answers": {"Is a=b?": "Yes", "Which?": ["Red", "Blue", "grey = fine"]},
            "notes": {"Is a=b?": "a note"}})
    );
}

#[test]
fn slips_are_named() {
    let mut interview = Interview::new(questions(), false);
    for (said, part) in [
        ("1=Yess", "is no option"),
        ("Who?=Yes", "names no question"),
        ("Yes", "names no question"),
    ] {
        let told = interview.choose(said).unwrap_err();
        assert!(told.contains(part), "{said}: {told}");
    }
    interview.choose("1=Yes").unwrap();
    assert!(interview.choose("1=No").unwrap_err().contains("one answer"));
    assert!(interview.say("2=grey").is_err());
    assert!(interview.take_all("[]").is_err());
}

#[test]
fn forms_are_filled_in_by_their_types() {
    let mut interview = Interview::new(form(), false);
    assert_eq!(interview.take("").unwrap_err(), "This is needed.");
    for typed in ["Ada", "3", "yes", "2", "1 2"] {
        interview.take(typed).unwrap();
    }
    let content =
        json!({"name": "Ada", "count": 3, "sure": true, "size": "L", "extras": ["a", "b"]});
    assert_eq!(
        decision(interview),
        json!({"behavior": "submit", "content": content})
    );
    let mut interview = Interview::new(form(), false);
    for said in [
        "name=Ada",
        "count=3",
        "sure=true",
        "size=L",
        "extras=a",
        "extras=b",
    ] {
        interview.choose(said).unwrap();
    }
    assert_eq!(
        decision(interview),
        json!({"behavior": "submit", "content": content})
    );
    let mut interview = Interview::new(form(), false);
    for said in ["count=x", "sure=perhaps", "size=XL", "nothing=1"] {
        interview.choose(said).unwrap_err();
    }
    let mut visit = Interview::new(Form::Visit("https://example.org".to_owned()), false);
    visit.take("").unwrap();
    assert_eq!(
        decision(visit),
        json!({"behavior": "submit", "content": {}})
    );
}
