//! Sessions that work, and whoever looks on.

use crate::connection::{attach, next_text, send, text_of, Ws};
use crate::dialect::Event;
use crate::options::Opts;
use crate::process::{own_cpu, whole};
use crate::report::report;
use crate::Res;
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{watch, Semaphore};

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) frames: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) asks: AtomicU64,
    pub(crate) deltas: AtomicU64,
}

pub(crate) struct Done {
    pub(crate) figures: Option<Value>,
    pub(crate) first_ask_us: Option<f64>,
    pub(crate) first_delta_us: Option<f64>,
    pub(crate) last_delta_us: Option<f64>,
    pub(crate) result_us: f64,
    pub(crate) deltas: u64,
    pub(crate) hold_ns: Vec<u64>,
}

pub(crate) async fn run(o: Arc<Opts>) -> Res<Value> {
    let seen = Arc::new(Seen::default());
    let gate = Arc::new(Semaphore::new(o.setup));
    let t_setup = Instant::now();

    // Owners first, then the viewers of each.
    let mut joining = vec![];
    for _ in 0..o.sessions {
        let (o, gate) = (o.clone(), gate.clone());
        joining.push(tokio::spawn(async move {
            let _permit = gate.acquire().await.map_err(|e| e.to_string())?;
            let t = Instant::now();
            let (ws, id) = attach(&o, None, false).await?;
            Ok::<_, String>((ws, id, t.elapsed()))
        }));
    }
    let mut conns: Vec<(Ws, String, bool)> = vec![];
    let mut ready_ms: Vec<f64> = vec![];
    for j in joining {
        let (ws, id, took) = tokio::time::timeout(o.timeout, j)
            .await
            .map_err(|_| "timeout opening sessions")?
            .map_err(|e| e.to_string())??;
        ready_ms.push(took.as_secs_f64() * 1e3);
        conns.push((ws, id, true));
    }
    for i in 0..o.sessions {
        let id = conns[i].1.clone();
        for _ in 0..o.viewers {
            let (ws, _) = attach(&o, Some(&id), true).await?;
            conns.push((ws, id.clone(), false));
        }
    }
    let mut stalled = vec![];
    for i in 0..o.sessions {
        let id = conns[i].1.clone();
        for _ in 0..o.stalled {
            stalled.push(attach(&o, Some(&id), true).await?.0);
        }
    }
    let setup = t_setup.elapsed();
    tokio::time::sleep(Duration::from_millis(100)).await;

    let before = o.server_pid.map(|pid| whole(pid, o.also.as_deref()));
    let cpu_before = own_cpu();
    let (go, start) = watch::channel(None::<Instant>);
    let mut tasks = vec![];
    for (ws, id, owner) in conns {
        let (o, seen, mut start) = (o.clone(), seen.clone(), start.clone());
        tasks.push(tokio::spawn(async move {
            let _ = start.changed().await;
            let t0 = start.borrow().unwrap_or_else(Instant::now);
            drive(&o, ws, &id, owner, t0, &seen).await
        }));
    }
    let t0 = Instant::now();
    let _ = go.send(Some(t0));
    let mut done = vec![];
    let mut errors = vec![];
    for t in tasks {
        let left = o.timeout.saturating_sub(t0.elapsed());
        match tokio::time::timeout(left, t).await {
            Ok(Ok(Ok(d))) => done.push(d),
            Ok(Ok(Err(e))) => errors.push(e),
            Ok(Err(e)) => errors.push(e.to_string()),
            Err(_) => errors.push("timeout".into()),
        }
    }
    let wall = t0.elapsed();
    tokio::time::sleep(Duration::from_millis(30)).await;
    let after = o.server_pid.map(|pid| whole(pid, o.also.as_deref()));
    let cpu = own_cpu() - cpu_before;
    errors.sort();
    errors.dedup();
    drop(stalled);
    Ok(report(
        &o,
        done,
        errors,
        wall,
        setup,
        ready_ms,
        before.zip(after),
        cpu,
        &seen,
    ))
}

async fn drive(o: &Opts, mut ws: Ws, id: &str, owner: bool, t0: Instant, seen: &Seen) -> Res<Done> {
    let mut d = Done {
        figures: None,
        first_ask_us: None,
        first_delta_us: None,
        last_delta_us: None,
        result_us: 0.0,
        deltas: 0,
        hold_ns: vec![],
    };
    let us = |t: Instant| t.duration_since(t0).as_secs_f64() * 1e6;
    if owner {
        send(&mut ws, o.dialect.chat(id, &o.job)).await?;
    }
    let mut turns = 0;
    let mut frames = 0;
    loop {
        let m = next_text(&mut ws).await?;
        let at = Instant::now();
        let frame = text_of(&m);
        frames += 1;
        seen.frames.fetch_add(1, Relaxed);
        seen.bytes.fetch_add(frame.len() as u64, Relaxed);
        if let Some(a) = o.dialect.ack(frames, frame) {
            send(&mut ws, a).await?;
        }
        match o.dialect.read(frame) {
            Event::Ask { id: ask, digest } if owner => {
                let a = o.dialect.answer(id, ask, digest, true);
                send(&mut ws, a).await?;
                d.hold_ns.push(at.elapsed().as_nanos() as u64);
                d.first_ask_us.get_or_insert_with(|| us(at));
                seen.asks.fetch_add(1, Relaxed);
            }
            Event::Delta { count } => {
                d.deltas += count;
                d.first_delta_us.get_or_insert_with(|| us(at));
                d.last_delta_us = Some(us(at));
                seen.deltas.fetch_add(count, Relaxed);
            }
            Event::Result { escaped } => {
                turns += 1;
                if owner {
                    let text: String = serde_json::from_str(&format!("\"{escaped}\""))
                        .map_err(|e| e.to_string())?;
                    let f: Value =
                        serde_json::from_str(&text).map_err(|e| format!("result {text}: {e}"))?;
                    d.figures = Some(f);
                }
                d.result_us = us(at);
                if turns >= o.repeat {
                    // Kept open until the process ends, so that closing does
                    // not load the server while others are still measured.
                    std::mem::forget(ws);
                    return Ok(d);
                }
                if owner {
                    send(&mut ws, o.dialect.chat(id, &o.job)).await?;
                }
            }
            Event::Error { text } => return Err(text.to_string()),
            _ => {}
        }
    }
}
