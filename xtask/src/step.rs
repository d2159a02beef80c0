//! One command of the suite: a headline, its output as it comes, its time,
//! and the sentence that repeats it when it fails.

use std::io::{BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};

use crate::report::{closing_line, duration};

/// A command, where it runs, and what it is called in the headline.
#[derive(Debug)]
pub(crate) struct Step {
    title: String,
    folder: PathBuf,
    program: String,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    longest: Option<Duration>,
}

impl Step {
    pub(crate) fn new(title: &str, folder: &Path, words: &[&str]) -> Self {
        let (program, arguments) = words.split_first().unwrap_or((&"true", &[]));
        Self {
            title: title.to_owned(),
            folder: folder.to_path_buf(),
            program: (*program).to_owned(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            environment: Vec::new(),
            longest: None,
        }
    }

    /// It is ended, and has failed, when it takes longer.
    pub(crate) fn within(mut self, longest: Duration) -> Self {
        self.longest = Some(longest);
        self
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Runs it and gives the runner's own closing lines.
    pub(crate) fn run(&self) -> Result<Vec<String>> {
        println!("\n=== {} ({})", self.title, self.command_line());
        let started = Instant::now();
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .current_dir(&self.folder)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if std::io::stdout().is_terminal() {
            // The output passes through a pipe, so the tools cannot see the terminal.
            command
                .env("CARGO_TERM_COLOR", "always")
                .env("FORCE_COLOR", "1");
        }
        let mut child = command.spawn().with_context(|| {
            format!(
                "`{}` could not be started for: {}",
                self.program, self.title
            )
        })?;
        let output = pass_on(child.stdout.take(), std::io::stdout());
        let errors = pass_on(child.stderr.take(), std::io::stderr());
        let status = match self.longest {
            None => child.wait(),
            Some(longest) => wait_within(&mut child, longest),
        };
        let status = status.context("the step's process was lost")?;
        let mut closing = finish(output)?;
        closing.extend(finish(errors)?);
        let time = duration(started.elapsed());
        if !status.success() {
            bail!(
                "FAILED: {} after {time} ({status}).\nTo repeat it: {}",
                self.title,
                self.command_line()
            );
        }
        println!("--- {} ok in {time}", self.title);
        Ok(closing)
    }

    /// As a human would type it at the repository's root.
    fn command_line(&self) -> String {
        let mut words = Vec::new();
        if let Some(folder) = self.subfolder() {
            words.push(format!("cd {folder} &&"));
        }
        for (name, value) in &self.environment {
            words.push(format!("{name}={}", quoted(value)));
        }
        words.push(self.program.clone());
        words.extend(self.arguments.iter().map(|word| quoted(word)));
        words.join(" ")
    }

    fn subfolder(&self) -> Option<String> {
        let name = self.folder.file_name()?.to_str()?;
        let is_part = self.folder.join("package.json").exists();
        is_part.then(|| name.to_owned())
    }
}

fn wait_within(child: &mut Child, longest: Duration) -> std::io::Result<ExitStatus> {
    let end = Instant::now() + longest;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(200));
    }
    child.kill()?;
    child.wait()
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./:@+,".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

type PassedOn = JoinHandle<std::io::Result<Vec<String>>>;

/// Copies what the child writes to ours, and keeps the closing lines.
fn pass_on<Source, Target>(source: Option<Source>, mut target: Target) -> Option<PassedOn>
where
    Source: Read + Send + 'static,
    Target: Write + Send + 'static,
{
    let mut reader = BufReader::new(source?);
    Some(thread::spawn(move || {
        let mut closing = Vec::new();
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            target.write_all(&line)?;
            target.flush()?;
            closing.extend(closing_line(&String::from_utf8_lossy(&line)));
            line.clear();
        }
        Ok(closing)
    }))
}

fn finish(handle: Option<PassedOn>) -> Result<Vec<String>> {
    let Some(handle) = handle else {
        return Ok(Vec::new());
    };
    let lines = handle
        .join()
        .map_err(|_| anyhow!("the step's output could not be passed on"))??;
    Ok(lines)
}
