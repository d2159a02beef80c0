//! Sayso beside the designs it replaces, in one run.

use std::path::Path;

use anyhow::{Result, bail};

use crate::node::{install_packages, which};
use crate::step::Step;
use crate::suite::{self, target_folder};

/// What takes about two minutes and tells whether something went wrong.
const SHORT: &str = "seq,s20,rule,stream20,start";

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    match words {
        ["--web"] => return suite::measure(root),
        [] | ["--full"] | ["--only", _] | ["--growth"] | ["--soak"] => {}
        _ => bail!("`bench` takes nothing, --full, --only SCENARIO,…, --growth, --soak or --web"),
    }
    let folder = root.join("bench");
    let build = ["cargo", "build", "--locked", "--release"];
    Step::new("the harness", &folder, &build).run()?;
    let server = [&build[..], &["--package", "sayso"]].concat();
    Step::new("the server", root, &server).run()?;
    install_packages(&folder.join("ref_node"))?;
    let full = words == ["--full"];
    if full {
        python(&folder)?;
    }
    let target = target_folder()?;
    let path = |name: &str| target.join(name).display().to_string();
    let (rounds, targets, only) = match words {
        ["--full"] => ("3", "sayso,sayso_process,ref_node,ref_py,min_rs,floor", ""),
        ["--only", scenarios] => ("1", "sayso,sayso_process,ref_node,floor", *scenarios),
        _ => ("1", "sayso,ref_node", SHORT),
    };
    let comparison = [
        "python3",
        "bench.py",
        "--rounds",
        rounds,
        "--targets",
        targets,
        "--only",
        only,
    ];
    let growth = ["python3", "growth.py"];
    let soak = ["python3", "soak.py"];
    let (title, bench): (&str, &[&str]) = match words {
        ["--growth"] => ("how the cost grows", &growth),
        ["--soak"] => ("ten minutes", &soak),
        _ => ("the comparison", &comparison),
    };
    Step::new(title, &folder, bench)
        .with(
            "BENCH_BIN",
            folder.join("target/release").display().to_string(),
        )
        .with("BENCH_SAYSO", path("release/sayso"))
        .run()?;
    Ok(())
}

/// The packages of the reference server in Python, in an environment of their own.
fn python(folder: &Path) -> Result<()> {
    if folder.join("venv/bin/uvicorn").is_file() {
        return Ok(());
    }
    if which("python3").is_none() {
        bail!("Python 3 is missing: the full comparison has a server that is written in it.");
    }
    let make = ["python3", "-m", "venv", "venv"];
    Step::new("an environment for Python", folder, &make).run()?;
    let install = [
        "venv/bin/pip",
        "install",
        "--quiet",
        "--requirement",
        "ref_py/requirements.txt",
    ];
    Step::new("the packages of ref_py", folder, &install).run()?;
    Ok(())
}
