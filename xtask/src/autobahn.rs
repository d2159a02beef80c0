//! Autobahn's WebSocket suite against an echo server with Sayso's listener
//! and limits. It needs Python 2.7, which few machines still have.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::step::Step;
use crate::suite::target_folder;

const PYTHONS: [&str; 2] = ["python2.7", "python2"];

const SKIPPED: &str = "Autobahn was skipped: it needs Python 2.7 with the package `autobahntestsuite`. \
    SAYSO_PYTHON names a Python that has it.";

/// Far beyond what the suite takes; one that hangs must not hold up all others.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// Gives what it has to say at the end; that is a message where the suite is not at hand.
pub(crate) fn run(root: &Path) -> Result<Vec<String>> {
    let Some(python) = find_python() else {
        println!("\n=== {SKIPPED}");
        return Ok(vec![SKIPPED.to_owned()]);
    };
    let build = [
        "cargo",
        "build",
        "--locked",
        "--package",
        "sayso",
        "--example",
        "echo",
    ];
    Step::new("the echo server", root, &build).run()?;
    let target = target_folder()?;
    let mut server = EchoServer::start(&target.join("debug/examples/echo"))?;
    let address = server.address()?;
    let folder = target.join("autobahn");
    std::fs::create_dir_all(&folder)?;
    let specification = folder.join("fuzzingclient.json");
    std::fs::write(&specification, specify(&address, &folder).to_string())?;
    let specification = specification.display().to_string();
    let words = [
        &python,
        "-m",
        "autobahntestsuite.wstest",
        "-m",
        "fuzzingclient",
        "-s",
        &specification,
    ];
    Step::new("Autobahn", root, &words).within(LONGEST).run()?;
    let summary = judge(&folder.join("reports/index.json"))?;
    println!("{summary}");
    Ok(vec![summary])
}

fn find_python() -> Option<String> {
    let named = std::env::var("SAYSO_PYTHON").ok();
    let names = named.into_iter().chain(PYTHONS.map(str::to_owned));
    let has_suite = |python: &String| {
        Command::new(python)
            .args(["-c", "import autobahntestsuite.wstest"])
            .output()
            .is_ok_and(|output| output.status.success())
    };
    names.into_iter().find(has_suite)
}

/// All but compression, which Sayso does not offer.
fn specify(address: &str, folder: &Path) -> Value {
    json!({
        "outdir": folder.join("reports"),
        "servers": [{"agent": "sayso", "url": address}],
        "cases": ["*"],
        "exclude-cases": ["12.*", "13.*"],
    })
}

/// Everything must be as the standard wants it, or be left open by it.
fn judge(report: &Path) -> Result<String> {
    let text = std::fs::read_to_string(report).context("the suite left no report")?;
    let report: Value = serde_json::from_str(&text)?;
    let cases = report["sayso"]
        .as_object()
        .context("the suite tested nothing")?;
    let good = |case: &Value, field: &str| {
        matches!(
            case[field].as_str(),
            Some("OK" | "INFORMATIONAL" | "NON-STRICT")
        )
    };
    let bad: Vec<&str> = cases
        .iter()
        .filter(|(_, case)| !good(case, "behavior") || !good(case, "behaviorClose"))
        .map(|(name, _)| name.as_str())
        .collect();
    let strict = cases
        .values()
        .filter(|case| case["behavior"] == "OK")
        .count();
    if !bad.is_empty() {
        bail!("These cases failed: {}", bad.join(", "));
    }
    Ok(format!(
        "Autobahn: {} cases, {strict} strictly as the standard wants them",
        cases.len()
    ))
}

/// Ends with this.
struct EchoServer(Child);

impl EchoServer {
    fn start(program: &Path) -> Result<Self> {
        let child = Command::new(program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("the echo server does not start")?;
        Ok(Self(child))
    }

    fn address(&mut self) -> Result<String> {
        let output = self.0.stdout.take().context("its output is taken once")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for EchoServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
