//! Where connections come in: who gets a place, how long each may take, and
//! what is encrypted. Knows nothing of what is served.

mod accept;
mod bind;
mod bucket;
mod client;
mod connection;
mod descriptors;
mod hosts;
mod lobby;
mod places;
mod self_signed;
mod source;
mod stream;
mod tls;

use std::net::SocketAddr;

use anyhow::Context;
use axum::Router;
use jiff::Timestamp;
use sayso_store::Store;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use bind::{Encryption, Reach, Refusal, bind, has_enrolled_device, is_local, may_listen};
pub(crate) use bucket::Bucket;
pub use client::{Connection, OwnServer};
pub(crate) use connection::Visitor;
pub(crate) use hosts::{host_values, public_host};
pub(crate) use source::Source;
pub use tls::{Fingerprint, Tls, TlsError};

use crate::config::{Config, TlsMode};
use lobby::Lobby;
use places::{Limits, Sharing};

/// Before the address is bound: where Sayso may not listen, nobody shall be able to connect for a moment either.
pub async fn check_reach(config: &Config) -> anyhow::Result<()> {
    if is_local(config.listen.ip()) {
        return Ok(());
    }
    let store = Store::open(config.database()).await?;
    let reach = reach(config, config.listen, &store).await;
    store.close().await;
    Ok(may_listen(&reach)?)
}

async fn reach(config: &Config, listen: SocketAddr, store: &Store) -> Reach {
    let encryption = if config.tls.is_some() || config.tls_cert.is_some() {
        Encryption::Tls
    } else if config.behind_proxy {
        Encryption::Proxy
    } else {
        Encryption::None
    };
    Reach {
        listen,
        encryption,
        has_allowed_host: !config.allow_hosts.is_empty(),
        has_enrolled_device: has_enrolled_device(store).await,
    }
}

/// Unproven connections at once; less where files are scarce.
const MOST_UNPROVEN: usize = 512;

/// A bound address that may be listened on, and what protects it.
#[derive(Debug)]
pub struct Listen {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<Tls>,
    sharing: Sharing,
}

impl Listen {
    /// Refuses an address that others could reach without protection.
    pub async fn open(
        config: &Config,
        store: &Store,
        listener: TcpListener,
    ) -> anyhow::Result<Self> {
        let address = listener
            .local_addr()
            .context("The listener has no address.")?;
        may_listen(&reach(config, address, store).await)?;
        let tls = tls(config, address)?;
        let sharing = if is_local(address.ip()) || config.behind_proxy {
            Sharing::None
        } else {
            Sharing::ByAddress
        };
        Ok(Self {
            listener,
            address,
            tls,
            sharing,
        })
    }

    /// Without encryption, so for this machine only.
    pub fn plain(listener: TcpListener) -> anyhow::Result<Self> {
        let address = listener
            .local_addr()
            .context("The listener has no address.")?;
        may_listen(&Reach {
            listen: address,
            encryption: Encryption::None,
            has_allowed_host: false,
            has_enrolled_device: false,
        })?;
        Ok(Self {
            listener,
            address,
            tls: None,
            sharing: Sharing::None,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether whoever connects speaks TLS to this server itself.
    pub fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Of the certificate, for whoever pairs a device. `None` without TLS.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.tls.as_ref().map(Tls::fingerprint)
    }

    /// Serves until `shutdown` is cancelled and every connection has had its last answer.
    pub async fn serve(self, router: Router, shutdown: CancellationToken) {
        let connections = descriptors::connections();
        let lobby = Lobby::new(Limits {
            connections,
            unproven: MOST_UNPROVEN.min(connections.div_ceil(2)),
            sharing: self.sharing,
        });
        let offer = connection::Offer {
            router,
            tls: self.tls,
            shutdown,
        };
        accept::run(&self.listener, &lobby, &offer).await;
    }
}

fn tls(config: &Config, address: SocketAddr) -> Result<Option<Tls>, TlsError> {
    let now = Timestamp::now();
    match (config.tls, &config.tls_cert, &config.tls_key) {
        (None, None, None) => Ok(None),
        (None, Some(certificate), Some(key)) => {
            tls::check_key(key)?;
            Tls::from_files(certificate, key, now).map(Some)
        }
        (Some(TlsMode::SelfSigned), None, None) => {
            self_signed::open(&config.data_dir, address, &config.allow_hosts, now).map(Some)
        }
        (Some(TlsMode::SelfSigned), _, _) => Err(TlsError::Both),
        (None, Some(_), None) | (None, None, Some(_)) => Err(TlsError::Half),
    }
}
