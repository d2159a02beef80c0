//! Streamed text that comes faster than it is passed on becomes one piece.

use crate::agents::AgentOutput;

/// How long a piece may become.
const LONGEST: usize = 16 * 1024;

/// Adds an output. Text that goes on from the line before is added to what came then.
pub(super) fn push(outputs: &mut Vec<AgentOutput>, output: AgentOutput) {
    let AgentOutput::Delta(delta) = output else {
        return outputs.push(output);
    };
    if let [
        ..,
        earlier_line,
        AgentOutput::Delta(earlier),
        AgentOutput::Line(line),
    ] = outputs.as_mut_slice()
        && let AgentOutput::Line(earlier_line) = earlier_line
        && earlier.message_id == delta.message_id
        && earlier.index == delta.index
        && earlier.kind == delta.kind
        && !delta.restart
        && earlier.text.len() + delta.text.len() <= LONGEST
    {
        earlier.text.push_str(&delta.text);
        *earlier_line = *line;
        outputs.pop();
        return;
    }
    outputs.push(AgentOutput::Delta(delta));
}

#[cfg(test)]
mod tests {
    use sayso_protocol::{Delta, DeltaKind};

    use super::*;

    fn stream(texts: &[(u64, &str, &str)]) -> Vec<String> {
        let mut outputs = Vec::new();
        for (line, message, text) in texts {
            outputs.push(AgentOutput::Line(*line));
            let delta = Delta {
                message_id: (*message).to_owned(),
                index: 0,
                kind: DeltaKind::Text,
                text: (*text).to_owned(),
                restart: false,
            };
            push(&mut outputs, AgentOutput::Delta(delta));
        }
        let told = outputs.iter().map(|output| match output {
            AgentOutput::Line(line) => line.to_string(),
            AgentOutput::Delta(delta) => format!("{}:{}", delta.message_id, delta.text),
            other => panic!("{other:?}"),
        });
        told.collect()
    }

    #[test]
    fn text_that_goes_on_is_one_piece_of_the_last_line() {
        let texts = [
            (1, "a", "so "),
            (2, "a", "it "),
            (3, "a", "goes"),
            (4, "b", "on"),
        ];
        assert_eq!(stream(&texts), ["3", "a:so it goes", "4", "b:on"]);
    }

    #[test]
    fn no_piece_becomes_too_long() {
        let long = "x".repeat(LONGEST);
        let texts = [(1, "a", long.as_str()), (2, "a", "y"), (3, "a", "z")];
        assert_eq!(stream(&texts)[2..], ["3", "a:yz"]);
    }
}
