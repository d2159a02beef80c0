//! The figures of a run.

use crate::options::Opts;
use crate::process::ProcStat;
use crate::run::{Done, Seen};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

#[allow(clippy::too_many_arguments)]
pub(crate) fn report(
    o: &Opts,
    done: Vec<Done>,
    errors: Vec<String>,
    wall: Duration,
    setup: Duration,
    mut ready_ms: Vec<f64>,
    stat: Option<(ProcStat, ProcStat)>,
    cpu: Duration,
    seen: &Seen,
) -> Value {
    let mut hist: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut count, mut max, mut agent_wall, mut worst_p99) = (0u64, 0f64, 0f64, 0f64);
    let (mut p50s, mut p90s, mut p99s) = (vec![], vec![], vec![]);
    let mut answered = 0;
    for f in done
        .iter()
        .filter_map(|d| d.figures.as_ref())
        .filter(|f| f["job"] == "asks")
    {
        count += f["count"].as_u64().unwrap_or(0);
        answered += f["allowed"].as_u64().unwrap_or(0) + f["denied"].as_u64().unwrap_or(0);
        max = max.max(f["max_us"].as_f64().unwrap_or(0.0));
        worst_p99 = worst_p99.max(f["p99_us"].as_f64().unwrap_or(0.0));
        agent_wall = agent_wall.max(f["wall_us"].as_f64().unwrap_or(0.0));
        p50s.push(f["p50_us"].as_f64().unwrap_or(0.0));
        p90s.push(f["p90_us"].as_f64().unwrap_or(0.0));
        p99s.push(f["p99_us"].as_f64().unwrap_or(0.0));
        for b in f["hist_us"].as_array().into_iter().flatten() {
            *hist.entry(b[0].as_u64().unwrap_or(0)).or_default() += b[1].as_u64().unwrap_or(0);
        }
    }
    let q = |p: f64, exact: &[f64]| -> f64 {
        // One agent: its exact figure. Several: the merged histogram (4 % wide).
        if exact.len() == 1 {
            return exact[0];
        }
        let total: u64 = hist.values().sum();
        let want = (total as f64 * p).ceil() as u64;
        let mut sum = 0;
        for (b, n) in &hist {
            sum += n;
            if sum >= want {
                return 1.04f64.powf(*b as f64 + 0.5);
            }
        }
        0.0
    };
    let r = |x: f64| (x * 10.0).round() / 10.0;
    let mut holds: Vec<u64> = done
        .iter()
        .flat_map(|d| d.hold_ns.iter().copied())
        .collect();
    holds.sort_unstable();
    let hold = |p: f64| {
        holds
            .get(((holds.len() as f64 * p) as usize).min(holds.len().saturating_sub(1)))
            .map_or(0.0, |n| *n as f64 / 1e3)
    };
    let deltas: u64 = done.iter().map(|d| d.deltas).sum();
    let last = done
        .iter()
        .filter_map(|d| d.last_delta_us)
        .fold(0.0, f64::max);
    let first = done
        .iter()
        .filter_map(|d| d.first_delta_us)
        .fold(f64::INFINITY, f64::min);
    ready_ms.sort_by(f64::total_cmp);
    let mid = |v: &[f64]| v.get(v.len() / 2).copied().unwrap_or(0.0);
    let mut out = json!({
        "sessions": o.sessions, "viewers": o.viewers, "ok": done.len(), "errors": errors,
        "asks": count, "answered": answered,
        "p50_us": r(q(0.50, &p50s)), "p90_us": r(q(0.90, &p90s)), "p99_us": r(q(0.99, &p99s)), "max_us": r(max),
        "worst_session_p99_us": r(worst_p99),
        "asks_per_s": r(if agent_wall > 0.0 { count as f64 / agent_wall * 1e6 } else { 0.0 }),
        "wall_ms": r(wall.as_secs_f64() * 1e3), "setup_ms": r(setup.as_secs_f64() * 1e3),
        "session_ready_ms": r(mid(&ready_ms)), "session_ready_max_ms": r(ready_ms.last().copied().unwrap_or(0.0)),
        "frames": seen.frames.load(Relaxed), "bytes": seen.bytes.load(Relaxed), "client_asks": seen.asks.load(Relaxed),
        "client_hold_p50_us": r(hold(0.5)), "client_hold_p99_us": r(hold(0.99)),
        "client_cpu_ms": r(cpu.as_secs_f64() * 1e3),
        "first_ask_ms": done.iter().filter_map(|d| d.first_ask_us).reduce(f64::max).map(|u| r(u / 1e3)),
        "result_ms": r(done.iter().map(|d| d.result_us).fold(0.0, f64::max) / 1e3),
    });
    if deltas > 0 {
        let span = (last - first).max(1.0);
        out["deltas"] = json!(deltas);
        out["delta_span_ms"] = json!(r(span / 1e3));
        out["deltas_per_s_each"] = json!(r(deltas as f64 / done.len() as f64 / span * 1e6));
        out["deltas_per_s_total"] = json!(r(deltas as f64 / span * 1e6));
        out["first_delta_ms"] = json!(r(first / 1e3));
    }
    if let Some((a, b)) = stat {
        let ms = (b.cpu_ns.saturating_sub(a.cpu_ns)) as f64 / 1e6;
        out["server_cpu_ms"] = json!(r(ms));
        // Per ask answered (warm-up included), or per delta of the transcript.
        let units = if answered > 0 {
            answered
        } else {
            deltas / (1 + o.viewers as u64)
        };
        if units > 0 {
            out["server_cpu_us_per_unit"] = json!(r(ms * 1e3 / units as f64));
        }
        out["server_rss_kb"] = json!(b.rss_kb);
        out["server_peak_kb"] = json!(b.peak_kb);
        out["server_threads"] = json!(b.threads);
    }
    out
}
