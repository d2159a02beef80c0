//! What is run, in which order. The first failure ends it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::autobahn;
use crate::chromium;
use crate::node::{install_packages, which};
use crate::packages;
use crate::report::duration;
use crate::step::Step;
use crate::worktree::Worktree;

type Closing = Vec<String>;

pub(crate) fn test_everything(root: &Path) -> Result<()> {
    checked(root, |root| {
        let mut closing = rust(root)?;
        closing.extend(ui(root)?);
        closing.extend(extension(root)?);
        // The same selection as the Rust tests, so that nothing is compiled again.
        closing.extend(end_to_end(root, &["--workspace", "--all-targets"], &[])?);
        closing.extend(autobahn::run(root)?);
        Ok(closing)
    })
}

pub(crate) fn test_rust(root: &Path) -> Result<()> {
    checked(root, rust)
}

pub(crate) fn test_ui(root: &Path) -> Result<()> {
    checked(root, ui)
}

pub(crate) fn test_extension(root: &Path) -> Result<()> {
    checked(root, extension)
}

pub(crate) fn test_end_to_end(root: &Path, filters: &[&str]) -> Result<()> {
    checked(root, |root| {
        end_to_end(root, &["--package", "sayso"], filters)
    })
}

pub(crate) fn rewrite_types(root: &Path) -> Result<()> {
    Step::new(
        "the TypeScript types",
        root,
        &["cargo", "test", "-p", "sayso-protocol"],
    )
    .with("SAYSO_WRITE_TYPES", "1")
    .run()?;
    Ok(())
}

pub(crate) fn take_pictures(root: &Path) -> Result<()> {
    prepare_end_to_end(root, &["--package", "sayso"])?;
    Step::new("pictures", &root.join("e2e"), &["npm", "run", "pictures"])
        .with("SAYSO_BIN", server("debug")?)
        .run()?;
    Ok(())
}

/// With the optimised build: figures of another one mean nothing.
pub(crate) fn measure(root: &Path) -> Result<()> {
    prepare_browser(root)?;
    let build = [
        "cargo",
        "build",
        "--locked",
        "--release",
        "--package",
        "sayso",
    ];
    Step::new("the server", root, &build).run()?;
    Step::new("figures", &root.join("e2e"), &["npm", "run", "measure"])
        .with("SAYSO_BIN", server("release")?)
        .run()?;
    Ok(())
}

fn checked(root: &Path, parts: impl FnOnce(&Path) -> Result<Closing>) -> Result<()> {
    let started = Instant::now();
    let worktree = Worktree::look(root)?;
    let closing = parts(root)?;
    worktree.check_unchanged(root)?;
    println!("\n=== all passed in {}", duration(started.elapsed()));
    for line in closing {
        println!("{line}");
    }
    Ok(())
}

fn rust(root: &Path) -> Result<Closing> {
    Step::new("format", root, &["cargo", "fmt", "--all", "--check"]).run()?;
    let lints = [
        "cargo",
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    Step::new("lints", root, &lints).run()?;
    if cfg!(target_os = "linux") && which("strace").is_none() {
        let missing = "The tests of disks that fail need strace: install it (for example `sudo apt-get install strace`).";
        packages::install(root, "strace", missing)?;
    }
    if which("tmux").is_none() {
        let missing = "The tests of `sayso watch` need tmux: install it (for example `sudo apt-get install tmux`).";
        packages::install(root, "tmux", missing)?;
    }
    if which("cargo-nextest").is_none() {
        let all = ["cargo", "test", "--workspace", "--locked"];
        return Step::new("Rust tests", root, &all).run();
    }
    let all = [
        "cargo",
        "nextest",
        "run",
        "--workspace",
        "--locked",
        "--config-file",
        "xtask/nextest.toml",
    ];
    let mut closing = Step::new("Rust tests", root, &all).run()?;
    // nextest does not run examples in documentation, and building for none takes time.
    if has_documentation_tests(&root.join("crates"))? {
        let examples = ["cargo", "test", "--workspace", "--locked", "--doc"];
        closing.extend(Step::new("examples in documentation", root, &examples).run()?);
    }
    Ok(closing)
}

fn ui(root: &Path) -> Result<Closing> {
    let folder = root.join("ui");
    install_packages(&folder)?;
    let npm = |title: &str, script: &str| Step::new(title, &folder, &["npm", "run", script]).run();
    npm("format of the web app", "lint")?;
    npm("types of the web app", "check")?;
    npm("tests of the web app", "test")
}

fn extension(root: &Path) -> Result<Closing> {
    let folder = prepare_extension(root)?;
    let npm = |title: &str, script: &str| Step::new(title, &folder, &["npm", "run", script]).run();
    npm("format of the extension", "lint")?;
    npm("types of the extension", "check")?;
    npm("tests of the extension", "test")
}

/// It is made of the web app's files, which find their packages beside themselves.
fn prepare_extension(root: &Path) -> Result<PathBuf> {
    let folder = root.join("extension");
    install_packages(&root.join("ui"))?;
    install_packages(&folder)?;
    Ok(folder)
}

fn end_to_end(root: &Path, built: &[&str], filters: &[&str]) -> Result<Closing> {
    let folder = root.join("e2e");
    prepare_end_to_end(root, built)?;
    let npm = |title: &str, script: &str| Step::new(title, &folder, &["npm", "run", script]).run();
    npm("format of the end-to-end tests", "lint")?;
    npm("types of the end-to-end tests", "check")?;
    let command = [&["npm", "test", "--"], filters].concat();
    Step::new("end to end", &folder, &command)
        .with("SAYSO_BIN", server("debug")?)
        .run()
}

fn prepare_end_to_end(root: &Path, built: &[&str]) -> Result<()> {
    prepare_browser(root)?;
    let build = [&["cargo", "build", "--locked"], built].concat();
    Step::new("the server", root, &build).run()?;
    let folder = prepare_extension(root)?;
    Step::new("the extension", &folder, &["npm", "run", "build"]).run()?;
    Ok(())
}

fn prepare_browser(root: &Path) -> Result<()> {
    install_packages(&root.join("e2e"))?;
    chromium::ensure(root)
}

/// The server lies in the same folder of built programs as this one.
fn server(profile: &str) -> Result<String> {
    let binary = target_folder()?
        .join(profile)
        .join(format!("sayso{}", std::env::consts::EXE_SUFFIX));
    if !binary.is_file() {
        bail!("{} was not built", binary.display());
    }
    Ok(binary.to_string_lossy().into_owned())
}

pub(crate) fn target_folder() -> Result<PathBuf> {
    let own = std::env::current_exe().context("this program's own path is unknown")?;
    let built = own.parent().and_then(Path::parent);
    let folder = built.context("this program stands in no folder of built programs")?;
    Ok(folder.to_path_buf())
}

fn has_documentation_tests(folder: &Path) -> Result<bool> {
    for entry in
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?
    {
        let path = entry?.path();
        let found = if path.is_dir() {
            has_documentation_tests(&path)?
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            text.lines()
                .map(str::trim_start)
                .any(|line| line.starts_with("/// ```") || line.starts_with("//! ```"))
        } else {
            false
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}
