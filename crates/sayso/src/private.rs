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
const OWN: [&str; 4] = ["sayso.db", "token", "audit.", "agents"];

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
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn data_folder(root: &Path) -> PathBuf {
        let folder = root.join("data");
        fs::create_dir_all(folder.join("agents/one")).unwrap();
        for file in [
            "sayso.db",
            "sayso.db-wal",
            "token",
            "audit.key",
            "agents/one/journal",
        ] {
            fs::write(folder.join(file), "").unwrap();
        }
        folder
    }

    #[test]
    fn what_is_open_is_closed_and_named() {
        let root = tempfile::tempdir().unwrap();
        let folder = data_folder(root.path());
        fs::write(folder.join("notes.txt"), "not ours").unwrap();
        close(&folder).unwrap();
        assert_eq!(close(&folder).unwrap(), [], "nothing is left to close");
        for (name, open, closed) in [
            ("", 0o755, 0o700),
            ("", 0o777, 0o700),
            ("sayso.db", 0o644, 0o600),
            ("sayso.db-wal", 0o660, 0o600),
            ("token", 0o604, 0o600),
            ("audit.key", 0o666, 0o600),
            ("agents", 0o755, 0o700),
            ("agents/one", 0o750, 0o700),
            ("agents/one/journal", 0o644, 0o600),
        ] {
            let path = match name {
                "" => folder.clone(),
                name => folder.join(name),
            };
            set(&path, open);
            let expected = [Exposed {
                path: path.clone(),
                mode: open,
            }];
            assert_eq!(look(&folder).unwrap(), expected, "{name}");
            assert_eq!(mode(&path), open, "looking changes nothing");
            assert_eq!(close(&folder).unwrap(), expected, "{name}");
            assert_eq!(mode(&path), closed, "{name}");
        }
        set(&folder.join("notes.txt"), 0o644);
        assert_eq!(close(&folder).unwrap(), []);
        assert_eq!(mode(&folder.join("notes.txt")), 0o644);
    }

    #[test]
    fn a_new_folder_is_private_from_the_start() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b");
        assert_eq!(close(&folder).unwrap(), []);
        assert_eq!(
            (mode(&folder), mode(&root.path().join("a"))),
            (0o700, 0o700)
        );
    }

    #[test]
    fn a_folder_of_other_things_is_not_closed() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("documents");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("letter.txt"), "").unwrap();
        set(&folder, 0o755);
        assert!(matches!(close(&folder), Err(NotPrivate::Shared(_))));
        assert_eq!(mode(&folder), 0o755);
        let sticky = data_folder(root.path());
        set(&sticky, 0o1777);
        assert!(matches!(close(&sticky), Err(NotPrivate::Shared(_))));
        assert_eq!(mode(&sticky), 0o1777);
    }

    #[test]
    fn links_inside_are_refused_and_a_link_to_the_folder_is_not() {
        let root = tempfile::tempdir().unwrap();
        let folder = data_folder(root.path());
        let outside = root.path().join("outside");
        fs::write(&outside, "").unwrap();
        set(&outside, 0o644);
        symlink(&folder, root.path().join("link")).unwrap();
        close(&root.path().join("link")).unwrap();
        assert_eq!(mode(&folder), 0o700);
        for name in ["token", "sayso.db-shm", "agents/one/socket"] {
            let path = folder.join(name);
            let _ = fs::remove_file(&path);
            symlink(&outside, &path).unwrap();
            assert!(matches!(close(&folder), Err(NotPrivate::Link(link)) if link == path));
            fs::remove_file(&path).unwrap();
        }
        assert_eq!(mode(&outside), 0o644, "what links point to is not touched");
    }

    #[test]
    fn a_folder_that_anybody_can_replace_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let open = root.path().join("open");
        fs::create_dir(&open).unwrap();
        let folder = data_folder(&open);
        set(&open, 0o777);
        let refused = |folder: &Path| match close(folder) {
            Err(NotPrivate::Replaceable(path)) => path == open,
            _ => false,
        };
        assert!(refused(&folder));
        // The same by way of a link that lies there.
        let elsewhere = data_folder(root.path());
        symlink(&elsewhere, open.join("link")).unwrap();
        assert!(refused(&open.join("link")));
        for mode in [0o1777, 0o775, 0o755] {
            set(&open, mode);
            assert!(close(&folder).is_ok(), "{mode:o}");
        }
    }

    #[test]
    fn nobody_else_owns_the_way() {
        let seen = |owner, mode, link| Seen { owner, mode, link };
        let (me, other) = (1000, 1001);
        for (seen, good) in [
            (seen(me, 0o700, false), true),
            (seen(0, 0o755, false), true),
            (seen(0, 0o1777, false), true),
            (seen(0, 0o777, false), false),
            (seen(me, 0o777, false), false),
            (seen(other, 0o755, false), false),
            (seen(other, 0o700, false), false),
            (seen(me, 0o777, true), true),
            (seen(0, 0o777, true), true),
            (seen(other, 0o777, true), false),
        ] {
            let checked = check_way(Path::new("/x"), &seen, me);
            assert_eq!(checked.is_ok(), good, "{seen:?}");
        }
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let folder = data_folder(root.path());
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(folder.join("token"), Some(12345), None).unwrap();
            assert!(
                matches!(close(&folder), Err(NotPrivate::Strangers(path)) if path.ends_with("token"))
            );
            std::os::unix::fs::chown(&folder, Some(12345), None).unwrap();
            assert!(
                matches!(close(&folder), Err(NotPrivate::Strangers(path)) if path.ends_with("data"))
            );
        } else {
            assert!(matches!(
                close(Path::new("/usr")),
                Err(NotPrivate::Strangers(_))
            ));
        }
    }

    #[test]
    fn the_operator_is_told_what_it_means() {
        let told = |name: &str, mode| {
            let path = Path::new("/data").join(name);
            Exposed { path, mode }.told()
        };
        assert_eq!(
            told("sayso.db", 0o644),
            "Other users of this machine could read /data/sayso.db; it is closed now."
        );
        assert!(told("", 0o777).contains("could change"));
        assert!(told("token", 0o644).contains("delete it"));
    }
}
