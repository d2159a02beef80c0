//! The data folder is for its owner alone. Looked at on every start: a copy, a backup that was put back or an
//! unlucky `chmod` may have opened it.
//!
//! What Sayso owns it closes, and says so. What another user could put something else in the place of, it does
//! not use.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Names, or beginnings of names, of what Sayso keeps in its folder. What else lies there is left as it is.
const OWN: [&str; 6] = [
    "sayso.db",
    "token",
    "audit.",
    "tls.pem",
    "vapid.key",
    "agents",
];

/// Folders of agents hold files only.
const DEPTH: usize = 2;

const OTHERS: u32 = 0o077;
const OTHERS_WRITE: u32 = 0o022;
const ANYBODY_WRITES: u32 = 0o002;
/// Others can add to such a folder, but not replace what is there.
const STICKY: u32 = 0o1000;

#[derive(Debug, thiserror::Error)]
pub enum NotPrivate {
    #[error("The data folder {} cannot be made or looked at: {source}.", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "{} belongs to another user, who could read or change what Sayso keeps there. Name a folder of your own with --data-dir.",
        .0.display()
    )]
    Strangers(PathBuf),
    #[error(
        "Every user of this machine can write to {}, and so put another data folder in place of Sayso's. Close it with `chmod o-w`, or name another folder with --data-dir.",
        .0.display()
    )]
    Replaceable(PathBuf),
    #[error(
        "{} is a link. Sayso keeps its files in the data folder itself; name the real folder with --data-dir.",
        .0.display()
    )]
    Link(PathBuf),
    #[error(
        "Other users can look into {}, and it holds other things than Sayso's, so Sayso does not close it. Name an empty folder with --data-dir.",
        .0.display()
    )]
    Shared(PathBuf),
}

/// What is not as private as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exposed {
    pub path: PathBuf,
    mode: u32,
}

impl Exposed {
    /// What to tell the operator once it is closed.
    pub fn told(&self) -> String {
        let done = match self.mode & OTHERS_WRITE {
            0 => "read",
            _ => "change",
        };
        let path = self.path.display();
        let told = format!("Other users of this machine could {done} {path}; it is closed now.");
        if self.path.file_name().is_some_and(|name| name == "token") {
            let advice =
                "If one of them may have, delete it and start again: that makes a new one.";
            return format!("{told} {advice}");
        }
        told
    }
}

/// Makes the folder if it is missing, and closes what is open. Gives what was.
pub fn close(folder: &Path) -> Result<Vec<Exposed>, NotPrivate> {
    make(folder).map_err(|source| failed(folder, source))?;
    let own = look_at_folder(folder)?;
    // First, so that nobody else changes what is looked at next.
    let mut closed: Vec<Exposed> = own.into_iter().collect();
    closed.iter().try_for_each(shut)?;
    let inside = look_inside(folder, 0)?;
    inside.iter().try_for_each(shut)?;
    closed.extend(inside);
    Ok(closed)
}

/// What [`close`] would close, or why it would refuse. Changes nothing.
pub fn look(folder: &Path) -> Result<Vec<Exposed>, NotPrivate> {
    let own = look_at_folder(folder)?;
    let inside = look_inside(folder, 0)?;
    Ok(own.into_iter().chain(inside).collect())
}

/// For its owner alone, with those above it that are missing.
pub fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Whether others may read or change a file. One that cannot be looked at is open to nobody.
pub fn is_open(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|metadata| metadata.mode() & OTHERS != 0)
}

fn look_at_folder(folder: &Path) -> Result<Option<Exposed>, NotPrivate> {
    let unusable = |source| failed(folder, source);
    let me = rustix::process::geteuid().as_raw();
    let named = std::path::absolute(folder).map_err(unusable)?;
    let real = fs::canonicalize(folder).map_err(unusable)?;
    for above in named.ancestors().chain(real.ancestors().skip(1)) {
        let seen = fs::symlink_metadata(above).map_err(|source| failed(above, source))?;
        if above != real {
            check_way(above, &Seen::of(&seen), me)?;
        }
    }
    let seen = Seen::of(&fs::metadata(&real).map_err(unusable)?);
    if seen.owner != me {
        return Err(NotPrivate::Strangers(real));
    }
    if seen.mode & OTHERS == 0 {
        return Ok(None);
    }
    if seen.mode & STICKY != 0 || !is_own(&real).map_err(unusable)? {
        return Err(NotPrivate::Shared(real));
    }
    Ok(Some(Exposed {
        path: real,
        mode: seen.mode,
    }))
}

/// The facts that matter, apart from where they come from.
#[derive(Clone, Copy, Debug)]
struct Seen {
    owner: u32,
    mode: u32,
    link: bool,
}

impl Seen {
    fn of(metadata: &Metadata) -> Self {
        Self {
            owner: metadata.uid(),
            mode: metadata.mode() & 0o7777,
            link: metadata.is_symlink(),
        }
    }
}

/// A folder, or a link, on the way to the data folder: nobody else may turn it elsewhere. A group may, as on the
/// many machines where each user is a group.
fn check_way(path: &Path, seen: &Seen, me: u32) -> Result<(), NotPrivate> {
    if seen.owner != me && seen.owner != 0 {
        return Err(NotPrivate::Strangers(path.to_owned()));
    }
    // A link has no mode of its own.
    if !seen.link && seen.mode & ANYBODY_WRITES != 0 && seen.mode & STICKY == 0 {
        return Err(NotPrivate::Replaceable(path.to_owned()));
    }
    Ok(())
}

/// A folder that was made for Sayso, or that can become so: `--data-dir /tmp` must not close that for everybody.
fn is_own(folder: &Path) -> io::Result<bool> {
    let mut empty = true;
    for entry in fs::read_dir(folder)? {
        if is_own_name(&entry?.file_name()) {
            return Ok(true);
        }
        empty = false;
    }
    Ok(empty)
}

fn is_own_name(name: &std::ffi::OsStr) -> bool {
    let name = name.as_encoded_bytes();
    OWN.iter().any(|own| name.starts_with(own.as_bytes()))
}

fn look_inside(folder: &Path, depth: usize) -> Result<Vec<Exposed>, NotPrivate> {
    let me = rustix::process::geteuid().as_raw();
    let mut exposed = Vec::new();
    let entries = fs::read_dir(folder).map_err(|source| failed(folder, source))?;
    for entry in entries {
        let entry = entry.map_err(|source| failed(folder, source))?;
        if depth == 0 && !is_own_name(&entry.file_name()) {
            continue;
        }
        let path = entry.path();
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            // An agent that ends clears up behind itself.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(failed(&path, source)),
        };
        let seen = Seen::of(&metadata);
        if seen.link {
            return Err(NotPrivate::Link(path));
        }
        if seen.owner != me {
            return Err(NotPrivate::Strangers(path));
        }
        if metadata.is_dir() && depth < DEPTH {
            exposed.extend(look_inside(&path, depth + 1)?);
        }
        if seen.mode & OTHERS != 0 {
            let mode = seen.mode;
            exposed.push(Exposed { path, mode });
        }
    }
    Ok(exposed)
}

fn shut(exposed: &Exposed) -> Result<(), NotPrivate> {
    let mode = Permissions::from_mode(exposed.mode & 0o700);
    match fs::set_permissions(&exposed.path, mode) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(&exposed.path, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn failed(path: &Path, source: io::Error) -> NotPrivate {
    NotPrivate::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
