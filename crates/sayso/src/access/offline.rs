//! `sayso password remove`: for whoever forgot it, with the server stopped.

use anyhow::Context;
use sayso_store::{Store, Write, WriteJob, Writer};
use serde_json::json;
use tokio::sync::mpsc;

use super::managing::entry;
use super::scopes::Pass;
use crate::config::Config;

/// Says whether there was one. A running server keeps the database to itself,
/// so only somebody at this machine's terminal gets here.
pub async fn remove_password(config: &Config) -> anyhow::Result<bool> {
    let store = Store::open(config.database()).await?;
    if store.password().await?.is_none() {
        store.close().await;
        return Ok(false);
    }
    let (sender, mut completions) = mpsc::channel(1);
    let writer = Writer::start(store.clone(), sender, 1).context("The writer did not start")?;
    let by = Pass {
        label: "the command line".to_owned(),
        ..Pass::sayso()
    };
    let writes = vec![
        Write::SetPassword(None),
        entry(&by, "password removed", "", &json!({})),
    ];
    writer
        .submit(WriteJob { token: 0, writes })
        .context("The removal could not be written")?;
    let written = completions.recv().await;
    written
        .context("The writer ended")?
        .result
        .context("The removal could not be written")?;
    drop(writer);
    // The writer signs what it wrote before it ends.
    while completions.recv().await.is_some() {}
    store.close().await;
    Ok(true)
}
