//! What the terminal shows when the server is up.

use std::io::{self, IsTerminal, Write};

use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

use crate::listen::Fingerprint;

/// Prints the address to open. On a terminal, with a QR code below.
pub fn print(url: &str, fingerprint: Option<Fingerprint>, hint: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "\nSayso is up. Open this in a browser:\n\n  {url}\n")?;
    if out.is_terminal()
        && let Ok(code) = QrCode::new(url)
    {
        let picture = code.render::<Dense1x2>().quiet_zone(true).build();
        writeln!(out, "{picture}\n")?;
    }
    if let Some(fingerprint) = fingerprint {
        writeln!(
            out,
            "The certificate has this SHA-256 fingerprint; a browser that warns shows the same:\n\n  {fingerprint}\n"
        )?;
    }
    writeln!(out, "{hint}\nPress Ctrl+C to stop.\n")?;
    out.flush()
}
