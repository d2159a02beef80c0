//! A tool call with the facts that judging it needs.

use std::collections::{HashMap, VecDeque};
use std::ffi::CString;
use std::path::Path;

use foldhash::fast::RandomState;
use rustix::fs::{CWD, readlinkat, readlinkat_raw};
use rustix::io::Errno;
use sayso_policy::{Link, ToolCall, path};
use serde_json::Value;

/// As many places as are looked at for links; a call that names more is not allowed by a rule anyway.
const MAXIMUM_LOOKS: usize = 2000;

/// Room for as many as most calls need.
const COMMON_LOOKS: usize = 14;

/// Owned, so that it can be judged later and elsewhere.
#[derive(Clone, Debug)]
pub struct Call {
    pub tool_name: String,
    pub input: Value,
    pub cwd: String,
    pub home: String,
    pub links: Vec<Link>,
}

impl Call {
    pub fn new(tool_name: &str, input: Value, cwd: &Path) -> Self {
        let home = crate::agents::claude::home().unwrap_or_default();
        Self {
            tool_name: tool_name.to_owned(),
            input,
            cwd: cwd.to_string_lossy().into_owned(),
            home: home.to_string_lossy().into_owned(),
            links: Vec::new(),
        }
    }

    /// Looks at the file system: not for the hub. The folder is named by its real path, because rules are
    /// written for that.
    pub fn with_links(mut self) -> Self {
        if let Ok(real) = Path::new(&self.cwd).canonicalize() {
            self.cwd = real.to_string_lossy().into_owned();
        }
        self.with_links_from_here()
    }

    /// The same for a folder whose path was real when the agent was started in it. If it is not any more, the links
    /// tell.
    pub fn with_links_from_here(mut self) -> Self {
        self.links = links(&self.facts());
        self
    }

    pub fn facts(&self) -> ToolCall<'_> {
        ToolCall {
            tool_name: &self.tool_name,
            input: &self.input,
            cwd: &self.cwd,
            home: &self.home,
            project_root: &self.cwd,
            links: &self.links,
        }
    }
}

/// The symbolic links on the way to whatever the call names, and on the way to their targets.
pub fn links(call: &ToolCall<'_>) -> Vec<Link> {
    let mentioned = path::mentioned(call).into_iter().map(String::into_bytes);
    let mut ahead: VecDeque<Vec<u8>> = mentioned.collect();
    if without_links(&ahead) {
        return Vec::new();
    }
    let mut looks = Looks {
        seen: HashMap::with_capacity_and_hasher(COMMON_LOOKS, RandomState::default()),
        found: Vec::new(),
    };
    while let Some(path) = ahead.pop_front() {
        looks.follow(&path, &mut ahead);
    }
    looks.found
}

/// Whether there is no link on the way to any of them. Most calls name no link at all, and the system says so with
/// one call for each path. The first path is the folder that the agent works in: of another path within it the way
/// to the folder is looked at again, so it needs no call of its own.
#[cfg(target_os = "linux")]
fn without_links(paths: &VecDeque<Vec<u8>>) -> bool {
    let mut paths = paths.iter();
    let Some(folder) = paths.next() else {
        return true;
    };
    let mut folder_is_seen = false;
    for path in paths {
        if !is_without_links(path) {
            return false;
        }
        folder_is_seen |= is_within(path, folder);
    }
    folder_is_seen || is_without_links(folder)
}

#[cfg(not(target_os = "linux"))]
fn without_links(_: &VecDeque<Vec<u8>>) -> bool {
    false
}

/// False where there is a link, and where nothing can be said at once: then every place is looked at. What is not there
/// has no links in it; but the system stops at it, and a `..` behind it would lead back to what may have some.
#[cfg(target_os = "linux")]
fn is_without_links(path: &[u8]) -> bool {
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    if path.first() != Some(&b'/') || path.split(|byte| *byte == b'/').any(|part| part == b"..") {
        return false;
    }
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS);
    matches!(opened, Ok(_) | Err(Errno::NOENT | Errno::NOTDIR))
}

#[cfg(target_os = "linux")]
fn is_within(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// The places that were looked at, by their bytes, and the links among them.
struct Looks {
    /// Not many, so nobody gains from names that meet in one place.
    seen: HashMap<Vec<u8>, Seen, RandomState>,
    found: Vec<Link>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Something,
    /// Neither there nor anything below.
    Nothing,
}

impl Looks {
    /// Looks at every place on the way to `path`, and puts where links lead into `ahead`.
    fn follow(&mut self, path: &[u8], ahead: &mut VecDeque<Vec<u8>>) {
        let mut here = Vec::with_capacity(path.len() + 1);
        let parts = || path.split(|byte| *byte == b'/');
        let goes_up = parts().any(|part| part == b"..");
        for part in parts() {
            match part {
                b"" | b"." => continue,
                b".." => {
                    here.truncate(parent(&here).len());
                    continue;
                }
                name => {
                    here.push(b'/');
                    here.extend_from_slice(name);
                }
            }
            let seen = match self.seen.get(&here) {
                Some(seen) => *seen,
                None if self.seen.len() >= MAXIMUM_LOOKS => continue,
                None => self.look(&here, ahead),
            };
            // What is not there has nothing in it; only `..` leads back to what may be.
            if seen == Seen::Nothing && !goes_up {
                break;
            }
        }
    }

    fn look(&mut self, here: &[u8], ahead: &mut VecDeque<Vec<u8>>) -> Seen {
        let seen = match read_link(here) {
            Ok(target) => {
                let bytes = target.as_bytes();
                ahead.push_back(match bytes.first() {
                    Some(b'/') => bytes.to_vec(),
                    _ => [parent(here), b"/", bytes].concat(),
                });
                self.found.push(Link {
                    path: String::from_utf8_lossy(here).into_owned(),
                    target: String::from_utf8_lossy(bytes).into_owned(),
                });
                Seen::Something
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Seen::Nothing,
            Err(_) => Seen::Something,
        };
        self.seen.insert(here.to_vec(), seen);
        seen
    }
}

/// Most places are no links, so it is asked for one byte of the target first: that needs no room on the heap.
fn read_link(path: &[u8]) -> Result<CString, Errno> {
    readlinkat_raw(CWD, path, &mut [0; 1])?;
    readlinkat(CWD, path, Vec::new())
}

/// The folder that holds an absolute path; empty for the root.
fn parent(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    slash
        .and_then(|slash| path.get(..slash))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::os::unix::fs::symlink;
    use std::path::{Component, PathBuf};

    use serde_json::json;

    use super::*;

    #[test]
    fn links_are_found_on_the_way_and_behind_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let prefix = format!("{}/", root.display());
        std::fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("second")).unwrap();
        symlink(root.join("second"), root.join("first")).unwrap();
        symlink(root.join("loop"), root.join("loop")).unwrap();
        symlink("..", root.join("real/up")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        let names = |command: &str| {
            let input = json!({ "command": command });
            let links = Call::new("Bash", input, &root).with_links().links;
            let names = links
                .iter()
                .filter_map(|link| link.path.strip_prefix(&prefix));
            let mut names: Vec<String> = names.map(str::to_owned).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names("cat first/file loop/x"), ["first", "loop", "second"]);
        assert_eq!(
            names("cat real/up/loop"),
            ["loop", "real/up", "real/up/loop"]
        );
        assert_eq!(names("cat .//real/./up"), ["real/up"]);
        // What is not there hides nothing that is.
        assert_eq!(names("cat gone/first gone/../loop"), ["loop"]);
        assert_eq!(names("cat file/x gone/x/../../loop"), ["loop"]);
        assert_eq!(names("cat gone/x/y file real"), [""; 0]);
        let elsewhere = format!("cat /gone/x {prefix}loop {prefix}gone/..//second");
        assert_eq!(names(&elsewhere), ["loop", "second"]);
    }

    /// Every place on the way, one after the other.
    fn looked_up_plainly(mentioned: Vec<String>) -> Vec<Link> {
        let mut ahead: VecDeque<PathBuf> = mentioned.into_iter().map(PathBuf::from).collect();
        let mut looked = HashSet::new();
        let mut found = Vec::new();
        while let Some(path) = ahead.pop_front() {
            let mut here = PathBuf::from("/");
            for component in path.components() {
                match component {
                    Component::ParentDir => {
                        here.pop();
                        continue;
                    }
                    Component::Normal(name) => here.push(name),
                    _ => continue,
                }
                if looked.insert(here.clone())
                    && let Ok(target) = std::fs::read_link(&here)
                {
                    ahead.push_back(here.parent().unwrap().join(&target));
                    found.push(Link {
                        path: here.to_str().unwrap().to_owned(),
                        target: target.to_str().unwrap().to_owned(),
                    });
                }
            }
        }
        found
    }

    #[test]
    fn no_link_is_missed_for_the_sake_of_fewer_looks() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/deep")).unwrap();
        std::fs::write(root.join("file"), "").unwrap();
        symlink("real", root.join("link")).unwrap();
        symlink("../link/up", root.join("real/over")).unwrap();
        symlink("..", root.join("real/up")).unwrap();
        symlink(root.join("gone/x"), root.join("dangling")).unwrap();
        let names = [
            "real", "deep", "link", "over", "up", "dangling", "gone", "file", "..", ".", "",
        ];
        let count = names.len();
        let name = |number: usize| names[number % count];
        for number in 0..count.pow(3) {
            let (second, third) = (number / count, number / count.pow(2));
            let place = format!("{}/{}/{}", name(number), name(second), name(third));
            for path in [place.clone(), format!("{}/{place}", root.display())] {
                let input = json!({"command": format!("cat {path} link gone/{place}")});
                let call = Call::new("Bash", input, &root);
                let plainly = looked_up_plainly(path::mentioned(&call.facts()));
                assert_eq!(links(&call.facts()), plainly, "{path}");
            }
        }
    }
}
