//! The host of a URL, as a client will read it.

use url::Url;

use crate::visible::deceptive;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Lower case, without a dot at the end.
    pub(crate) host: String,
    /// Why the text may be read otherwise than it looks.
    pub(crate) doubt: Option<&'static str>,
}

impl Address {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let host = url.host_str()?;
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let doubt = doubt(text, &url, &host);
        Some(Self { host, doubt })
    }
}

fn doubt(text: &str, url: &Url, host: &str) -> Option<&'static str> {
    if !matches!(url.scheme(), "http" | "https") {
        return Some("the address is not http or https");
    }
    if deceptive(text).is_some() || text.contains(['\\', ' ']) {
        return Some("the address has characters that clients read differently");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("the address carries a user name or a password");
    }
    if written_host(text) != Some(host.to_owned()) {
        return Some("the address is not written the way it is read");
    }
    None
}

/// The host as it stands in the text.
fn written_host(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    Some(host.to_ascii_lowercase())
}
