//! Following symbolic links that the caller found.

use crate::call::{Link, ToolCall};

/// As many as a kernel follows before it gives up.
const MAX_LINKS: usize = 40;

/// Where `path` (absolute, `..` allowed) leads when the links are followed the
/// way the kernel does; nothing when they go in circles.
pub(crate) fn resolve(path: &str, links: &[Link]) -> Option<String> {
    let mut ahead: Vec<&str> = components(path).rev().collect();
    let mut resolved = String::new();
    let mut followed = 0;
    while let Some(component) = ahead.pop() {
        if component == ".." {
            let parent = resolved.rfind('/').unwrap_or(0);
            resolved.truncate(parent);
            continue;
        }
        let parent = resolved.len();
        resolved.push('/');
        resolved.push_str(component);
        let Some(link) = links.iter().find(|link| same_path(&link.path, &resolved)) else {
            continue;
        };
        followed += 1;
        if followed > MAX_LINKS {
            return None;
        }
        let restart = if link.target.starts_with('/') {
            0
        } else {
            parent
        };
        resolved.truncate(restart);
        ahead.extend(components(&link.target).rev());
    }
    if resolved.is_empty() {
        resolved.push('/');
    }
    Some(resolved)
}

/// `path` of `call`, absolute, with `..` kept: what it means depends on links.
pub(crate) fn joined(call: &ToolCall<'_>, path: &str) -> String {
    let mut joined = String::new();
    write_joined(&mut joined, call, path);
    joined
}

/// Appends what [`joined`] makes.
pub(super) fn write_joined(text: &mut String, call: &ToolCall<'_>, path: &str) {
    let parts = match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => [call.home, "", rest],
        _ if path.starts_with('/') => ["", "", path],
        _ => [call.cwd, "/", path],
    };
    text.reserve(parts.iter().map(|part| part.len()).sum());
    text.extend(parts);
}

fn components(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/')
        .filter(|component| !component.is_empty() && *component != ".")
}

fn same_path(link: &str, path: &str) -> bool {
    link.trim_end_matches('/') == path
}

#[cfg(test)]
mod tests {
    use super::resolve;
    use crate::call::Link;

    fn links(pairs: &[(&str, &str)]) -> Vec<Link> {
        let link = |(path, target): &(&str, &str)| Link {
            path: (*path).to_owned(),
            target: (*target).to_owned(),
        };
        pairs.iter().map(link).collect()
    }

    #[test]
    fn links_are_followed_at_every_component() {
        let links = links(&[("/w/d", "/home/u/.ssh"), ("/home/u/.ssh/k", "../key")]);
        assert_eq!(resolve("/w/d/k", &links).as_deref(), Some("/home/u/key"));
        assert_eq!(resolve("/w/e", &links).as_deref(), Some("/w/e"));
        assert_eq!(resolve("/w/d/../x", &links).as_deref(), Some("/home/u/x"));
    }

    #[test]
    fn as_many_links_are_followed_as_a_kernel_follows() {
        let chain: Vec<_> = (0..41)
            .map(|at| (format!("/{at}"), format!("/{}", at + 1)))
            .collect();
        let chain: Vec<_> = chain
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(resolve("/1", &links(&chain)).as_deref(), Some("/41"));
        assert_eq!(resolve("/0", &links(&chain)), None);
    }

    #[test]
    fn a_circle_leads_nowhere() {
        let links = links(&[("/a", "/b"), ("/b", "/a")]);
        assert_eq!(resolve("/a/x", &links), None);
    }
}
