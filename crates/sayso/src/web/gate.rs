//! The names that this server answers to, and its cookies.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{COOKIE, HOST};
use axum::http::{HeaderMap, HeaderValue};

use crate::access::{BROWSER_LASTS, Fresh};

/// How long a device that waits to be confirmed keeps its place.
const TICKET_LASTS: u64 = 180;

/// How the server is reached.
#[derive(Clone, Debug)]
pub struct Site {
    pub address: SocketAddr,
    /// Over TLS: cookies are marked so.
    pub secure: bool,
    /// The SHA-256 of the certificate, to compare.
    pub fingerprint: Option<String>,
    /// Further values of the `Host` header that are answered.
    pub allow_hosts: Vec<String>,
    /// Where other front ends come from, such as `http://localhost:5173`.
    pub allow_origins: Vec<String>,
    /// Whether a proxy in front encrypts.
    pub behind_proxy: bool,
    /// What other devices call the server.
    pub public_host: Option<String>,
}

impl Site {
    /// A link with a secret behind the `#`, which browsers keep to themselves.
    /// Made for the name that the asker used, unless that leads nowhere from
    /// another device and there is a better one.
    pub fn link(&self, asked: &str, secret: &str) -> String {
        let local = ["127.0.0.1:", "localhost:", "[::1]:", "0.0.0.0:", "[::]:"];
        let is_local = local.iter().any(|name| asked.starts_with(name));
        let (host, here) = match &self.public_host {
            Some(better) if is_local => (better.as_str(), false),
            _ => (asked, is_local),
        };
        let encrypted = self.secure || (self.behind_proxy && !here);
        let scheme = if encrypted { "https" } else { "http" };
        let mut url = format!("{scheme}://{host}/#pair={secret}");
        if let Some(fingerprint) = &self.fingerprint {
            url.push_str("&fp=");
            url.push_str(fingerprint);
        }
        url
    }
}

#[derive(Debug)]
pub(super) struct Gate {
    hosts: Vec<String>,
    site: Site,
    cookie_name: String,
    ticket_name: String,
}

impl Gate {
    pub(super) fn new(site: &Site) -> Self {
        let mut site = site.clone();
        let (address, port) = (site.address, site.address.port());
        let mut hosts = vec![
            format!("127.0.0.1:{port}"),
            format!("localhost:{port}"),
            format!("[::1]:{port}"),
        ];
        if !address.ip().is_unspecified() && !address.ip().is_loopback() {
            hosts.push(match address.ip() {
                IpAddr::V4(ip) => format!("{ip}:{port}"),
                IpAddr::V6(ip) => format!("[{ip}]:{port}"),
            });
        }
        for host in &mut site.allow_hosts {
            *host = host.to_ascii_lowercase();
        }
        hosts.extend(site.allow_hosts.iter().cloned());
        let prefix = if site.secure { "__Host-" } else { "" };
        Self {
            hosts,
            // Cookies are shared by all ports of a host; the name keeps two servers apart.
            cookie_name: format!("{prefix}sayso_{port}"),
            ticket_name: format!("{prefix}sayso_pairing_{port}"),
            site,
        }
    }

    pub(super) fn fingerprint(&self) -> Option<&str> {
        self.site.fingerprint.as_deref()
    }

    pub(super) fn knows_host(&self, headers: &HeaderMap) -> bool {
        let mut named = headers.get_all(HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return false;
        };
        let host = host.to_str().unwrap_or_default().to_ascii_lowercase();
        self.hosts.contains(&host)
    }

    pub(super) fn knows_origin(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let host = origin
            .strip_prefix("http://")
            .or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.hosts.iter().any(|known| known == host))
    }

    /// A page that is not ours, but may talk to us with a token.
    pub(super) fn lets_in_front_end(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().unwrap_or_default();
        let allowed = &self.site.allow_origins;
        allowed
            .iter()
            .any(|known| known.eq_ignore_ascii_case(origin))
    }

    pub(super) fn link(&self, asked: &str, secret: &str) -> String {
        self.site.link(asked, secret)
    }

    pub(super) fn cookie(&self, credential: &str) -> String {
        self.set(&self.cookie_name, credential, BROWSER_LASTS.as_secs())
    }

    pub(super) fn no_cookie(&self) -> String {
        self.set(&self.cookie_name, "", 0)
    }

    pub(super) fn ticket_cookie(&self, ticket: &Fresh) -> String {
        self.set(&self.ticket_name, ticket.expose(), TICKET_LASTS)
    }

    fn set(&self, name: &str, value: &str, seconds: u64) -> String {
        let secure = if self.site.secure { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
    }

    pub(super) fn cookies<'a>(&'a self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        named(headers, &self.cookie_name)
    }

    pub(super) fn ticket<'a>(&'a self, headers: &'a HeaderMap) -> Option<&'a str> {
        named(headers, &self.ticket_name).next()
    }
}

fn named<'a>(headers: &'a HeaderMap, wanted: &'a str) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(COOKIE).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(move |(name, _)| *name == wanted)
        .map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> Site {
        Site {
            address: "127.0.0.1:7297".parse().unwrap(),
            secure: false,
            fingerprint: None,
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            behind_proxy: false,
            public_host: None,
        }
    }

    fn gate(site: Site) -> Gate {
        Gate::new(&site)
    }

    fn with(name: &'static str, values: &[&str]) -> HeaderMap {
        let pairs = values.iter().map(|value| {
            let name: axum::http::HeaderName = name.parse().unwrap();
            (name, value.parse().unwrap())
        });
        pairs.collect()
    }

    #[test]
    fn only_known_names_are_answered_and_only_one() {
        let gate = gate(Site {
            allow_hosts: vec!["Box.Example".to_owned()],
            ..plain()
        });
        for good in [
            "127.0.0.1:7297",
            "LOCALHOST:7297",
            "[::1]:7297",
            "box.example",
        ] {
            assert!(gate.knows_host(&with("host", &[good])), "{good}");
        }
        for bad in [
            "127.0.0.1",
            "127.0.0.1:80",
            "127.0.0.1.nip.io:7297",
            "user@127.0.0.1:7297",
            "evil.example",
            "localhost.:7297",
            "localhost:7297.evil.example",
            "",
        ] {
            assert!(!gate.knows_host(&with("host", &[bad])), "{bad}");
        }
        assert!(!gate.knows_host(&with("host", &["localhost:7297", "localhost:7297"])));
        assert!(!gate.knows_host(&HeaderMap::new()));
    }

    #[test]
    fn a_cookie_over_tls_stays_there() {
        let secure = gate(Site {
            secure: true,
            ..plain()
        });
        let cookie = secure.cookie("x");
        assert!(cookie.starts_with("__Host-sayso_7297=x; Path=/; HttpOnly; SameSite=Strict"));
        assert!(cookie.ends_with("; Secure"), "{cookie}");
        assert!(!gate(plain()).cookie("x").contains("Secure"));
    }

    #[test]
    fn a_link_is_made_for_a_name_that_leads_here() {
        let here = gate(plain());
        assert_eq!(
            here.link("localhost:7297", "s"),
            "http://localhost:7297/#pair=s"
        );
        let wide = gate(Site {
            secure: true,
            fingerprint: Some("ab".to_owned()),
            public_host: Some("box.example:7297".to_owned()),
            ..plain()
        });
        let expected = "https://box.example:7297/#pair=s&fp=ab";
        assert_eq!(wide.link("127.0.0.1:7297", "s"), expected);
        assert_eq!(wide.link("box.example:7297", "s"), expected);
        let proxied = gate(Site {
            behind_proxy: true,
            public_host: Some("box.example".to_owned()),
            ..plain()
        });
        assert_eq!(
            proxied.link("localhost:7297", "s"),
            "https://box.example/#pair=s"
        );
    }

    #[test]
    fn cookies_are_found_among_others() {
        let gate = gate(plain());
        let headers = with(
            "cookie",
            &["a=b; sayso_7297=one; sayso_72971=x", "sayso_7297=two"],
        );
        let found: Vec<&str> = gate.cookies(&headers).collect();
        assert_eq!(found, ["one", "two"]);
    }
}
