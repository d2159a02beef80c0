//! Sessions that are held open, for what they take of the server's memory.

use crate::connection::{attach, next_text, send, text_of};
use crate::dialect::Event;
use crate::options::Opts;
use crate::Res;
use serde_json::{json, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt;
use tokio::sync::Semaphore;

pub(crate) async fn hold(o: Arc<Opts>) -> Res<Value> {
    let gate = Arc::new(Semaphore::new(o.setup));
    let t0 = Instant::now();
    let mut joining = vec![];
    for _ in 0..o.sessions {
        let (o, gate) = (o.clone(), gate.clone());
        joining.push(tokio::spawn(async move {
            let _permit = gate.acquire().await.map_err(|e| e.to_string())?;
            let (mut ws, id) = attach(&o, None, false).await?;
            if o.pending > 0 {
                send(&mut ws, o.dialect.chat(&id, &o.job)).await?;
                let mut asks = 0;
                while asks < o.pending {
                    let m = next_text(&mut ws).await?;
                    if let Event::Ask { .. } = o.dialect.read(text_of(&m)) {
                        asks += 1;
                    }
                }
            }
            let mut held = vec![ws];
            for _ in 0..o.viewers {
                held.push(attach(&o, Some(&id), true).await?.0);
            }
            Ok::<_, String>(held)
        }));
    }
    let mut held = vec![];
    for j in joining {
        held.extend(
            tokio::time::timeout(o.timeout, j)
                .await
                .map_err(|_| "timeout opening sessions")?
                .map_err(|e| e.to_string())??,
        );
    }
    println!(
        "{}",
        json!({"ready": true, "sockets": held.len(), "pending": o.pending * o.sessions, "ms": t0.elapsed().as_millis() as u64})
    );
    let mut b = [0u8; 1];
    let _ = tokio::io::stdin().read(&mut b).await;
    for ws in &mut held {
        let _ = tokio::time::timeout(Duration::from_millis(200), ws.close(None)).await;
    }
    Ok(json!({"closed": held.len()}))
}
