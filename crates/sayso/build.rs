//! Builds the web app in `ui/` and tells the crate where its files are, so
//! that a plain `cargo run` is enough and never stale.
//!
//! `SAYSO_UI_DIST` names a folder that is built already; without the feature
//! `embedded-ui` nothing is built and Node is not needed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What the web app is made from. Never `ui/` itself, which holds `node_modules`.
const SOURCES: [&str; 8] = [
    "src",
    "public",
    "index.html",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "vite.config.ts",
    "vite.service-worker.ts",
];

fn main() {
    println!("cargo:rerun-if-env-changed=SAYSO_UI_DIST");
    if env::var_os("CARGO_FEATURE_EMBEDDED_UI").is_none() {
        return;
    }
    let files = match env::var_os("SAYSO_UI_DIST") {
        Some(folder) => {
            let folder = PathBuf::from(folder);
            println!("cargo:rerun-if-changed={}", folder.display());
            folder
        }
        None => build(),
    };
    if !files.join("index.html").is_file() {
        fail(&format!("there is no index.html in {}", files.display()));
    }
    println!("cargo:rustc-env=SAYSO_UI_FILES={}", files.display());
}

fn build() -> PathBuf {
    let variable = |name: &str| PathBuf::from(env::var_os(name).unwrap_or_default());
    let ui = variable("CARGO_MANIFEST_DIR").join("../../ui");
    for source in SOURCES {
        println!("cargo:rerun-if-changed={}", ui.join(source).display());
    }
    install(&ui);
    let files = variable("OUT_DIR").join("ui");
    let out_dir = format!("--outDir={}", files.display());
    npm(&ui, &["run", "build", "--", &out_dir, "--emptyOutDir"]);
    files
}

/// Installs the packages when the lockfile is not the one they came from.
fn install(ui: &Path) {
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let stamp = ui.join("node_modules/.sayso-lock");
    let lock = read(ui.join("package-lock.json"));
    if read(stamp.clone()) == lock {
        return;
    }
    npm(ui, &["ci", "--no-audit", "--no-fund"]);
    if let Err(error) = fs::write(&stamp, lock) {
        fail(&format!("{} cannot be written: {error}", stamp.display()));
    }
}

fn npm(folder: &Path, arguments: &[&str]) {
    let output = Command::new("npm")
        .args(arguments)
        .current_dir(folder)
        .output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => fail(&format!(
            "`npm {}` failed:\n{}{}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )),
        Err(_) => fail(
            "the web app is built with Node.js 20 or newer, and `npm` was not found. Install \
             Node.js, or build without the web app: `cargo build --no-default-features`",
        ),
    }
}

fn fail(text: &str) -> ! {
    for line in text.lines() {
        println!("cargo::error={line}");
    }
    std::process::exit(1)
}
