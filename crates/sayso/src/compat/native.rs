//! Sayso's own frames, as far as dialects care.

use jiff::Timestamp;
use sayso_protocol::{
    AnswerValue, ContentBlock, Delta, ErrorCode, Outcome, RawJson, RequestType, Risk, Session,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

/// Something that an agent waits for.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Pending {
    pub(crate) request_id: Uuid,
    pub(crate) session_id: Uuid,
    pub(crate) request_type: RequestType,
    pub(crate) tool_name: String,
    pub(crate) tool_input: RawJson,
    pub(crate) input_digest: String,
    pub(crate) created_at: Timestamp,
    pub(crate) deadline: Option<Timestamp>,
    pub(crate) tool_use_id: Option<String>,
    pub(crate) decision_reason: Option<String>,
    pub(crate) blocked_path: Option<String>,
    #[serde(default)]
    pub(crate) risks: Vec<Risk>,
}

#[derive(Debug, Deserialize)]
struct Asked {
    questions: Vec<Question>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    question: String,
    #[serde(default)]
    options: Vec<Choice>,
    #[serde(default)]
    multi_select: bool,
}

#[derive(Debug, Deserialize)]
struct Choice {
    label: String,
}

impl Pending {
    pub(crate) fn is_question(&self) -> bool {
        self.request_type == RequestType::AskUserQuestion
    }

    /// The two kinds that the documents know.
    pub(crate) fn kind(&self) -> &'static str {
        if self.is_question() {
            "ask_user_question"
        } else {
            "tool_approval"
        }
    }

    /// The list of questions as the agent wrote it.
    pub(crate) fn questions(&self) -> RawJson {
        #[derive(Deserialize)]
        struct Raw {
            questions: RawJson,
        }
        let read = serde_json::from_str::<Raw>(self.tool_input.get());
        read.map_or_else(
            |_| RawJson::from(RawValue::NULL.to_owned()),
            |raw| raw.questions,
        )
    }

    /// An answer to a question that takes several labels comes as one text,
    /// joined with `, `; where all of it are labels it is taken apart again.
    pub(crate) fn answer(&self, question: &str, text: String) -> AnswerValue {
        let asked = serde_json::from_str::<Asked>(self.tool_input.get());
        let questions = asked.map(|asked| asked.questions).unwrap_or_default();
        let found = questions
            .into_iter()
            .find(|asked| asked.question == question);
        let Some(several) = found.filter(|asked| asked.multi_select) else {
            return AnswerValue::Text(text);
        };
        let labels = || several.options.iter().map(|option| option.label.as_str());
        take_apart(&text, labels).map_or(AnswerValue::Text(text), AnswerValue::Labels)
    }

    /// Seconds from asking to the limit; `None` without one.
    pub(crate) fn limit_seconds(&self) -> Option<i64> {
        let deadline = self.deadline?;
        Some(deadline.as_second() - self.created_at.as_second())
    }

    /// The same JSON as what was asked, whatever its spelling.
    pub(crate) fn is_same_input(&self, input: &RawValue) -> bool {
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
        read(input.get()) == read(self.tool_input.get())
    }
}

/// Labels may hold commas of their own, so the longest that fits goes first.
fn take_apart<'a, I>(text: &str, labels: impl Fn() -> I) -> Option<Vec<String>>
where
    I: Iterator<Item = &'a str>,
{
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let fits = labels().filter(|label| {
            let after = rest.strip_prefix(label);
            after.is_some_and(|after| after.is_empty() || after.starts_with(", "))
        });
        let label = fits.max_by_key(|label| label.len())?;
        found.push(label.to_owned());
        rest = &rest[label.len()..];
        match rest.strip_prefix(", ") {
            Some(more) => rest = more,
            None => return Some(found),
        }
    }
}

/// One numbered line of a conversation.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    UserMessage(UserMessage),
    Text(Text),
    ToolUse(ToolUse),
    ToolResult(ToolResult),
    TurnEnded(TurnEnded),
    /// Of no interest to any dialect.
    Other,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct UserMessage {
    pub(crate) content: Vec<ContentBlock>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Text {
    pub(crate) message_id: String,
    pub(crate) index: u32,
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) parent_tool_use_id: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ToolUse {
    pub(crate) tool_use_id: String,
    pub(crate) tool_name: String,
    pub(crate) tool_input: RawJson,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ToolResult {
    pub(crate) tool_use_id: String,
    pub(crate) is_error: bool,
    pub(crate) content: Vec<ContentBlock>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TurnEnded {
    pub(crate) is_error: bool,
    pub(crate) reason: Option<String>,
    pub(crate) text: Option<String>,
}

/// The texts among the blocks, one below the other.
pub(crate) fn plain(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        ContentBlock::Image { .. } | ContentBlock::Document { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// A frame of Sayso's.
#[derive(Debug)]
pub(crate) enum Native {
    Welcome(Welcome),
    Session(Session),
    SessionRemoved(Uuid),
    Opened(Pending),
    Updated(Pending),
    Closed(Closed),
    Transcript(Transcript),
    Delta(Uuid, Delta),
    Ack(Ack),
    Error(Refused),
    Other,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Welcome {
    pub(crate) sessions: Vec<Session>,
    pub(crate) pending_requests: Vec<Pending>,
    pub(crate) defaults: Defaults,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Defaults {
    pub(crate) cwd: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Closed {
    pub(crate) request_id: Uuid,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Transcript {
    pub(crate) session_id: Uuid,
    pub(crate) entries: Vec<RawJson>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Ack {
    pub(crate) id: Option<String>,
    pub(crate) session_id: Option<Uuid>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Refused {
    pub(crate) id: Option<String>,
    pub(crate) code: ErrorCode,
    pub(crate) message: String,
}

impl Native {
    /// A frame that cannot be read is of no interest: it is newer than this file.
    pub(crate) fn read(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Tag<'a> {
            r#type: &'a str,
        }
        #[derive(Deserialize)]
        struct WithSession {
            session: Session,
        }
        #[derive(Deserialize)]
        struct OfSession {
            session_id: Uuid,
        }
        #[derive(Deserialize)]
        struct WithRequest {
            pending_request: Pending,
        }
        let Tag { r#type } = read(text)?;
        Some(match r#type {
            "welcome" => Self::Welcome(read(text)?),
            "session_state" => Self::Session(read::<WithSession>(text)?.session),
            "session_removed" => Self::SessionRemoved(read::<OfSession>(text)?.session_id),
            "request_opened" => Self::Opened(read::<WithRequest>(text)?.pending_request),
            "request_updated" => Self::Updated(read::<WithRequest>(text)?.pending_request),
            "request_closed" => Self::Closed(read(text)?),
            "transcript" => Self::Transcript(read(text)?),
            "delta" => Self::Delta(read::<OfSession>(text)?.session_id, read(text)?),
            "ack" => Self::Ack(read(text)?),
            "error" => Self::Error(read(text)?),
            _ => Self::Other,
        })
    }
}

/// The number of a line and what it says.
pub(crate) fn line(entry: &RawValue) -> Option<(u64, Line)> {
    #[derive(Deserialize)]
    struct Tag<'a> {
        seq: u64,
        kind: &'a str,
    }
    let text = entry.get();
    let Tag { seq, kind } = read(text)?;
    let line = match kind {
        "user_message" => Line::UserMessage(read(text)?),
        "assistant_text" => Line::Text(read(text)?),
        "tool_use" => Line::ToolUse(read(text)?),
        "tool_result" => Line::ToolResult(read(text)?),
        "turn_ended" => Line::TurnEnded(read(text)?),
        _ => Line::Other,
    };
    Some((seq, line))
}

fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Option<T> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_labels_are_taken_apart_and_other_text_is_left_alone() {
        let labels = || ["A", "A, or B", "C"].into_iter();
        let apart = |text| take_apart(text, labels);
        assert_eq!(apart("A, C"), Some(vec!["A".to_owned(), "C".to_owned()]));
        assert_eq!(
            apart("A, or B, C"),
            Some(vec!["A, or B".to_owned(), "C".to_owned()])
        );
        assert_eq!(apart("A, D"), None);
        assert_eq!(apart("A,C"), None);
        assert_eq!(apart(""), None);
    }
}
