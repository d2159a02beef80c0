//! A tool call with the facts that judging it needs.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use sayso_policy::{Link, ToolCall, path};
use serde_json::Value;

/// As many places as are looked at for links; a call that names more is not allowed by a rule anyway.
const MAXIMUM_LOOKS: usize = 2000;

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
    let mut ahead: VecDeque<PathBuf> = path::mentioned(call)
        .into_iter()
        .map(PathBuf::from)
        .collect();
    let mut looked: HashSet<OsString> = HashSet::new();
    let mut found = Vec::new();
    while let Some(path) = ahead.pop_front() {
        let mut here = PathBuf::from("/");
        for component in path.components() {
            match component {
                Component::RootDir | Component::CurDir | Component::Prefix(_) => continue,
                Component::ParentDir => {
                    here.pop();
                    continue;
                }
                Component::Normal(name) => here.push(name),
            }
            // By their bytes: paths are compared part by part.
            if looked.len() >= MAXIMUM_LOOKS || !looked.insert(here.as_os_str().to_owned()) {
                continue;
            }
            let Ok(target) = std::fs::read_link(&here) else {
                continue;
            };
            let parent = here.parent().unwrap_or(Path::new("/"));
            ahead.push_back(parent.join(&target));
            found.push(Link {
                path: here.to_string_lossy().into_owned(),
                target: target.to_string_lossy().into_owned(),
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;

    #[test]
    fn links_are_found_on_the_way_and_behind_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        symlink("real", root.join("second")).unwrap();
        symlink(root.join("second"), root.join("first")).unwrap();
        symlink(root.join("loop"), root.join("loop")).unwrap();
        let input = json!({"command": "cat first/file loop/x"});
        let call = Call::new("Bash", input, &root).with_links();
        let mut names: Vec<&str> = call
            .links
            .iter()
            .filter_map(|link| link.path.rsplit('/').next())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["first", "loop", "second"]);
    }
}
