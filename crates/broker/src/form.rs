//! Does what a human filled in fit the form? The agent does not check it.

use serde_json::{Number, Value};

use crate::answer::invalid;
use crate::{
    Form, FormField, FormFieldKind, Json, Limits, NumberField, Refusal, TextField, TextFormat,
};

pub(crate) fn check(form: &Form, content: &Json) -> Result<(), Refusal> {
    let Ok(Value::Object(content)) = serde_json::from_str::<Value>(content.as_str()) else {
        return invalid("`content` must be a JSON object.");
    };
    if let Some(unknown) = content
        .keys()
        .find(|key| !form.fields.iter().any(|field| field.name == **key))
    {
        return invalid(format!("The form has no field \"{unknown}\"."));
    }
    for field in &form.fields {
        match content.get(&field.name) {
            None | Some(Value::Null) if field.required => {
                return invalid(format!("The field \"{}\" is required.", field.name));
            }
            None | Some(Value::Null) => {}
            Some(value) => check_field(field, value)?,
        }
    }
    Ok(())
}

fn check_field(field: &FormField, value: &Value) -> Result<(), Refusal> {
    let misfit = match &field.kind {
        FormFieldKind::Text(wanted) => text_misfit(wanted, value),
        FormFieldKind::Number(wanted) => number_misfit(wanted, value),
        FormFieldKind::Boolean if value.is_boolean() => None,
        FormFieldKind::Boolean => Some("true or false".to_owned()),
        FormFieldKind::OneOf(options) if is_among(options, value) => None,
        FormFieldKind::OneOf(options) => Some(format!("one of {}", options.join(", "))),
        FormFieldKind::SomeOf { options, limits } => some_misfit(options, *limits, value),
        FormFieldKind::Any => None,
    };
    match misfit {
        None => Ok(()),
        Some(wanted) => invalid(format!("The field \"{}\" must be {wanted}.", field.name)),
    }
}

/// What the value should have been; `None` when it fits.
fn text_misfit(wanted: &TextField, value: &Value) -> Option<String> {
    let Value::String(text) = value else {
        return Some("text".to_owned());
    };
    let length = text.chars().count() as u64;
    if let Some(limit) = wanted.length.misfit(length) {
        return Some(format!("{limit} characters long"));
    }
    let format = wanted.format?;
    (!format.fits(text)).then(|| format.words().to_owned())
}

fn number_misfit(wanted: &NumberField, value: &Value) -> Option<String> {
    let Value::Number(number) = value else {
        return Some(wanted.words().to_owned());
    };
    // A whole number may be written as 3.0.
    let is_whole = number.is_i64() || number.is_u64() || number.as_f64()?.fract() == 0.0;
    if wanted.whole && !is_whole {
        return Some(wanted.words().to_owned());
    }
    let below = |limit: &&Number| number.as_f64() < limit.as_f64();
    let above = |limit: &&Number| number.as_f64() > limit.as_f64();
    if let Some(limit) = wanted.minimum.as_ref().filter(below) {
        return Some(format!("at least {limit}"));
    }
    let limit = wanted.maximum.as_ref().filter(above)?;
    Some(format!("at most {limit}"))
}

fn some_misfit(options: &[String], limits: Limits, value: &Value) -> Option<String> {
    let wanted = || Some(format!("a list of {}, each once", options.join(", ")));
    let Value::Array(chosen) = value else {
        return wanted();
    };
    let repeats = |index: usize| chosen.iter().take(index).any(|one| *one == chosen[index]);
    if !chosen.iter().all(|one| is_among(options, one)) || (0..chosen.len()).any(repeats) {
        return wanted();
    }
    let limit = limits.misfit(chosen.len() as u64)?;
    Some(format!("{limit} of the choices"))
}

fn is_among(options: &[String], value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| options.iter().any(|option| option == text))
}

impl NumberField {
    fn words(&self) -> &'static str {
        if self.whole {
            "a whole number"
        } else {
            "a number"
        }
    }
}

impl Limits {
    fn misfit(self, count: u64) -> Option<String> {
        match self {
            Self {
                least: Some(least), ..
            } if count < least => Some(format!("at least {least}")),
            Self {
                most: Some(most), ..
            } if count > most => Some(format!("at most {most}")),
            Self { .. } => None,
        }
    }
}

impl TextFormat {
    fn words(self) -> &'static str {
        match self {
            Self::Email => "an email address",
            Self::Uri => "an address such as https://example.org",
            Self::Date => "a date such as 2026-01-31",
            Self::DateTime => "a date and time such as 2026-01-31T14:05:00Z",
        }
    }

    fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
        }
    }
}

/// Who can be reached there only the post can tell; this finds slips of the finger.
fn is_email(text: &str) -> bool {
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    match text.rsplit_once('@') {
        Some((who, host)) => plain && !who.is_empty() && !host.is_empty() && !host.contains('@'),
        None => false,
    }
}

fn is_uri(text: &str) -> bool {
    let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    plain && is_scheme && !rest.trim_start_matches('/').is_empty()
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    };
    (1..=12).contains(&month) && (1..=last).contains(&day)
}

fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return false;
    };
    let Some((clock, offset)) = split_offset(time) else {
        return false;
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    is_date(date)
        && is_clock(clock)
        && !fraction.is_empty()
        && fraction.bytes().all(|b| b.is_ascii_digit())
        && (offset.is_empty() || is_clock(&format!("{offset}:00")))
}

/// The time, and the offset without its sign; empty for `Z`.
fn split_offset(time: &str) -> Option<(&str, &str)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, ""));
    }
    let (clock, offset) = time.split_once(['+', '-'])?;
    (!offset.is_empty()).then_some((clock, offset))
}

fn is_clock(text: &str) -> bool {
    let parts: Vec<Option<u32>> = text.split(':').map(|part| digits(part, 2)).collect();
    match parts.as_slice() {
        // A leap second is written as 60.
        [Some(hour), Some(minute), Some(second)] => *hour < 24 && *minute < 60 && *second <= 60,
        _ => false,
    }
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let fits = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| fits)
}
