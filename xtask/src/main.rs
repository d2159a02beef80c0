//! The project's own chores: `cargo xtask test` is what a machine without
//! anything but Rust and Node runs to know that a commit is good.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks on its standard streams"
)]

mod autobahn;
mod bench;
mod chromium;
mod fuzz;
mod node;
mod packages;
mod report;
mod step;
mod suite;
mod worktree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
Usage: cargo xtask <command>

  test             everything: format, lints, Rust, web app, extension, end to end, and Autobahn's suite where it is
  test rust        only the Rust workspace
  test ui          only the web app
  test extension   only the side panel extension
  test e2e [ARGS]  only the end-to-end tests; ARGS go to Playwright
  fuzz [TARGET] [MINUTES]
                   feeds hostile input to what reads it, each target for 5 minutes
  screenshot       takes the pictures in docs from the real thing
  measure          how a long transcript opens, scrolls and streams and how fast a card appears, in figures
  bench [--full | --only SCENARIO,… | --growth | --soak | --web]
                   Sayso beside the designs it replaces; two minutes, or all of it; --growth and --soak are about
                   Sayso alone, --web is `measure`
  autobahn         Autobahn's WebSocket suite, where Python 2.7 has it
  types            rewrites ui/src/protocol.gen.ts from crates/protocol";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let root = repository_root()?;
    match words.as_slice() {
        ["test"] => suite::test_everything(&root),
        ["test", "rust"] => suite::test_rust(&root),
        ["test", "ui"] => suite::test_ui(&root),
        ["test", "extension"] => suite::test_extension(&root),
        ["test", "e2e", filters @ ..] => suite::test_end_to_end(&root, filters),
        ["fuzz", words @ ..] => fuzz::run(&root, words),
        ["screenshot"] => suite::take_pictures(&root),
        ["measure"] => suite::measure(&root),
        ["bench", words @ ..] => bench::run(&root, words),
        ["autobahn"] => autobahn::run(&root).map(drop),
        ["types"] => suite::rewrite_types(&root),
        [] | ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        [..] => bail!("There is no command `{}`.\n\n{USAGE}", arguments.join(" ")),
    }
}

/// Asked of cargo at run time: what was true when this was compiled may be
/// another checkout that shares the target folder.
fn repository_root() -> Result<PathBuf> {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("start this with `cargo xtask`, which says where the repository is")?;
    let root = Path::new(&manifest)
        .parent()
        .context("xtask stands directly under the repository's root")?;
    Ok(root.to_path_buf())
}
