//! What the terminal shows when the server is up.

use std::io::{self, IsTerminal, Write};

use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

use crate::listen::Fingerprint;

/// Prints the link to open. On a terminal, with a QR code below.
pub fn print(url: &str, fingerprint: Option<Fingerprint>, hint: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "\nSayso is up.")?;
    print_link(&mut out, url)?;
    if let Some(fingerprint) = fingerprint {
        writeln!(
            out,
            "The certificate has this SHA-256 fingerprint; a browser that warns shows the same:\n\n  {fingerprint}\n"
        )?;
    }
    writeln!(out, "{hint}\nPress Ctrl+C to stop.\n")?;
    out.flush()
}

pub fn print_link(mut out: impl Write, url: &str) -> io::Result<()> {
    writeln!(
        out,
        "Open this in a browser; it lets one in, within 15 minutes:\n\n  {url}\n"
    )?;
    if io::stdout().is_terminal()
        && let Ok(code) = QrCode::new(url)
    {
        let picture = code.render::<Dense1x2>().quiet_zone(true).build();
        writeln!(out, "{picture}\n")?;
    }
    writeln!(
        out,
        "A browser that was let in before needs no link. `sayso pair` prints another one."
    )
}

/// Prints where other front ends find their backend.
pub fn print_compat(url: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let endpoints = crate::compat::endpoints(url);
    writeln!(
        out,
        "Sockets for other front ends; SAYSO_TOKEN is the server's token or one of the page Devices:\n\n{endpoints}"
    )?;
    out.flush()
}
