//! Paths that may lead somewhere else than they seem to.

use crate::visible::deceptive;

/// Longer paths cannot be opened.
pub(crate) const MAX_BYTES: usize = 4_096;
const MAX_COMPONENT_BYTES: usize = 255;

/// Why no rule may allow `path`, as it is written.
pub(crate) fn doubt(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("the path is empty");
    }
    if deceptive(path).is_some() {
        return Some("the path has characters that do not show");
    }
    if path.trim() != path {
        return Some("the path begins or ends with blanks");
    }
    if path.contains('\\') {
        return Some("the path has backslashes, which some systems read as separators");
    }
    if path.starts_with('~') || path.starts_with("//") {
        return Some("the path begins in a way that programs read differently");
    }
    if path.len() > MAX_BYTES || path.split('/').any(|part| part.len() > MAX_COMPONENT_BYTES) {
        return Some("the path is too long");
    }
    if path.split('/').any(|component| component == "..") {
        return Some("the path goes up with `..`");
    }
    let special = ["/proc", "/dev", "/sys"];
    if special.iter().any(|folder| super::is_within(path, folder)) {
        return Some("the path names a device or a process");
    }
    None
}
