//! What the terminal shows when the server is up.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use url::{Host, Url};

use crate::listen::{self, Fingerprint};
use crate::{colours, compat};

/// Black on white, by numbers that no theme changes: a code in a dark terminal's own colours is a negative, which many
/// cameras do not read.
const BLACK_ON_WHITE: &str = "\u{1b}[38;5;16;48;5;231m";
const AS_BEFORE: &str = "\u{1b}[0m";

/// Who reads what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Program,
    Plain,
    Coloured,
}

impl Reader {
    fn of_output() -> Self {
        let out = io::stdout();
        match (out.is_terminal(), colours::wanted_on(&out)) {
            (false, _) => Self::Program,
            (true, false) => Self::Plain,
            (true, true) => Self::Coloured,
        }
    }
}

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

pub fn print_link(out: impl Write, url: &str) -> io::Result<()> {
    write_link(out, url, Reader::of_output())
}

fn write_link(mut out: impl Write, url: &str, reader: Reader) -> io::Result<()> {
    writeln!(
        out,
        "Open this in a browser; it lets one in, within 15 minutes:\n\n  {url}\n"
    )?;
    match (reader, local_port(url)) {
        (Reader::Program, _) => {}
        (_, Some(port)) => writeln!(
            out,
            "No phone reaches this address. For that, start: sayso serve --listen 0.0.0.0:{port} --tls self-signed --allow-host NAME"
        )?,
        (Reader::Plain | Reader::Coloured, None) => {
            if let Ok(code) = QrCode::new(url) {
                write_picture(&mut out, &code, reader)?;
            }
        }
    }
    writeln!(
        out,
        "A browser that was let in before needs no link. `sayso pair` prints another one."
    )
}

fn write_picture(out: &mut impl Write, code: &QrCode, reader: Reader) -> io::Result<()> {
    let picture = code.render::<Dense1x2>().quiet_zone(true).build();
    for row in picture.lines() {
        if reader == Reader::Coloured {
            writeln!(out, "{BLACK_ON_WHITE}{row}{AS_BEFORE}")?;
        } else {
            writeln!(out, "{row}")?;
        }
    }
    writeln!(out)
}

/// The port of an address that only this machine reaches.
fn local_port(url: &str) -> Option<u16> {
    let url = Url::parse(url).ok()?;
    let is_local = match url.host()? {
        Host::Domain(name) => name == "localhost",
        Host::Ipv4(address) => listen::is_local(address.into()),
        Host::Ipv6(address) => listen::is_local(address.into()),
    };
    is_local.then(|| url.port_or_known_default()).flatten()
}

/// Prints where other front ends find their backend. `token` is the file that holds the server's, if one does.
pub fn print_compat(url: &str, token: Option<&Path>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let endpoints = compat::endpoints(url);
    writeln!(
        out,
        "Sockets for other front ends; SAYSO_TOKEN is the server's token or one of the page Devices:\n"
    )?;
    if let Some(file) = token {
        // The secret itself stays out of the terminal and of what keeps its lines.
        writeln!(out, "export SAYSO_TOKEN=\"$(cat {file:?})\"\n")?;
    }
    writeln!(out, "{endpoints}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(url: &str, reader: Reader) -> String {
        let mut out = Vec::new();
        write_link(&mut out, url, reader).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_code_is_drawn_only_where_a_phone_can_follow_it() {
        for url in [
            "http://127.0.0.1:7297/#pair=x",
            "http://127.0.0.2:7297/#pair=x",
            "https://[::1]:7297/#pair=x",
            "http://localhost:7297/#pair=x",
        ] {
            let text = printed(url, Reader::Coloured);
            assert!(text.contains("--listen 0.0.0.0:7297"), "{text}");
            assert!(!text.contains('█') && !text.contains('\u{1b}'), "{text}");
            assert!(!printed(url, Reader::Program).contains("phone"), "{url}");
        }
    }

    #[test]
    fn a_code_is_black_on_white_whatever_the_terminal_is() {
        let url = "https://box.example:7297/#pair=x";
        let coloured = printed(url, Reader::Coloured);
        let rows: Vec<&str> = coloured.lines().filter(|row| row.contains('█')).collect();
        assert!(rows.len() > 10, "{coloured}");
        for row in rows {
            assert!(row.starts_with(BLACK_ON_WHITE), "{row:?}");
            assert!(row.ends_with(AS_BEFORE), "{row:?}");
            // Around it is white, so what is drawn is dark.
            assert!(row.contains("m  "), "{row:?}");
        }
        let plain = printed(url, Reader::Plain);
        assert!(plain.contains('█') && !plain.contains('\u{1b}'), "{plain}");
        assert!(!printed(url, Reader::Program).contains('█'));
    }
}
