//! From a configuration and a listener to a running server, and back down.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use sayso_store::{Store, UnixMillis};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::access::{Access, AccessError, Secret};
use crate::agents::{self, Agents};
use crate::config::Config;
use crate::hub::{Hub, HubHandle, HubMessage};
use crate::listen::{self, Fingerprint, Listen};
use crate::notify::Notifications;
use crate::web::{self, Site};

/// A server that is open for requests once `run` is polled.
#[derive(Debug)]
pub struct Server {
    hub: Hub,
    router: axum::Router,
    access: Access,
    notifications: Notifications,
    site: Site,
    listen: Listen,
    claude: Option<PathBuf>,
    /// The history, and how long its entries are kept.
    forgetting: Option<(Store, Duration)>,
    store: Store,
}

impl Server {
    /// Opens the store and everything on it. `own_program` is the `sayso`
    /// program, which is also the demo agent.
    pub async fn open(
        config: Config,
        secret: Secret,
        listener: TcpListener,
        own_program: PathBuf,
    ) -> anyhow::Result<Self> {
        let store = Store::open_with(config.database(), config.durability.into()).await?;
        let listen = Listen::open(&config, &store, listener).await?;
        let agents = Agents::find(&config, own_program);
        let claude = agents.claude_path().map(std::path::Path::to_owned);
        let site = Site {
            address: listen.address(),
            allow_hosts: listen::host_values(&config.allow_hosts, listen.address()),
            allow_origins: config.allow_origins.clone(),
            secure: listen.is_secure(),
            fingerprint: listen.fingerprint().map(|print| print.to_string()),
            behind_proxy: config.behind_proxy,
            public_host: listen::public_host(
                &config.allow_hosts,
                listen.address(),
                config.behind_proxy,
            ),
        };
        let keep_history = config.keep_history.0;
        let config = Arc::new(config);
        let hub = Hub::open(Arc::clone(&config), agents, store.clone()).await?;
        let forgetting = keep_history.map(|kept| (store.clone(), kept));
        let access = Access::open(&store, hub.handle(), secret).await?;
        let notifications = Notifications::open(
            &config,
            &store,
            hub.handle(),
            access.clone(),
            site.base_url(),
        )
        .await?;
        let router = web::router(
            hub.handle(),
            store.clone(),
            access.clone(),
            notifications.clone(),
            &site,
        );
        Ok(Self {
            hub,
            router,
            access,
            notifications,
            site,
            listen,
            claude,
            forgetting,
            store,
        })
    }

    /// A link that lets one browser in, for the terminal.
    pub fn link(&self) -> Result<String, AccessError> {
        let secret = self.access.printed_link()?;
        Ok(self
            .site
            .link(&self.site.address.to_string(), secret.expose()))
    }

    pub fn address(&self) -> SocketAddr {
        self.listen.address()
    }

    /// Where a browser finds the server.
    pub fn url(&self) -> String {
        let scheme = if self.listen.is_secure() {
            "https"
        } else {
            "http"
        };
        format!("{scheme}://{}", self.listen.address())
    }

    /// Of the certificate. `None` without TLS.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.listen.fingerprint()
    }

    /// Serves until `shutdown` is cancelled and everything has ended in order.
    pub async fn run(self, shutdown: CancellationToken) -> anyhow::Result<()> {
        let handle = self.hub.handle();
        if let Some(claude) = self.claude {
            tokio::spawn(report_version(claude, handle.clone()));
        }
        if let Some((store, kept)) = self.forgetting {
            tokio::spawn(forget_old_entries(store, kept, shutdown.clone()));
        }
        tokio::spawn(self.access.announce());
        tokio::spawn(self.notifications.run(shutdown.clone()));
        let mut hub = tokio::spawn(self.hub.run());
        let closing = shutdown.clone();
        let hub_closing = handle.clone();
        let stop = async move {
            closing.cancelled().await;
            // A hub that has ended needs no telling.
            let _ = hub_closing.send(HubMessage::ShutDown).await;
        };
        tokio::spawn(stop);
        let serving = self.listen.serve(self.router, shutdown);
        tokio::pin!(serving);
        let fault = "A fault inside Sayso has ended it. Agents wait for their answers; start it again to go on";
        tokio::select! {
            error = damage(self.store) => Err(error.into()),
            () = &mut serving => hub.await.context(fault)?.context(fault),
            // Without the hub nothing can be answered: rather no server than one that looks alive.
            ended = &mut hub => {
                ended.context(fault)?.context(fault)?;
                serving.await;
                Ok(())
            }
        }
    }
}

/// Goes on looking for damage in a database that was too large for that at the start.
async fn damage(store: Store) -> sayso_store::OpenError {
    match store.look_at_the_rest().await {
        Err(error @ sayso_store::OpenError::Corrupt { .. }) => return error,
        Err(error) => tracing::warn!(%error, "the database could not be checked"),
        Ok(()) => {}
    }
    drop(store);
    std::future::pending().await
}

/// Removes what is older than it has to be, once a day.
async fn forget_old_entries(store: Store, kept: Duration, shutdown: CancellationToken) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
    loop {
        let now = jiff::Timestamp::now().as_millisecond();
        let before = UnixMillis(now.saturating_sub(kept));
        match store.cut_audit(before, UnixMillis(now)).await {
            Ok(cut) if cut.removed > 0 => {
                tracing::info!(
                    removed = cut.removed,
                    "old entries of the history were removed"
                );
            }
            Ok(_) => {}
            Err(error) => tracing::error!(%error, "the history was not shortened"),
        }
        tokio::select! {
            () = tokio::time::sleep(DAY) => {}
            () = shutdown.cancelled() => return,
        }
    }
}

async fn report_version(claude: PathBuf, hub: HubHandle) {
    if let Some(version) = agents::version_of(&claude).await {
        // A hub that has ended needs no version.
        let _ = hub.send(HubMessage::ClaudeVersion(version)).await;
    }
}
