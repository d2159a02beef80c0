//! A certificate of our own making, kept beside the database. Nobody vouches
//! for it, so its fingerprint is shown where the human can compare it.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair};

use super::hosts::without_port;
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
    let path = file(folder);
    let names = names(listen.ip(), allow_hosts);
    if !path.exists() || !is_good(&Facts::of_file(&path)?, &names, now) {
        make(&path, &names, now)?;
    }
    Tls::from_files(&path, &path, now)
}

pub(super) fn file(folder: &Path) -> PathBuf {
    folder.join("tls.pem")
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

fn make(path: &Path, names: &BTreeSet<String>, now: Timestamp) -> Result<(), TlsError> {
    let mut parameters = CertificateParams::new(names.iter().cloned().collect::<Vec<_>>())?;
    parameters
        .distinguished_name
        .push(DnType::CommonName, "Sayso");
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
    write_private(path, text.as_bytes()).map_err(|fault| TlsError::File {
        path: path.to_owned(),
        fault,
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use pretty_assertions::assert_eq;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-16T12:00:00Z".parse().unwrap()
    }

    fn listen() -> SocketAddr {
        "192.0.2.7:7297".parse().unwrap()
    }

    fn days(count: i64) -> SignedDuration {
        SignedDuration::from_hours(24 * count)
    }

    #[test]
    fn a_certificate_is_made_once_and_again_when_it_no_longer_fits() {
        let folder = tempfile::tempdir().unwrap();
        let fingerprint = |hosts: &[&str], now: Timestamp| {
            let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
            let tls = open(folder.path(), listen(), &hosts, now).unwrap();
            tls.fingerprint()
        };
        let first = fingerprint(&["box.lan"], now());
        assert_eq!(fingerprint(&["BOX.lan:7297"], now() + days(700)), first);
        let names = Facts::of_file(&folder.path().join("tls.pem"))
            .unwrap()
            .names;
        let expected = ["127.0.0.1", "192.0.2.7", "::1", "box.lan", "localhost"];
        assert_eq!(names, expected);
        let renamed = fingerprint(&["other.lan"], now());
        assert_ne!(renamed, first, "another name");
        assert_ne!(
            fingerprint(&["other.lan"], now() + days(815)),
            renamed,
            "it expires"
        );
        let mode = std::fs::metadata(folder.path().join("tls.pem")).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600);
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 1, "nothing unfinished is left");
    }

    /// Two certificates, each with its key.
    fn two(folder: &Path) -> (PathBuf, PathBuf) {
        let (one, other) = (folder.join("one.pem"), folder.join("other.pem"));
        let names = BTreeSet::from(["box.lan".to_owned()]);
        make(&one, &names, now()).unwrap();
        make(&other, &names, now()).unwrap();
        (one, other)
    }

    #[test]
    fn what_cannot_be_used_is_said_in_one_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = two(folder.path());
        let nothing = folder.path().join("nothing.pem");
        let letter = folder.path().join("letter.pem");
        std::fs::write(&letter, "Dear friend, this is no certificate.").unwrap();
        let only_key = folder.path().join("key.pem");
        let text = std::fs::read_to_string(&one).unwrap();
        let at = text.find("-----BEGIN PRIVATE KEY").unwrap();
        std::fs::write(&only_key, &text[at..]).unwrap();
        let cases = [
            (&one, &one, now(), "good"),
            (&one, &only_key, now(), "good"),
            (&one, &other, now(), "does not belong to"),
            (&one, &letter, now(), "holds no private key"),
            (&one, &nothing, now(), "cannot be read"),
            (&nothing, &one, now(), "cannot be read"),
            (&letter, &one, now(), "holds no certificate"),
            (&only_key, &one, now(), "holds no certificate"),
            (
                &one,
                &one,
                now() + days(900),
                "no longer valid since 2029-02-13T00:00:00Z",
            ),
            (
                &one,
                &one,
                now() - days(9),
                "not valid before 2026-11-15T00:00:00Z",
            ),
        ];
        for (certificate, key, now, expected) in cases {
            let told = match Tls::from_files(certificate, key, now) {
                Ok(_) => "good".to_owned(),
                Err(error) => error.to_string(),
            };
            assert!(told.contains(expected), "{expected}: {told}");
            assert!(!told.contains(". ") && !told.contains('\n'), "{told}");
        }
    }

    #[test]
    fn a_kept_certificate_that_cannot_be_read_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tls.pem");
        std::fs::write(&path, "not a certificate").unwrap();
        assert!(open(folder.path(), listen(), &[], now()).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "not a certificate");
    }
}
