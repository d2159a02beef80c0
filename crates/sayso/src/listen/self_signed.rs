//! A certificate of our own making, kept beside the database. Nobody vouches
//! for it, so its fingerprint is shown where the human can compare it.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair};

use super::tls::{Facts, Tls, TlsError};

/// Phones take none that is valid for longer.
const VALID_FOR: SignedDuration = SignedDuration::from_hours(24 * 820);
/// One that would expire soon is made anew at the start, not in the middle of a run.
const RENEWED_BEFORE: SignedDuration = SignedDuration::from_hours(24 * 14);
/// Clocks differ.
const VALID_SINCE: SignedDuration = SignedDuration::from_hours(24);

/// The kept certificate, or a new one if there is none, or it expires, or the names have changed.
pub(super) fn open(
    folder: &Path,
    listen: SocketAddr,
    allow_hosts: &[String],
    now: Timestamp,
) -> Result<Tls, TlsError> {
    let path = folder.join("tls.pem");
    let names = names(listen.ip(), allow_hosts);
    if !path.exists() || !is_good(&Facts::of_file(&path)?, &names, now) {
        make(&path, &names, now)?;
    }
    Tls::from_files(&path, &path, now)
}

fn is_good(kept: &Facts, names: &BTreeSet<String>, now: Timestamp) -> bool {
    let kept_names: BTreeSet<String> = kept.names.iter().cloned().collect();
    kept_names == *names && now >= kept.from && now + RENEWED_BEFORE < kept.until
}

/// What browsers may call this server: hosts without their ports.
fn names(listen: IpAddr, allow_hosts: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::from([
        "localhost".to_owned(),
        IpAddr::V4(Ipv4Addr::LOCALHOST).to_string(),
        IpAddr::V6(Ipv6Addr::LOCALHOST).to_string(),
    ]);
    if !listen.is_unspecified() {
        names.insert(listen.to_string());
    }
    names.extend(allow_hosts.iter().map(|host| without_port(host)));
    names
}

fn without_port(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    if let Some((address, _)) = host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address.to_owned();
    }
    match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.parse::<u16>().is_ok() => name.to_owned(),
        _ => host,
    }
}

fn make(path: &Path, names: &BTreeSet<String>, now: Timestamp) -> Result<(), TlsError> {
    let mut parameters = CertificateParams::new(names.iter().cloned().collect::<Vec<_>>())?;
    parameters.distinguished_name.push(DnType::CommonName, "Sayso");
    parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let beginning_of_day = |time: Timestamp| {
        let date = time.to_zoned(TimeZone::UTC).date();
        let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs());
        rcgen::date_time_ymd(date.year().into(), month, day)
    };
    parameters.not_before = beginning_of_day(now - VALID_SINCE);
    parameters.not_after = beginning_of_day(now + VALID_FOR);
    let key = KeyPair::generate()?;
    let certificate = parameters.self_signed(&key)?;
    let text = format!("{}{}", certificate.pem(), key.serialize_pem());
    write_private(path, text.as_bytes()).map_err(|source| TlsError::File {
        path: path.to_owned(),
        source,
    })
}

/// Whole or not at all, and for the owner only.
fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let unfinished = path.with_extension("new");
    match std::fs::remove_file(&unfinished) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(unfinished, path)
}
