//! What processes have used.

use std::time::Duration;

#[derive(Default, Clone, Copy)]
pub(crate) struct ProcStat {
    pub(crate) cpu_ns: u64,
    pub(crate) rss_kb: u64,
    pub(crate) peak_kb: u64,
    pub(crate) threads: u64,
}

pub(crate) fn proc_stat(pid: u32) -> ProcStat {
    let mut s = ProcStat::default();
    if let Ok(dir) = std::fs::read_dir(format!("/proc/{pid}/task")) {
        for e in dir.flatten() {
            s.threads += 1;
            if let Ok(t) = std::fs::read_to_string(e.path().join("schedstat")) {
                s.cpu_ns += t
                    .split_whitespace()
                    .next()
                    .and_then(|v| v.parse().ok())
                    .unwrap_or(0);
            }
        }
    }
    if let Ok(t) = std::fs::read_to_string(format!("/proc/{pid}/status")) {
        let kb = |k: &str| {
            t.lines()
                .find_map(|l| l.strip_prefix(k))
                .and_then(|v| v.split_whitespace().next())
                .and_then(|v| v.parse().ok())
                .unwrap_or(0)
        };
        s.rss_kb = kb("VmRSS:");
        s.peak_kb = kb("VmHWM:");
    }
    s
}

/// The server with its other processes: their time, and the memory of the server alone.
pub(crate) fn whole(pid: u32, also: Option<&str>) -> ProcStat {
    let mut sum = proc_stat(pid);
    let Some(also) = also else { return sum };
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let other: Option<u32> = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let Some(other) = other.filter(|other| *other != pid) else {
            continue;
        };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
        // The agents have the folder nowhere, and this program only in its own arguments.
        let is_server = first.ends_with(b"sayso");
        if is_server && String::from_utf8_lossy(&line).contains(also) {
            sum.cpu_ns += proc_stat(other).cpu_ns;
        }
    }
    sum
}

pub(crate) fn own_cpu() -> Duration {
    Duration::from_nanos(proc_stat(std::process::id()).cpu_ns)
}
