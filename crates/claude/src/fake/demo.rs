//! The scene for newcomers who have no key: a short talk that meets every kind of question an agent asks.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::player::{Player, Stop};
use super::script::{Step, SubagentStep, ToolStep};
use super::stage::plan_step;
use super::tool_call::Called;

const WORD_DELAY: Duration = Duration::from_millis(12);
const FILE: &str = "hello.txt";

/// What the words of a prompt ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Question,
    Subagents,
    Edit,
    Plan,
    Error,
    Long,
}

const PARTS: [(&str, Part); 6] = [
    ("question", Part::Question),
    ("subagents", Part::Subagents),
    ("edit", Part::Edit),
    ("plan", Part::Plan),
    ("error", Part::Error),
    ("long", Part::Long),
];

pub(super) async fn play(player: &Player, text: &str) -> Result<(), Stop> {
    let wanted = text.to_lowercase();
    let parts: Vec<Part> = PARTS
        .iter()
        .filter(|(word, _)| {
            wanted
                .split(|letter: char| !letter.is_alphabetic())
                .any(|w| w == *word)
        })
        .map(|(_, part)| *part)
        .collect();
    if parts.is_empty() {
        return whole_scene(player).await;
    }
    for part in parts {
        match part {
            Part::Question => question(player).await?,
            Part::Subagents => subagents(player).await?,
            Part::Edit => edit(player).await?,
            Part::Plan => plan(player).await?,
            Part::Error => return error(player).await,
            Part::Long => long(player).await?,
        }
    }
    tell(player, "That was it. Write anything for the whole tour.").await
}

async fn whole_scene(player: &Player) -> Result<(), Stop> {
    tell(
        player,
        "## Hello!\n\nI am Sayso's **built-in demo agent**. There is no model behind me: I play a fixed \
         scene, but what you allow me to do I *really* do, in this session's folder.\n\n\
         Words in your message pick a part: `question`, `subagents`, `edit`, `plan`, `error`, `long`.\n\n\
         First I would like to run a command. Allow it, deny it with a reason, or change it before you allow \
         it.",
    )
    .await?;
    let command = format!("echo \"Hello from Sayso\" > {FILE} && cat {FILE}");
    let asked = json!({"command": command, "description": "Write a greeting and show it"});
    let called = player.call_tool(&ToolStep::new("Bash", asked)).await?;
    player.close_message().await;
    tell(player, &about_command(&called, &command)).await?;
    question(player).await?;
    edit(player).await?;
    tell(
        player,
        "## That was the tour\n\n- a **command** that waited for your say-so\n- **questions** with one and \
         with several answers\n- an **edit** that you saw before it happened\n\nEvery decision is in the \
         history of this session.",
    )
    .await
}

fn about_command(called: &Called, asked: &str) -> String {
    match called {
        Called::Denied { message } => format!(
            "You did not let me run it, so nothing ran. What I was told: \n\n> {}",
            quoted(message)
        ),
        Called::Ran { report, input } => {
            let command = input
                .get("command")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let changed = if command == asked {
                "I ran it as I had asked."
            } else {
                "You changed the command, and I ran **your** version."
            };
            let outcome = if report.is_error {
                "It failed"
            } else {
                "It said"
            };
            format!("{changed} {outcome}:\n\n```\n{}\n```", report.text)
        }
    }
}

async fn question(player: &Player) -> Result<(), Stop> {
    let input = json!({"questions": [
        {
            "question": "How should I greet you from now on?", "header": "Greeting",
            "multiSelect": false,
            "options": [
                {"label": "Briefly", "description": "One word is enough"},
                {"label": "Warmly", "description": "A whole sentence"},
                {"label": "Not at all", "description": "Straight to work"},
            ],
        },
        {
            "question": "What do you want to see later?", "header": "Tour", "multiSelect": true,
            "options": [
                {"label": "Subagents", "description": "Several that ask at once"},
                {"label": "Plans", "description": "Approve a plan before any work"},
                {"label": "Errors", "description": "What a failed turn looks like"},
            ],
        },
    ]});
    let called = player
        .call_tool(&ToolStep::new("AskUserQuestion", input))
        .await?;
    player.close_message().await;
    let text = match called {
        Called::Denied { message } => {
            format!(
                "You skipped my questions. What I was told:\n\n> {}",
                quoted(&message)
            )
        }
        Called::Ran { input, .. } => format!("Thank you. You answered:\n\n{}", answer_list(&input)),
    };
    tell(player, &text).await
}

fn answer_list(input: &Map<String, Value>) -> String {
    if let Some(response) = input.get("response").and_then(Value::as_str) {
        return format!("> {}", quoted(response));
    }
    let answers = input.get("answers").and_then(Value::as_object);
    let lines: Vec<String> = answers
        .into_iter()
        .flatten()
        .map(|(question, answer)| {
            format!("- {question} **{}**", answer.as_str().unwrap_or_default())
        })
        .collect();
    lines.join("\n")
}

async fn edit(player: &Player) -> Result<(), Stop> {
    let path = player.world.options.cwd.join(FILE);
    let path_text = path.to_string_lossy().into_owned();
    let existing = tokio::fs::read_to_string(&path).await.unwrap_or_default();
    let first_line = existing.lines().next().unwrap_or_default().to_owned();
    let can_edit = !first_line.is_empty() && existing.matches(first_line.as_str()).count() == 1;
    let step = if can_edit {
        let added = format!("{first_line}\nEdited with your say-so");
        ToolStep::new(
            "Edit",
            json!({"file_path": path_text, "old_string": first_line, "new_string": added}),
        )
    } else {
        ToolStep::new(
            "Write",
            json!({"file_path": path_text, "content": "Hello from Sayso\nWritten with your say-so\n"}),
        )
    };
    tell(player, &format!("Now I would like to change `{FILE}`.")).await?;
    let called = player.call_tool(&step).await?;
    player.close_message().await;
    let text = match called {
        Called::Denied { message } => {
            format!(
                "The file stays as it is. What I was told:\n\n> {}",
                quoted(&message)
            )
        }
        Called::Ran { report, .. } if report.is_error => {
            format!("That did not work: {}", report.text)
        }
        Called::Ran { input, .. } if input != step.input => {
            "Done, with your changes to the edit.".to_owned()
        }
        Called::Ran { .. } => "Done.".to_owned(),
    };
    tell(player, &text).await
}

async fn subagents(player: &Player) -> Result<(), Stop> {
    tell(
        player,
        "Two subagents start now. Each asks on its own; answer them in any order.",
    )
    .await?;
    let scout = |name: &str, command: &str| {
        let input = json!({"command": command, "description": "Look around"});
        Step::Subagent(SubagentStep {
            name: name.to_owned(),
            steps: vec![
                Step::Tool(ToolStep::new("Bash", input)),
                Step::Say(format!("{name} is back.")),
            ],
        })
    };
    let both = vec![
        scout("The first scout", "ls -a"),
        scout("The second scout", "pwd"),
    ];
    player.play_steps(&[Step::Together(both)]).await?;
    tell(player, "Both subagents have reported.").await
}

async fn plan(player: &Player) -> Result<(), Stop> {
    let plan = format!("# Plan\n\n1. Write `{FILE}`\n2. Show it\n3. Stop");
    tell(
        player,
        "Here is what I would do. Approve it, change it, or send it back.",
    )
    .await?;
    let called = player.call_tool(&plan_step(&plan)).await?;
    player.close_message().await;
    let text = match called {
        Called::Denied { message } => {
            format!(
                "I will think again. What I was told:\n\n> {}",
                quoted(&message)
            )
        }
        Called::Ran { input, .. } => {
            let approved = input
                .get("plan")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let how = if approved == plan {
                "as it was"
            } else {
                "with your changes"
            };
            format!("The plan is approved, {how}.")
        }
    };
    tell(player, &text).await
}

async fn error(player: &Player) -> Result<(), Stop> {
    player.play_steps(&[Step::Retry(Map::new())]).await?;
    let text = "API Error: the demo agent was asked to fail, so it did.";
    tell(player, text).await?;
    let fields = json!({
        "is_error": true, "terminal_reason": "api_error", "api_error_status": 529,
        "result": text,
    });
    if let Value::Object(fields) = fields {
        player.override_result(fields);
    }
    Ok(())
}

async fn long(player: &Player) -> Result<(), Stop> {
    let paragraph =
        "This is a long answer, so that you can see text arrive, scroll, and stop me half-way. ";
    tell(player, &paragraph.repeat(60)).await
}

async fn tell(player: &Player, text: &str) -> Result<(), Stop> {
    let words: Vec<String> = text.split_inclusive(' ').map(str::to_owned).collect();
    player.stream(&words, WORD_DELAY).await
}

fn quoted(text: &str) -> String {
    text.replace('\n', "\n> ")
}
