//! How long a server takes to be there.

use crate::connection::{attach, open};
use crate::options::Opts;
use crate::process::proc_stat;
use crate::Res;
use serde_json::{json, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

pub(crate) async fn probe(o: Arc<Opts>, cmd: Vec<String>) -> Res<Value> {
    let (prog, args) = cmd.split_first().ok_or("probe: no program after --")?;
    let t0 = Instant::now();
    let mut child = Command::new(prog)
        .args(args)
        .kill_on_drop(true)
        .spawn()
        .map_err(|e| format!("{prog}: {e}"))?;
    let ws = loop {
        if t0.elapsed() > o.timeout {
            return Err("server did not come up".into());
        }
        if let Ok(Some(s)) = child.try_wait() {
            return Err(format!("server ended: {s}"));
        }
        match open(&o, None).await {
            Ok(ws) => break ws,
            Err(_) => tokio::time::sleep(Duration::from_micros(500)).await,
        }
    };
    let up = t0.elapsed();
    drop(ws);
    let t1 = Instant::now();
    let (ws, _) = tokio::time::timeout(o.timeout, attach(&o, None, false))
        .await
        .map_err(|_| "timeout")??;
    let first_session = t1.elapsed();
    let pid = child.id().unwrap_or(0);
    let stat = proc_stat(pid);
    drop(ws);
    tokio::time::sleep(Duration::from_millis(50)).await;
    end(&mut child).await;
    Ok(
        json!({"first_ws_ms": up.as_secs_f64() * 1e3, "first_session_ms": first_session.as_secs_f64() * 1e3,
        "rss_kb": stat.rss_kb, "cpu_ms": stat.cpu_ns as f64 / 1e6}),
    )
}

/// In order, so that a server ends its agents, too.
async fn end(child: &mut Child) {
    if let Some(pid) = child.id() {
        let _ = Command::new("kill").arg(pid.to_string()).status().await;
    }
    if tokio::time::timeout(Duration::from_secs(5), child.wait())
        .await
        .is_err()
    {
        let _ = child.kill().await;
    }
}
