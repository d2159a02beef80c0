//! How many connections the process's open files allow. The rest belongs to
//! the database and the agents, and no flood of connections takes it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for all connections and as much for everything else.
const WANTED: u64 = 4096;
/// No server of one person needs more.
const MOST_CONNECTIONS: u64 = 2048;

/// Raises the soft limit if it may, and gives back how many connections there may be.
pub(super) fn connections() -> usize {
    share(raise())
}

fn raise() -> u64 {
    let now = getrlimit(Resource::Nofile);
    let Some(current) = now.current else {
        return WANTED;
    };
    let wanted = now.maximum.map_or(WANTED, |hard| hard.min(WANTED));
    if current >= wanted {
        return current;
    }
    let raised = Rlimit {
        current: Some(wanted),
        maximum: now.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => wanted,
        Err(_) => current,
    }
}

/// Half of the files at most.
fn share(files: u64) -> usize {
    let connections = (files / 2).min(MOST_CONNECTIONS);
    usize::try_from(connections).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_half_of_the_files_to_others() {
        for (files, connections) in [(0, 1), (64, 32), (1024, 512), (4096, 2048), (1 << 30, 2048)] {
            assert_eq!(share(files), connections, "{files}");
        }
    }
}
