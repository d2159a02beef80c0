//! `sayso policy check`: rules tried on calls, line by line, for people's own tests.

use std::io::{self, BufRead, Write};
use std::path::Path;

use sayso_policy::{Decision, Entry, Link, Rule, RuleId, Rules, Source, evaluate, risk};
use sayso_protocol::{Risk, RuleEffect};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Call, links, risks, shown_effect};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    #[serde(default)]
    allow: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
    #[serde(default)]
    deny: Vec<String>,
    tool_name: String,
    tool_input: Value,
    cwd: String,
    home: Option<String>,
    project_root: Option<String>,
    links: Option<Vec<NamedLink>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedLink {
    path: String,
    target: String,
}

#[derive(Debug, Serialize)]
struct Answer {
    decision: RuleEffect,
    /// The texts of the rules that led to it.
    matched: Vec<String>,
    explanation: String,
    risk: Vec<Risk>,
}

/// A line that cannot be read gets an answer that says so, and never one that allows. Gives how many did.
pub fn check_lines(input: impl BufRead, mut output: impl Write) -> io::Result<usize> {
    let mut unreadable = 0;
    for line in input.lines() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = serde_json::from_str::<Question>(&line)
            .map_err(|error| error.to_string())
            .and_then(answer);
        let answer = answer.unwrap_or_else(|problem| {
            unreadable += 1;
            Answer {
                decision: RuleEffect::Ask,
                matched: Vec::new(),
                explanation: format!("This line cannot be read: {problem}."),
                risk: Vec::new(),
            }
        });
        serde_json::to_writer(&mut output, &answer)?;
        writeln!(output)?;
    }
    Ok(unreadable)
}

fn answer(question: Question) -> Result<Answer, String> {
    let mut texts = Vec::new();
    let mut entries = Vec::new();
    for (effect, rules) in [
        (Decision::Allow, &question.allow),
        (Decision::Ask, &question.ask),
        (Decision::Deny, &question.deny),
    ] {
        for text in rules {
            let rule = Rule::parse(text).map_err(|error| format!("the rule {text:?}: {error}"))?;
            entries.push(Entry {
                id: RuleId::new(&texts.len().to_string()),
                effect,
                rule,
                source: Source::Project,
            });
            texts.push(text.clone());
        }
    }
    let mut call = Call::new(
        &question.tool_name,
        question.tool_input,
        Path::new(&question.cwd),
    );
    if let Some(home) = question.home {
        call.home = home;
    }
    let root = question.project_root.unwrap_or_else(|| call.cwd.clone());
    let named = question.links.map(|links| {
        let links = links.into_iter();
        links
            .map(|NamedLink { path, target }| Link { path, target })
            .collect()
    });
    call.links = match named {
        Some(links) => links,
        None => links(&facts(&call, &root)),
    };
    let facts = facts(&call, &root);
    let evaluation = evaluate(&Rules::new(entries), &facts);
    let text = |id: &RuleId| texts.get(id.0.parse::<usize>().ok()?).cloned();
    Ok(Answer {
        decision: shown_effect(evaluation.decision),
        matched: evaluation.matched.iter().filter_map(text).collect(),
        explanation: evaluation.explanation,
        risk: risks(risk::read(&facts)),
    })
}

fn facts<'a>(call: &'a Call, project_root: &'a str) -> sayso_policy::ToolCall<'a> {
    sayso_policy::ToolCall {
        project_root,
        ..call.facts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_gets_one_answer_and_a_bad_one_never_allows() {
        let lines = [
            r#"{"allow":["Bash(ls:*)"],"tool_name":"Bash","tool_input":{"command":"ls -l"},"cwd":"/srv"}"#,
            "",
            r#"{"allow":["Bash(ls:*)"],"tool_name":"Bash","tool_input":{"command":"ls && rm -rf x"},"cwd":"/srv"}"#,
            r#"{"allow":["Bash(ls:*)"],"deny":["Bash(rm:*)"],"tool_name":"Bash","tool_input":{"command":"ls && rm -rf x"},"cwd":"/srv"}"#,
            r#"{"allow":["Bash("],"tool_name":"Bash","tool_input":{},"cwd":"/srv"}"#,
            r#"{"allowed":["Bash"],"tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/srv"}"#,
            "what",
        ];
        let mut output = Vec::new();
        let unreadable = check_lines(lines.join("\n").as_bytes(), &mut output).unwrap();
        assert_eq!(unreadable, 3);
        let answers: Vec<Value> = String::from_utf8(output)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let decisions: Vec<&str> = answers
            .iter()
            .map(|answer| answer["decision"].as_str().unwrap())
            .collect();
        assert_eq!(decisions, ["allow", "ask", "deny", "ask", "ask", "ask"]);
        assert_eq!(answers[0]["matched"][0], "Bash(ls:*)");
        assert!(
            answers[1]["explanation"]
                .as_str()
                .unwrap()
                .contains("rm -rf x")
        );
        assert_eq!(answers[2]["risk"][0]["kind"], "deletes");
    }
}
