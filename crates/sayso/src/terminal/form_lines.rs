//! Questions and forms, with numbers to choose by.

use super::form::{Choice, FieldKind, Form};
use super::line::{Line, Style};
use super::request::Request;
use super::subject::{GOES_ON, block};
use super::visible::{self, Strictness};

pub(super) fn lines(request: &Request, form: &Form) -> Vec<Line> {
    let mut shown = Vec::new();
    match form {
        Form::Questions(questions) => {
            for (index, question) in questions.iter().enumerate() {
                if index > 0 {
                    shown.push(Line::default());
                }
                let several = if question.several { " (several)" } else { "" };
                shown.push(
                    Line::own(Style::Faint, format!("{}. ", index + 1))
                        .words(Style::Strong, &question.text)
                        .and(Style::Faint, several)
                        .continued_by("   "),
                );
                shown.extend(choice_lines(&question.options));
            }
        }
        Form::Fields(fields) => {
            shown.extend(message(request));
            for field in fields {
                let needed = if field.required { " (needed)" } else { "" };
                shown.push(
                    Line::own(Style::Faint, "• ")
                        .words(Style::Strong, &field.label)
                        .and(Style::Faint, needed)
                        .and(
                            Style::Faint,
                            if field.description.is_empty() {
                                ""
                            } else {
                                ": "
                            },
                        )
                        .words(Style::Plain, &field.description)
                        .continued_by("  "),
                );
                match &field.kind {
                    FieldKind::Choice(choices) | FieldKind::Choices(choices) => {
                        shown.extend(choice_lines(choices));
                    }
                    FieldKind::Text | FieldKind::Number | FieldKind::Boolean => {}
                }
            }
        }
        Form::Visit(url) => {
            shown.extend(message(request));
            shown.push(
                Line::own(Style::Plain, "It asks you to open ")
                    .words(Style::Strong, url)
                    .continued_by(GOES_ON),
            );
        }
    }
    shown
}

fn message(request: &Request) -> Vec<Line> {
    let said = request.text_field("message").unwrap_or_default();
    block(&said, Style::Plain, Strictness::Prose)
}

fn choice_lines(choices: &[Choice]) -> Vec<Line> {
    let mut shown = Vec::new();
    for (index, choice) in choices.iter().enumerate() {
        let number = format!("   {}  ", index + 1);
        let said = if choice.description.is_empty() {
            ""
        } else {
            ": "
        };
        shown.push(
            Line::own(Style::Careful, number)
                .words(Style::Plain, &choice.label)
                .and(Style::Faint, said)
                .words(Style::Faint, &choice.description)
                .continued_by("      "),
        );
        if !choice.preview.is_empty() {
            let lines = visible::lines(&choice.preview, Strictness::Prose).into_iter();
            shown.extend(lines.map(|pieces| {
                Line::own(Style::Faint, "      │ ")
                    .pieces(Style::Faint, pieces)
                    .continued_by("      ┆ ")
            }));
        }
    }
    shown
}
