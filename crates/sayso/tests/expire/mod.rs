//! Devices whose time is over, or soon will be: written into the store of a server that is stopped.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use sayso_store::{Store, UnixMillis, Write, WriteJob, Writer};
use tokio::sync::mpsc;

/// Puts the end of every device this far from now.
pub(crate) async fn all(database: &Path, from_now: SignedDuration) {
    let store = Store::open(database).await.unwrap();
    let (sender, mut completions) = mpsc::channel(1);
    let writer = Writer::start(store.clone(), sender, 1).unwrap();
    let end = Timestamp::now().checked_add(from_now).unwrap();
    let at = UnixMillis(end.as_millisecond());
    let devices = store.devices().await.unwrap();
    let writes = devices.iter().map(|device| Write::DeviceSeen {
        id: device.id,
        at: device.last_seen_at,
        expires_at: Some(at),
    });
    let writes: Vec<Write> = writes.collect();
    assert!(!writes.is_empty());
    writer.submit(WriteJob { token: 0, writes }).unwrap();
    completions.recv().await.unwrap().result.unwrap();
    drop(writer);
    assert!(completions.recv().await.is_none(), "the writer has ended");
    store.close().await;
}
