//! One request to somewhere else, and only its status back.
//!
//! A connection of its own for each, since notifications are rare: so the address that was looked at is the one
//! that is connected to, nothing is redirected, no proxy stands between, and no answer is read beyond its head.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Body;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_LENGTH, HOST, RETRY_AFTER, USER_AGENT};
use hyper::http::request::Builder;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

const PATIENCE: Duration = Duration::from_secs(15);

/// Who chose the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// A browser: it must not be used to look around in the server's own network.
    Public,
    /// Somebody who administers the server.
    Anywhere,
}

#[derive(Debug)]
pub(super) struct Post {
    pub(super) url: Url,
    pub(super) request: Builder,
    pub(super) body: Vec<u8>,
    pub(super) reach: Reach,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) retry_after: Option<Duration>,
}

/// In words for the page of settings: without the address, which may hold a secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    #[error("The address cannot be used.")]
    Address,
    #[error("The address leads into a private network, where push services are not looked for.")]
    Private,
    #[error("The name of the server was not found.")]
    Unknown,
    #[error("The server cannot be reached: {0}.")]
    Unreachable(std::io::ErrorKind),
    #[error("No encrypted connection came about: {0}.")]
    Tls(String),
    #[error("The server did not speak HTTP to the end.")]
    Broken,
    #[error("The server took too long.")]
    Timeout,
}

pub(super) async fn send(post: Post) -> Result<Answer, SendError> {
    let sent = tokio::time::timeout(PATIENCE, exchange(post)).await;
    sent.unwrap_or(Err(SendError::Timeout))
}

async fn exchange(post: Post) -> Result<Answer, SendError> {
    let Post {
        url,
        request,
        body,
        reach,
    } = post;
    let name = url.host_str().ok_or(SendError::Address)?.to_owned();
    let port = url.port_or_known_default().ok_or(SendError::Address)?;
    let host = match url.port() {
        Some(port) => format!("{name}:{port}"),
        None => name.clone(),
    };
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let request = request
        .uri(target)
        .header(HOST, host)
        .header(USER_AGENT, concat!("sayso/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_LENGTH, body.len())
        .body(Body::from(body))
        .map_err(|_| SendError::Address)?;
    let stream = connect(&url, port, reach).await?;
    match url.scheme() {
        "http" => speak(stream, request).await,
        "https" => {
            let server = ServerName::try_from(name.trim_matches(['[', ']']).to_owned());
            let server = server.map_err(|_| SendError::Address)?;
            let connector = TlsConnector::from(trusting_the_system()?);
            let stream = connector.connect(server, stream).await;
            speak(stream.map_err(|error| tls(&error))?, request).await
        }
        _ => Err(SendError::Address),
    }
}

async fn connect(url: &Url, port: u16, reach: Reach) -> Result<TcpStream, SendError> {
    let found: Vec<SocketAddr> = match url.host().ok_or(SendError::Address)? {
        Host::Ipv4(ip) => vec![(ip, port).into()],
        Host::Ipv6(ip) => vec![(ip, port).into()],
        Host::Domain(name) => {
            let found = tokio::net::lookup_host((name, port)).await;
            found.map_err(|_| SendError::Unknown)?.collect()
        }
    };
    let mut problem = SendError::Unknown;
    for address in found {
        if reach == Reach::Public && !is_public(address.ip()) {
            problem = SendError::Private;
            continue;
        }
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => problem = SendError::Unreachable(error.kind()),
        }
    }
    Err(problem)
}

/// The operating system says whom to trust. It is asked once: that reads many files.
fn trusting_the_system() -> Result<Arc<ClientConfig>, SendError> {
    static ASKED: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = ASKED.get() {
        return Ok(Arc::clone(config));
    }
    let failed = |error: rustls::Error| SendError::Tls(error.to_string());
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_platform_verifier()
        .map_err(failed)?
        .with_no_client_auth();
    Ok(Arc::clone(ASKED.get_or_init(|| Arc::new(config))))
}

fn tls(error: &std::io::Error) -> SendError {
    SendError::Tls(error.to_string())
}

async fn speak<S>(stream: S, request: Request<Body>) -> Result<Answer, SendError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shaken = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = shaken.map_err(|_| SendError::Broken)?;
    let connection = tokio::spawn(connection);
    let answer = sender.send_request(request).await;
    connection.abort();
    let answer = answer.map_err(|_| SendError::Broken)?;
    let wait = answer.headers().get(RETRY_AFTER);
    let seconds = wait.and_then(|wait| wait.to_str().ok()?.parse().ok());
    Ok(Answer {
        status: answer.status(),
        retry_after: seconds.map(Duration::from_secs),
    })
}

/// Whether an address is one of the internet's, and not of this machine or its surroundings.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => is_public_v4(ip),
            None => is_public_v6(ip),
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [first, second, ..] = ip.octets();
    let shared = first == 100 && (64..128).contains(&second);
    let reserved = first == 0 || first >= 240;
    let special = ip.is_private()
        || ip.is_loopback()
        || ip.is_link_local()
        || ip.is_multicast()
        || ip.is_broadcast()
        || ip.is_documentation();
    !(shared
        || reserved
        || special
        || (first == 192 && second == 0)
        || (first == 198 && second & 0xfe == 18))
}

/// What is given out to the world begins with 2 or 3; of that, ways around into IPv4 are not taken.
fn is_public_v6(ip: Ipv6Addr) -> bool {
    let [first, second, ..] = ip.segments();
    let tunnel = first == 0x2002 || (first == 0x2001 && second < 0x200);
    let documentation = (first == 0x2001 && second == 0xdb8) || first & 0xfff0 == 0x3ff0;
    first & 0xe000 == 0x2000 && !tunnel && !documentation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        for (ip, expected) in [
            ("8.8.8.8", true),
            ("2a00:1450::1", true),
            ("2606:4700::1111", true),
            ("127.0.0.1", false),
            ("10.1.2.3", false),
            ("172.16.0.1", false),
            ("192.168.1.1", false),
            ("169.254.169.254", false),
            ("100.64.0.1", false),
            ("0.0.0.0", false),
            ("224.0.0.1", false),
            ("255.255.255.255", false),
            ("198.18.0.1", false),
            ("::1", false),
            ("::", false),
            ("fe80::1", false),
            ("fd00::1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("64:ff9b::7f00:1", false),
            ("2002:7f00:1::1", false),
            ("2001:0:1::1", false),
        ] {
            assert_eq!(is_public(ip.parse().unwrap()), expected, "{ip}");
        }
    }

    #[tokio::test]
    async fn what_a_browser_named_is_not_looked_for_at_home() {
        for url in [
            "http://127.0.0.1:9/",
            "http://localhost:9/",
            "http://[::1]:9/",
        ] {
            let post = Post {
                url: url.parse().unwrap(),
                request: Request::post("/"),
                body: Vec::new(),
                reach: Reach::Public,
            };
            let refused = send(post).await;
            assert!(matches!(refused, Err(SendError::Private)), "{refused:?}");
        }
    }
}
