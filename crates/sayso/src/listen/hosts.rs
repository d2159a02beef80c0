//! Names that the server is called by, with and without a port.

use std::net::{Ipv6Addr, SocketAddr};

/// The values of `Host` that stand for the allowed names: as they are, for a proxy or a port
/// of their own, and with our port where they have none.
pub(crate) fn host_values(allow_hosts: &[String], address: SocketAddr) -> Vec<String> {
    let with_port = |host: &String| {
        let name = without_port(host);
        let port = address.port();
        if name.parse::<Ipv6Addr>().is_ok() {
            return Some(format!("[{name}]:{port}"));
        }
        host.eq_ignore_ascii_case(&name)
            .then(|| format!("{name}:{port}"))
    };
    let own = allow_hosts.iter().cloned();
    own.chain(allow_hosts.iter().filter_map(with_port))
        .collect()
}

/// What other devices call the server, with its port unless a proxy stands at the name.
pub(crate) fn public_host(
    allow_hosts: &[String],
    address: SocketAddr,
    behind_proxy: bool,
) -> Option<String> {
    let first = allow_hosts.first()?;
    if behind_proxy {
        return Some(first.clone());
    }
    let values = host_values(std::slice::from_ref(first), address);
    values.into_iter().next_back()
}

pub(super) fn without_port(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    if let Some((address, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address.to_owned();
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.parse::<u16>().is_ok() => name.to_owned(),
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn other_devices_use_a_name_that_leads_here() {
        let address = "0.0.0.0:7297".parse().unwrap();
        for (host, behind_proxy, public) in [
            ("box.lan", false, "box.lan:7297"),
            ("box.lan", true, "box.lan"),
            ("box.lan:443", false, "box.lan:443"),
            ("2001:db8::1", false, "[2001:db8::1]:7297"),
        ] {
            let found = public_host(&[host.to_owned()], address, behind_proxy);
            assert_eq!(found.as_deref(), Some(public), "{host}");
        }
        assert_eq!(public_host(&[], address, false), None);
    }

    #[test]
    fn ports_are_no_part_of_a_name() {
        for (host, name) in [
            ("box.lan", "box.lan"),
            ("Box.lan:443", "box.lan"),
            ("[2001:db8::1]:443", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("192.0.2.1:80", "192.0.2.1"),
        ] {
            assert_eq!(without_port(host), name);
        }
    }

    #[test]
    fn a_name_without_a_port_is_also_meant_with_ours() {
        let values =
            |host: &str| host_values(&[host.to_owned()], "127.0.0.1:7297".parse().unwrap());
        assert_eq!(values("box.lan"), ["box.lan", "box.lan:7297"]);
        assert_eq!(values("localhost:5173"), ["localhost:5173"]);
        assert_eq!(values("2001:db8::1"), ["2001:db8::1", "[2001:db8::1]:7297"]);
    }
}
