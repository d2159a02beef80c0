//! Where Sayso may listen: on this machine always, elsewhere only with
//! encryption, a known name and a device that can log in.

use std::io;
use std::net::{IpAddr, SocketAddr};

use jiff::Timestamp;
use sayso_store::{DeviceRow, Store, UnixMillis};
use tokio::net::{TcpListener, TcpSocket};

/// How many connections wait to be taken in, as far as the system allows it. Whoever finds no
/// room there tries again only after a second.
const WAITING: u32 = 4096;

/// As it is written in the store.
const BROWSER: &str = "browser";

/// From where a server would be reached, and what protects it there.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    pub listen: SocketAddr,
    pub encryption: Encryption,
    pub has_allowed_host: bool,
    pub has_enrolled_device: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    None,
    Tls,
    /// A proxy in front does it.
    Proxy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error(
        "Whoever reaches Sayso can run commands here, so it listens on {0} only with encryption: \
         add --tls self-signed, or --tls-cert and --tls-key, or --behind-proxy if a proxy in front does it"
    )]
    Unencrypted(SocketAddr),
    #[error(
        "On {0} Sayso answers only to names that it knows, so that no web page can pose as it: \
         name yours with --allow-host NAME"
    )]
    NoHost(SocketAddr),
    #[error(
        "No device is paired yet, so nobody could log in on {0}: \
         start Sayso with --listen 127.0.0.1:7297 first and pair a device there"
    )]
    NoDevice(SocketAddr),
}

/// Only this machine can reach such an address.
pub fn is_local(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Listens. Whether that is allowed was looked at before.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A server that was just ended leaves its connections behind for a while.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

pub fn may_listen(reach: &Reach) -> Result<(), Refusal> {
    let listen = reach.listen;
    if is_local(listen.ip()) {
        return Ok(());
    }
    if reach.encryption == Encryption::None {
        return Err(Refusal::Unencrypted(listen));
    }
    if !reach.has_allowed_host {
        return Err(Refusal::NoHost(listen));
    }
    if !reach.has_enrolled_device {
        return Err(Refusal::NoDevice(listen));
    }
    Ok(())
}

/// Whether a human could log in from elsewhere: a browser was paired, and is still let in. Tokens of
/// scripts are none. What cannot be read says no.
pub async fn has_enrolled_device(store: &Store) -> bool {
    let now = UnixMillis(Timestamp::now().as_millisecond());
    let devices = store.devices().await.unwrap_or_default();
    devices.iter().any(|device| is_enrolled(device, now))
}

fn is_enrolled(device: &DeviceRow, now: UnixMillis) -> bool {
    let over = device.expires_at.is_some_and(|at| at <= now);
    device.kind == BROWSER && !over
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_wider_address_needs_encryption_a_name_and_a_device() {
        use Encryption::{None, Proxy, Tls};
        let wide: SocketAddr = "0.0.0.0:7297".parse().unwrap();
        let unencrypted = Err(Refusal::Unencrypted(wide));
        let no_host = Err(Refusal::NoHost(wide));
        let no_device = Err(Refusal::NoDevice(wide));
        // Encryption, an allowed host, an enrolled device.
        let cases = [
            (None, false, false, unencrypted),
            (None, false, true, unencrypted),
            (None, true, false, unencrypted),
            (None, true, true, unencrypted),
            (Tls, false, false, no_host),
            (Tls, false, true, no_host),
            (Tls, true, false, no_device),
            (Tls, true, true, Ok(())),
            (Proxy, false, false, no_host),
            (Proxy, false, true, no_host),
            (Proxy, true, false, no_device),
            (Proxy, true, true, Ok(())),
        ];
        for (encryption, has_allowed_host, has_enrolled_device, expected) in cases {
            let reach = |listen| Reach {
                listen,
                encryption,
                has_allowed_host,
                has_enrolled_device,
            };
            assert_eq!(may_listen(&reach(wide)), expected, "{:?}", reach(wide));
            for local in [
                "127.0.0.1:1",
                "127.9.9.9:1",
                "[::1]:1",
                "[::ffff:127.0.0.1]:1",
            ] {
                assert_eq!(
                    may_listen(&reach(local.parse().unwrap())),
                    Ok(()),
                    "{local}"
                );
            }
        }
    }

    #[test]
    fn only_a_browser_that_is_still_let_in_is_a_paired_device() {
        let now = UnixMillis(1_000);
        for (kind, expires_at, expected) in [
            ("browser", None, true),
            ("browser", Some(1_001), true),
            ("browser", Some(1_000), false),
            ("token", None, false),
            ("extension", None, false),
            ("token", Some(1_001), false),
        ] {
            let device = DeviceRow {
                id: sayso_store::DeviceId(uuid::Uuid::nil()),
                kind: kind.to_owned(),
                name: String::new(),
                secret_hash: Vec::new(),
                scopes: String::new(),
                created_at: now,
                last_seen_at: now,
                expires_at: expires_at.map(UnixMillis),
                origin: None,
            };
            assert_eq!(is_enrolled(&device, now), expected, "{kind} {expires_at:?}");
        }
    }

    #[test]
    fn every_address_but_loopback_is_wider() {
        for wide in [
            "0.0.0.0:1",
            "[::]:1",
            "192.168.1.4:1",
            "[fe80::1]:1",
            "[::ffff:10.0.0.1]:1",
        ] {
            let reach = Reach {
                listen: wide.parse().unwrap(),
                encryption: Encryption::None,
                has_allowed_host: true,
                has_enrolled_device: true,
            };
            assert_eq!(may_listen(&reach), Err(Refusal::Unencrypted(reach.listen)));
        }
    }

    #[test]
    fn a_refusal_is_one_sentence_and_names_the_flag() {
        let listen = "0.0.0.0:7297".parse().unwrap();
        for (refusal, flags) in [
            (
                Refusal::Unencrypted(listen),
                ["--tls self-signed", "--tls-cert", "--behind-proxy"].as_slice(),
            ),
            (Refusal::NoHost(listen), &["--allow-host"]),
            (Refusal::NoDevice(listen), &["--listen 127.0.0.1:7297"]),
        ] {
            let text = refusal.to_string();
            assert!(!text.contains(". "), "{text}");
            for flag in flags {
                assert!(text.contains(flag), "{text}");
            }
        }
    }
}
