//! Decisions as the history stores them: without what is null or empty. Whoever reads them is told every field.

use std::borrow::Cow;

use sayso_protocol::RequestDetail;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// By which a record is known whose empty fields were left out. It stands in front of all others.
#[derive(Clone, Copy, Debug)]
pub struct Sparse;

const FORM: u8 = 2;
const MARK: &str = r#"{"form":2,"#;

impl Serialize for Sparse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(FORM)
    }
}

/// The whole record of an entry. Those of earlier versions are whole as they are stored.
pub fn record(body: &str) -> Cow<'_, str> {
    if !body.starts_with(MARK) {
        return Cow::Borrowed(body);
    }
    match whole(body) {
        Ok(whole) => Cow::Owned(whole),
        // Not what this version writes, but shown all the same.
        Err(_) => Cow::Borrowed(body),
    }
}

fn whole(body: &str) -> serde_json::Result<String> {
    let mut decided: Decided<'_> = serde_json::from_str(body)?;
    let allowed;
    if let Some(decision) = decided.decision
        && decision.get().starts_with(ALLOWED)
    {
        let decision: Allowed<'_> = serde_json::from_str(decision.get())?;
        allowed = to_raw_value(&decision)?;
        decided.decision = Some(&allowed);
    }
    serde_json::to_string(&decided)
}

/// What is not read here is passed on byte for byte.
#[derive(Deserialize, Serialize)]
struct Decided<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    shown: Option<RequestDetail>,
    #[serde(borrow)]
    decision: Option<&'a RawValue>,
    #[serde(borrow)]
    outcome: &'a RawValue,
    #[serde(borrow)]
    by: &'a RawValue,
    #[serde(borrow)]
    by_name: Option<&'a RawValue>,
    #[serde(borrow)]
    client: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    latency_ms: u64,
}

const ALLOWED: &str = r#"{"behavior":"allow""#;

#[derive(Deserialize, Serialize)]
struct Allowed<'a> {
    behavior: &'a str,
    #[serde(borrow)]
    updated_input: Option<&'a RawValue>,
    #[serde(default)]
    remember: Vec<usize>,
    #[serde(borrow)]
    permission_mode: Option<&'a RawValue>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = r#""request":{"tool_input":{ "b":1.0,"a" : "😀" },"tool_use_id":null}"#;

    fn detail(fields: &str) -> String {
        let detail: RequestDetail = serde_json::from_str(fields).unwrap();
        serde_json::to_string(&detail).unwrap()
    }

    fn check(stored: &str, expected: &str) {
        let stored = format!(r#"{{"form":2,{REQUEST},{stored},"latency_ms":7}}"#);
        let expected = format!(r#"{{{REQUEST},{expected},"latency_ms":7}}"#);
        assert_eq!(record(&stored), expected);
    }

    #[test]
    fn what_was_left_out_is_filled_in() {
        let shown = r#"{"title":"A","input_faithful":true}"#;
        let whole = detail(shown);
        assert!(whole.contains(r#""suggestions":[]"#), "{whole}");
        check(
            &format!(
                r#""shown":{shown},"decision":{{"behavior":"allow"}},"outcome":"allowed","by":"timeout""#
            ),
            &format!(
                r#""shown":{whole},"decision":{{"behavior":"allow","updated_input":null,"remember":[],"permission_mode":null}},"outcome":"allowed","by":"timeout","by_name":null,"client":null,"message":null"#
            ),
        );
        check(
            r#""outcome":"orphaned","by":"agent""#,
            r#""shown":null,"decision":null,"outcome":"orphaned","by":"agent","by_name":null,"client":null,"message":null"#,
        );
    }

    #[test]
    fn what_is_there_stays_as_it_is() {
        for decision in [
            r#"{"behavior":"allow","updated_input":{ "x" : 1.0 },"remember":[1],"permission_mode":"plan"}"#,
            r#"{"behavior":"deny","message":null}"#,
        ] {
            let told = format!(
                r#""shown":{},"decision":{decision},"outcome":"denied","by":"human","by_name":"a","client":{{"label":"b"}},"message":"c""#,
                detail("{}")
            );
            check(&told, &told);
        }
        for other in [
            "{}",
            "no JSON",
            r#"{"form":2,"request":7}"#,
            r#"{"request":{}}"#,
        ] {
            assert_eq!(record(other), other);
        }
    }
}
