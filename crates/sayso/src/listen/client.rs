//! Talking to the Sayso that runs with the same settings on this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use axum::body::{Body, to_bytes};
use bytes::Bytes;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper_util::rt::TokioIo;
use reqwest::{Method, RequestBuilder, StatusCode};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::self_signed;
use super::tls::read_first;
use crate::config::Config;

const LARGEST_ANSWER: usize = 64 * 1024 * 1024;

/// The server that these settings describe. Knows its certificate and takes no other.
#[derive(Debug)]
pub struct OwnServer {
    address: SocketAddr,
    tls: Option<PathBuf>,
    patience: Duration,
    client: reqwest::Client,
}

impl OwnServer {
    pub fn new(config: &Config, patience: Duration) -> anyhow::Result<Self> {
        let made = config.tls.map(|_| self_signed::file(&config.data_dir));
        Ok(Self {
            address: reachable(config.listen),
            tls: config.tls_cert.clone().or(made),
            patience,
            client: reqwest::Client::builder().no_proxy().build()?,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = format!("http://{}{path}", self.address);
        self.client.request(method, url)
    }

    /// The status of the answer and its JSON.
    pub async fn send(&self, request: RequestBuilder) -> anyhow::Result<(StatusCode, Value)> {
        let (status, body) = self.send_for_bytes(request).await?;
        let body = serde_json::from_slice(&body).context("The answer cannot be read")?;
        Ok((status, body))
    }

    /// The same with the answer as it came, for what must stay byte for byte.
    pub async fn send_for_bytes(
        &self,
        request: RequestBuilder,
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        let answer = tokio::time::timeout(self.patience, self.exchange(request)).await;
        answer.context("No answer came in time")?
    }

    /// A connection on which nothing has been said yet.
    pub async fn connect(&self) -> anyhow::Result<Connection> {
        let connecting = tokio::time::timeout(self.patience, self.open()).await;
        connecting.context("No connection came in time")?
    }

    async fn open(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        let Some(file) = &self.tls else {
            return Ok(Box::new(stream));
        };
        let connector = TlsConnector::from(Arc::new(trusting_only(file)?));
        let name = ServerName::from(self.address.ip());
        Ok(Box::new(connector.connect(name, stream).await?))
    }

    async fn exchange(&self, request: RequestBuilder) -> anyhow::Result<(StatusCode, Bytes)> {
        let mut request = hyper::Request::<reqwest::Body>::try_from(request.build()?)?;
        let path = request.uri().path_and_query().map(ToString::to_string);
        *request.uri_mut() = path.unwrap_or_default().parse()?;
        let host = HeaderValue::try_from(self.address.to_string())?;
        request.headers_mut().insert(HOST, host);
        speak(self.open().await?, request).await
    }
}

/// A stream of bytes to the server, encrypted or not.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

pub type Connection = Box<dyn Stream>;

async fn speak(
    stream: Connection,
    request: hyper::Request<reqwest::Body>,
) -> anyhow::Result<(StatusCode, Bytes)> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let connection = tokio::spawn(connection);
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let body = to_bytes(Body::new(answer.into_body()), LARGEST_ANSWER).await?;
    connection.abort();
    Ok((status, body))
}

/// A server that listens everywhere is reached here.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let here = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        other => other,
    };
    SocketAddr::new(here, listen.port())
}

fn trusting_only(file: &Path) -> anyhow::Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Pinned {
        certificate: read_first(file)?,
        provider: Arc::clone(&provider),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("No version of TLS can be spoken")?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(config)
}

/// Takes exactly the certificate that the server's settings name, and no other: names and
/// authorities say nothing that is not known better here.
#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if *shown == self.certificate {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(rustls::CertificateError::UnknownIssuer.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_server_that_listens_everywhere_is_reached_here() {
        for (listen, address) in [
            ("0.0.0.0:1", "127.0.0.1:1"),
            ("[::]:1", "[::1]:1"),
            ("192.0.2.1:1", "192.0.2.1:1"),
        ] {
            let reached = reachable(listen.parse().unwrap());
            assert_eq!(reached.to_string(), address);
        }
    }
}
