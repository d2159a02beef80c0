//! Certificates: read, checked, and turned into something that can encrypt.

use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use sha2::{Digest, Sha256};
use tokio_rustls::TlsAcceptor;

/// What the server shows to whoever connects. Cheap to clone.
#[derive(Clone)]
pub struct Tls {
    pub(super) acceptor: TlsAcceptor,
    fingerprint: Fingerprint,
}

/// The SHA-256 of the certificate, as browsers show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("--tls-cert and --tls-key belong together: name both")]
    Half,
    #[error("--tls self-signed makes a certificate, --tls-cert names one: choose one of them")]
    Both,
    #[error("{} cannot be read or written: {fault}", path.display())]
    File {
        path: PathBuf,
        fault: std::io::Error,
    },
    #[error("{} holds no {what} in PEM form", path.display())]
    Missing { path: PathBuf, what: &'static str },
    #[error("The certificate in {} cannot be used: {reason}", path.display())]
    Unusable { path: PathBuf, reason: String },
    #[error("The certificate in {} is no longer valid since {since}", path.display())]
    Expired { path: PathBuf, since: Timestamp },
    #[error("The certificate in {} is not valid before {from}", path.display())]
    TooEarly { path: PathBuf, from: Timestamp },
    #[error("The key in {} does not belong to the certificate in {}", key.display(), certificate.display())]
    Mismatch { key: PathBuf, certificate: PathBuf },
    #[error(
        "Other users of this machine can read or change the key in {}: close it with `chmod o-rwx,g-w`",
        .0.display()
    )]
    Exposed(PathBuf),
    #[error("No certificate could be made: {0}")]
    NotMade(#[from] rcgen::Error),
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fingerprint = self.fingerprint.to_string();
        formatter.debug_tuple("Tls").field(&fingerprint).finish()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            let colon = if index == 0 { "" } else { ":" };
            write!(formatter, "{colon}{byte:02X}")?;
        }
        Ok(())
    }
}

impl Tls {
    /// With a certificate (and those between it and its root) and its key in PEM files.
    pub fn from_files(certificate: &Path, key: &Path, now: Timestamp) -> Result<Self, TlsError> {
        let chain = read_chain(certificate)?;
        let first = chain.first().ok_or_else(|| no_certificate(certificate))?;
        let facts = Facts::of(first, certificate)?;
        if now >= facts.until {
            return Err(TlsError::Expired {
                path: certificate.to_owned(),
                since: facts.until,
            });
        }
        if now < facts.from {
            return Err(TlsError::TooEarly {
                path: certificate.to_owned(),
                from: facts.from,
            });
        }
        let fingerprint = Fingerprint(Sha256::digest(first).into());
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
            pem::Error::Io(fault) => unreadable(key, fault),
            _ => TlsError::Missing {
                path: key.to_owned(),
                what: "private key",
            },
        })?;
        let built = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map(rustls::ConfigBuilder::<ServerConfig, _>::with_no_client_auth)
            .and_then(|builder| builder.with_single_cert(chain, private));
        let mut config = built.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => TlsError::Mismatch {
                key: key.to_owned(),
                certificate: certificate.to_owned(),
            },
            other => TlsError::Unusable {
                path: certificate.to_owned(),
                reason: other.to_string(),
            },
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            fingerprint,
        })
    }

    /// For whoever wants to know that it talks to this server and no other.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

/// A key must be its owner's secret. A group may read it, as where several servers share one.
pub(super) fn check_key(key: &Path) -> Result<(), TlsError> {
    let metadata = std::fs::metadata(key).map_err(|fault| unreadable(key, fault))?;
    match metadata.permissions().mode() & 0o027 {
        0 => Ok(()),
        _ => Err(TlsError::Exposed(key.to_owned())),
    }
}

/// What a certificate says about itself.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
    /// The names and addresses it stands for, as text, in order.
    pub(super) names: Vec<String>,
}

impl Facts {
    fn of(certificate: &CertificateDer<'_>, path: &Path) -> Result<Self, TlsError> {
        let unusable = |reason: String| TlsError::Unusable {
            path: path.to_owned(),
            reason,
        };
        let (_, parsed) = x509_parser::parse_x509_certificate(certificate)
            .map_err(|error| unusable(error.to_string()))?;
        let time = |seconds: i64| Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
        let alternatives = parsed
            .subject_alternative_name()
            .map_err(|error| unusable(error.to_string()))?;
        let names = alternatives
            .into_iter()
            .flat_map(|names| &names.value.general_names)
            .filter_map(name_text);
        Ok(Self {
            from: time(parsed.validity().not_before.timestamp()),
            until: time(parsed.validity().not_after.timestamp()),
            names: names.collect(),
        })
    }

    pub(super) fn of_file(path: &Path) -> Result<Self, TlsError> {
        Self::of(&read_first(path)?, path)
    }
}

fn name_text(name: &x509_parser::extensions::GeneralName<'_>) -> Option<String> {
    use x509_parser::extensions::GeneralName;
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => {
            let four: Option<[u8; 4]> = (*bytes).try_into().ok();
            let sixteen: Option<[u8; 16]> = (*bytes).try_into().ok();
            four.map(|bytes| std::net::IpAddr::from(bytes).to_string())
                .or_else(|| sixteen.map(|bytes| std::net::IpAddr::from(bytes).to_string()))
        }
        _ => None,
    }
}

/// The server's own certificate, without those that vouch for it.
pub(super) fn read_first(path: &Path) -> Result<CertificateDer<'static>, TlsError> {
    let chain = read_chain(path)?;
    chain.into_iter().next().ok_or_else(|| no_certificate(path))
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    read.map_err(|error| match error {
        pem::Error::Io(fault) => unreadable(path, fault),
        _ => no_certificate(path),
    })
}

fn unreadable(path: &Path, fault: std::io::Error) -> TlsError {
    TlsError::File {
        path: path.to_owned(),
        fault,
    }
}

fn no_certificate(path: &Path) -> TlsError {
    TlsError::Missing {
        path: path.to_owned(),
        what: "certificate",
    }
}
