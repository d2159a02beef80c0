//! The names that this server answers to, and its cookies.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HOST, ORIGIN};

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
    /// Where other devices find the server, as far as it knows.
    pub fn base_url(&self) -> String {
        let encrypted = self.secure || (self.behind_proxy && self.public_host.is_some());
        let scheme = if encrypted { "https" } else { "http" };
        match &self.public_host {
            Some(host) => format!("{scheme}://{host}"),
            None => format!("{scheme}://{}", self.address),
        }
    }

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

/// The page that asks, as its browser names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    /// No page, or one that only reads.
    Unnamed,
    Own,
    /// Not ours, but the operator lets it talk to us with a token.
    FrontEnd,
    Other,
}

#[derive(Debug)]
pub(super) struct Gate {
    /// The names under which this server answers by itself.
    own: Vec<String>,
    site: Site,
    cookie_name: String,
    ticket_name: String,
}

impl Gate {
    pub(super) fn new(site: &Site) -> Self {
        let mut site = site.clone();
        let (address, port) = (site.address, site.address.port());
        let mut own = vec![
            format!("127.0.0.1:{port}"),
            format!("localhost:{port}"),
            format!("[::1]:{port}"),
        ];
        if !address.ip().is_unspecified() && !address.ip().is_loopback() {
            own.push(match address.ip() {
                IpAddr::V4(ip) => format!("{ip}:{port}"),
                IpAddr::V6(ip) => format!("[{ip}]:{port}"),
            });
        }
        for host in &mut site.allow_hosts {
            *host = host.to_ascii_lowercase();
        }
        let prefix = if site.secure { "__Host-" } else { "" };
        Self {
            own,
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
        self.knows_name(host.to_str().unwrap_or_default())
    }

    pub(super) fn knows_name(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.own.contains(&host) || self.site.allow_hosts.contains(&host)
    }

    pub(super) fn page(&self, headers: &HeaderMap) -> Page {
        let mut named = headers.get_all(ORIGIN).iter();
        let origin = match (named.next(), named.next()) {
            (None, _) => return Page::Unnamed,
            (Some(origin), None) => origin.to_str().unwrap_or_default().to_ascii_lowercase(),
            // No browser names two.
            (Some(_), Some(_)) => return Page::Other,
        };
        let front_ends = &self.site.allow_origins;
        let named = |known: &String| known.eq_ignore_ascii_case(&origin);
        if self.is_own(&origin) {
            Page::Own
        } else if front_ends.iter().any(named) {
            Page::FrontEnd
        } else {
            Page::Other
        }
    }

    /// A page of ours came to the browser the way that this server speaks: plain text that somebody
    /// on the way could have changed does not count where there is encryption. Whether there is a
    /// proxy that encrypts is not always known.
    fn is_own(&self, origin: &str) -> bool {
        let Some((scheme, host)) = origin.split_once("://") else {
            return false;
        };
        let is = |known: &String| known == host;
        let (secure, proxied) = (self.site.secure, self.site.behind_proxy);
        match scheme {
            "https" if secure => self.own.iter().chain(&self.site.allow_hosts).any(is),
            "https" => self.site.allow_hosts.iter().any(is),
            "http" if secure => false,
            "http" if proxied => self.own.iter().any(is),
            "http" => self.own.iter().chain(&self.site.allow_hosts).any(is),
            _ => false,
        }
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
    fn a_page_is_ours_by_its_whole_origin_and_there_is_one() {
        let gate = gate(Site {
            allow_hosts: vec!["Box.Example".to_owned()],
            allow_origins: vec!["http://localhost:5173".to_owned()],
            ..plain()
        });
        let page = |origins: &[&str]| gate.page(&with("origin", origins));
        for own in [
            "http://127.0.0.1:7297",
            "http://LOCALHOST:7297",
            "http://[::1]:7297",
            "http://box.example",
            "https://box.example",
        ] {
            assert_eq!(page(&[own]), Page::Own, "{own}");
        }
        for other in [
            "null",
            "",
            "https://evil.example",
            "http://localhost",
            "http://localhost:7298",
            "http://localhost:72970",
            "http://localhost.evil.com:7297",
            "http://evil-localhost:7297",
            "http://localhost.:7297",
            "http://localhost:7297.",
            "http://127.0.0.1.nip.io:7297",
            "http://2130706433:7297",
            "http://127.1:7297",
            "http://127.0.0.1:7297@evil.example",
            "http://user@127.0.0.1:7297",
            "http://127.0.0.1:7297/",
            "http://127.0.0.1:7297 ",
            "http://127.0.0.1:7297, http://evil.example",
            "https://127.0.0.1:7297",
            "ws://127.0.0.1:7297",
            "file://127.0.0.1:7297",
            "//127.0.0.1:7297",
            "127.0.0.1:7297",
            "http://localhost:5174",
            "http://a.localhost:5173",
        ] {
            assert_eq!(page(&[other]), Page::Other, "{other}");
        }
        let (own, evil) = ("http://localhost:7297", "https://evil.example");
        for two in [[own, own], [own, evil], [evil, own]] {
            assert_eq!(page(&two), Page::Other, "{two:?}");
        }
        assert_eq!(page(&[]), Page::Unnamed);
        assert_eq!(page(&["http://localhost:5173"]), Page::FrontEnd);
    }

    #[test]
    fn a_page_over_plain_text_is_not_ours_where_there_is_encryption() {
        let named = || Site {
            allow_hosts: vec!["box.example".to_owned()],
            ..plain()
        };
        let secure = Site {
            secure: true,
            ..named()
        };
        let proxied = Site {
            behind_proxy: true,
            ..named()
        };
        let cases = [
            (&secure, "https://localhost:7297", Page::Own),
            (&secure, "https://box.example", Page::Own),
            (&secure, "http://localhost:7297", Page::Other),
            (&secure, "http://box.example", Page::Other),
            (&proxied, "https://box.example", Page::Own),
            (&proxied, "http://localhost:7297", Page::Own),
            (&proxied, "http://box.example", Page::Other),
            (&proxied, "https://localhost:7297", Page::Other),
        ];
        for (site, origin, expected) in cases {
            let page = gate(site.clone()).page(&with("origin", &[origin]));
            assert_eq!(page, expected, "{origin} of {site:?}");
        }
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
