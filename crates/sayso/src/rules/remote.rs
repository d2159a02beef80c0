//! `sayso rules`: the rules of the server that runs on this machine.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::cli::{AddArguments, RulesArguments, RulesCommand};
use crate::remote::RunningServer;

struct Server(RunningServer);

pub async fn run(arguments: &RulesArguments, mut output: impl Write) -> anyhow::Result<()> {
    let server = Server(RunningServer::that_lets_in(&arguments.server).await?);
    match &arguments.command {
        RulesCommand::List { json } => server.list(*json, &mut output).await,
        RulesCommand::Add(wanted) => server.add(wanted, &mut output).await,
        RulesCommand::Remove { rule } => server.remove(rule, &mut output).await,
        RulesCommand::Import {
            file,
            project,
            confirm_broad,
        } => {
            let text = std::fs::read_to_string(file)
                .with_context(|| format!("{} cannot be read", file.display()))?;
            let scope = scope(project.as_deref())?;
            server
                .import(&text, &scope, *confirm_broad, &mut output)
                .await
        }
        RulesCommand::Export { project } => server.export(project.as_deref(), &mut output).await,
        RulesCommand::Test { command, cwd, tool } => {
            let call = test_call(tool, command, cwd.clone())?;
            server.test(&call, &mut output).await
        }
    }
}

impl Server {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.0.request(method, path)
    }

    async fn answer(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        self.0.answer(request).await
    }

    async fn rules(&self) -> anyhow::Result<Vec<Value>> {
        let body = self.answer(self.request(Method::GET, "/rules")).await?;
        Ok(body["rules"].as_array().cloned().unwrap_or_default())
    }

    async fn list(&self, as_json: bool, output: &mut impl Write) -> anyhow::Result<()> {
        let rules = self.rules().await?;
        if as_json {
            for rule in rules {
                writeln!(output, "{rule}")?;
            }
            return Ok(());
        }
        if rules.is_empty() {
            writeln!(
                output,
                "No rule yet. Add one: sayso rules add allow 'Bash(npm test:*)'"
            )?;
        }
        for rule in rules {
            let text = |field: &str| rule[field].as_str().unwrap_or_default().to_owned();
            let off = if rule["enabled"] == true {
                ""
            } else {
                " (off)"
            };
            writeln!(
                output,
                "{:5} {}  {}{}{off}  {} hits  {}",
                text("effect"),
                text("rule"),
                scope_words(&rule["scope"]),
                lifetime_words(&rule),
                rule["hits"],
                text("rule_id"),
            )?;
        }
        Ok(())
    }

    async fn add(&self, wanted: &AddArguments, output: &mut impl Write) -> anyhow::Result<()> {
        let scope = scope(wanted.project.as_deref())?;
        let mut body = json!({
            "rule": wanted.rule, "effect": wanted.effect, "scope": scope,
            "matches": wanted.matches, "matches_not": wanted.matches_not,
            "confirm_broad": wanted.confirm_broad,
        });
        for (name, value) in [
            ("uses", wanted.uses.map(Value::from)),
            ("minutes", wanted.minutes.map(Value::from)),
            ("reason", wanted.reason.clone().map(Value::from)),
        ] {
            if let Some(value) = value {
                body[name] = value;
            }
        }
        let request = self.request(Method::POST, "/rules").json(&body);
        let added = self.answer(request).await?;
        writeln!(output, "{}", added["rule_id"].as_str().unwrap_or_default())?;
        Ok(())
    }

    /// Adds what is not there yet, and says of the rest why not.
    async fn import(
        &self,
        text: &str,
        scope: &Value,
        confirm_broad: bool,
        output: &mut impl Write,
    ) -> anyhow::Result<()> {
        let request = self.request(Method::POST, "/rules/settings");
        let found = self.answer(request.json(&json!({"text": text}))).await?;
        let known = self.rules().await?;
        let list = |field: &str| found[field].as_array().cloned().unwrap_or_default();
        let mut added = 0;
        for rule in list("rules") {
            let effect = rule["effect"].as_str().unwrap_or_default();
            let text = rule["rule"].as_str().unwrap_or_default();
            let same = |known: &Value| {
                ["rule", "effect"]
                    .iter()
                    .all(|field| known[*field] == rule[*field])
                    && known["scope"] == *scope
            };
            if known.iter().any(same) {
                writeln!(output, "already there: {effect} {text}")?;
                continue;
            }
            let body = json!({
                "rule": text, "effect": effect, "scope": scope, "confirm_broad": confirm_broad,
            });
            let request = self.request(Method::POST, "/rules").json(&body);
            match self.answer(request).await {
                Ok(_) => {
                    added += 1;
                    writeln!(output, "added: {effect} {text}")?;
                }
                Err(error) => writeln!(output, "left out: {effect} {text}: {error}")?,
            }
        }
        for rule in list("refused") {
            let word = |field: &str| rule[field].as_str().unwrap_or_default().to_owned();
            writeln!(
                output,
                "left out: {} {}: {}",
                word("effect"),
                word("text"),
                word("problem")
            )?;
        }
        writeln!(output, "{added} rules added.")?;
        Ok(())
    }

    async fn export(&self, project: Option<&Path>, output: &mut impl Write) -> anyhow::Result<()> {
        let mut request = self.request(Method::GET, "/rules/settings");
        if let Some(folder) = project {
            request = request.query(&[("cwd", real_folder(folder)?)]);
        }
        let settings = self.answer(request).await?;
        writeln!(output, "{}", serde_json::to_string_pretty(&settings)?)?;
        Ok(())
    }

    async fn remove(&self, named: &str, output: &mut impl Write) -> anyhow::Result<()> {
        let rules = self.rules().await?;
        let fits = |rule: &&Value| rule["rule_id"] == named || rule["rule"] == named;
        let found: Vec<&Value> = rules.iter().filter(fits).collect();
        let rule = match found.as_slice() {
            [rule] => rule,
            [] => bail!("There is no rule {named:?}. `sayso rules list` shows them all."),
            _ => bail!(
                "Several rules say {named:?}. Name one by its id, as `sayso rules list` shows it."
            ),
        };
        let id = rule["rule_id"].as_str().unwrap_or_default();
        self.answer(self.request(Method::DELETE, &format!("/rules/{id}")))
            .await?;
        writeln!(
            output,
            "Removed: {}",
            rule["rule"].as_str().unwrap_or_default()
        )?;
        Ok(())
    }

    async fn test(&self, call: &Value, output: &mut impl Write) -> anyhow::Result<()> {
        let request = self.request(Method::POST, "/rules/test").json(call);
        let tested = self.answer(request).await?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        writeln!(
            output,
            "{}: {}",
            text(&tested["decision"]),
            text(&tested["explanation"])
        )?;
        for risk in tested["risks"].as_array().into_iter().flatten() {
            writeln!(
                output,
                "  {}: {}",
                text(&risk["kind"]),
                text(&risk["words"])
            )?;
        }
        Ok(())
    }
}

fn real_folder(folder: &Path) -> anyhow::Result<PathBuf> {
    folder.canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => anyhow!("There is no folder {}.", folder.display()),
        kind => anyhow!("The folder {} cannot be opened: {kind}.", folder.display()),
    })
}

fn scope(project: Option<&Path>) -> anyhow::Result<Value> {
    Ok(match project {
        Some(folder) => json!({"kind": "project", "path": real_folder(folder)?}),
        None => json!({"kind": "everywhere"}),
    })
}

fn test_call(tool: &str, subject: &str, cwd: Option<PathBuf>) -> anyhow::Result<Value> {
    let cwd = match cwd {
        Some(cwd) => cwd,
        None => std::env::current_dir().context("The current folder is not known")?,
    };
    let field = match tool {
        "Bash" => "command",
        "WebFetch" => "url",
        _ => "file_path",
    };
    Ok(json!({"tool_name": tool, "tool_input": {field: subject}, "cwd": cwd}))
}

fn scope_words(scope: &Value) -> String {
    match scope["kind"].as_str() {
        Some("project") => format!("in {}", scope["path"].as_str().unwrap_or_default()),
        Some("session") => "in one session".to_owned(),
        _ => "everywhere".to_owned(),
    }
}

fn lifetime_words(rule: &Value) -> String {
    let uses = rule["uses_left"]
        .as_u64()
        .map(|left| format!(", {left} uses left"));
    let until = rule["expires_at"]
        .as_str()
        .map(|at| format!(", until {at}"));
    [uses, until].into_iter().flatten().collect()
}
