//! A request's detail as it is stored: most of it is null, false or empty for most requests, and what is left out
//! reads as just that.

use serde::Serialize;

use crate::{RawJson, RequestDetail, Risk};

impl RequestDetail {
    /// Without what is null, false or empty. It is read again as a [`RequestDetail`].
    pub fn sparse(&self) -> impl Serialize + '_ {
        // Every field by name, so that a new one is not forgotten.
        let Self {
            agent_id,
            agent_label,
            title,
            description,
            decision_reason,
            decision_reason_type,
            decision_reason_source,
            matched_rule,
            rule_explanation,
            blocked_path,
            suggestions,
            default_to_no,
            suppress_always_allow,
            requires_user_interaction,
            mcp_server,
            input_faithful,
            free_text,
            risks,
            destructive,
            command_breaks,
        } = self;
        Sparse {
            agent_id: agent_id.as_deref(),
            agent_label: agent_label.as_deref(),
            title: title.as_deref(),
            description: description.as_deref(),
            decision_reason: decision_reason.as_deref(),
            decision_reason_type: decision_reason_type.as_deref(),
            decision_reason_source: decision_reason_source.as_deref(),
            matched_rule: matched_rule.as_deref(),
            rule_explanation: rule_explanation.as_deref(),
            blocked_path: blocked_path.as_deref(),
            suggestions,
            default_to_no: *default_to_no,
            suppress_always_allow: *suppress_always_allow,
            requires_user_interaction: *requires_user_interaction,
            mcp_server: mcp_server.as_deref(),
            input_faithful: *input_faithful,
            free_text: *free_text,
            risks,
            destructive: *destructive,
            command_breaks,
        }
    }
}

#[derive(Serialize)]
struct Sparse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_reason_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision_reason_source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched_rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_explanation: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_path: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    suggestions: &'a [RawJson],
    #[serde(skip_serializing_if = "is_false")]
    default_to_no: bool,
    #[serde(skip_serializing_if = "is_false")]
    suppress_always_allow: bool,
    #[serde(skip_serializing_if = "is_false")]
    requires_user_interaction: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_server: Option<&'a str>,
    #[serde(skip_serializing_if = "is_false")]
    input_faithful: bool,
    #[serde(skip_serializing_if = "is_false")]
    free_text: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    risks: &'a [Risk],
    #[serde(skip_serializing_if = "is_false")]
    destructive: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    command_breaks: &'a [u32],
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RiskKind;

    fn stored(detail: &RequestDetail) -> String {
        serde_json::to_string(&detail.sparse()).unwrap()
    }

    #[test]
    fn nothing_is_stored_of_a_detail_that_says_nothing() {
        assert_eq!(stored(&RequestDetail::default()), "{}");
    }

    #[test]
    fn what_is_stored_reads_as_what_it_was() {
        let offer = serde_json::from_str(r#"{"type":"addRules","n":1.5}"#).unwrap();
        let full = RequestDetail {
            title: Some(String::new()),
            matched_rule: Some("Bash(rm:*)".to_owned()),
            suggestions: vec![offer],
            input_faithful: true,
            risks: vec![Risk {
                kind: RiskKind::Deletes,
                words: "rm -r".to_owned(),
            }],
            destructive: true,
            command_breaks: vec![7],
            ..RequestDetail::default()
        };
        for detail in [full, RequestDetail::default()] {
            let whole = serde_json::to_value(&detail).unwrap();
            // As it is stored, and as an earlier version stored it.
            for text in [stored(&detail), whole.to_string()] {
                let read: RequestDetail = serde_json::from_str(&text).unwrap();
                assert_eq!(serde_json::to_value(&read).unwrap(), whole);
            }
        }
    }
}
