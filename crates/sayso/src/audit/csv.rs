//! CSV as RFC 4180 has it, in which no cell is a formula.

use std::io::{self, Write};

/// Spreadsheets take a cell that begins with one of these for a formula, the wide forms too.
const FORMULAS: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

pub(super) fn write_row<'a>(
    cells: impl IntoIterator<Item = &'a str>,
    out: &mut impl Write,
) -> io::Result<()> {
    for (index, cell) in cells.into_iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        write_cell(cell, out)?;
    }
    out.write_all(b"\r\n")
}

fn write_cell(cell: &str, out: &mut impl Write) -> io::Result<()> {
    let guard = if cell.starts_with(FORMULAS) { "'" } else { "" };
    let plain = !cell.contains([',', '"', '\r', '\n']) && cell.trim() == cell;
    if plain {
        write!(out, "{guard}{cell}")
    } else {
        write!(out, "\"{guard}{}\"", cell.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_formulas() {
        let cases = [
            ("plain", "plain"),
            ("", ""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            (" padded", "\" padded\""),
            ("=1+1", "'=1+1"),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-rf", "'-rf"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "\"'\t=1\""),
            ("\r=1", "\"'\r=1\""),
            ("=\"a\",1", "\"'=\"\"a\"\",1\""),
            ("＝1", "'＝1"),
            ("a=1", "a=1"),
        ];
        for (cell, expected) in cases {
            let mut out = Vec::new();
            write_row([cell, "end"], &mut out).unwrap();
            let line = String::from_utf8(out).unwrap();
            assert_eq!(line, format!("{expected},end\r\n"), "{cell:?}");
        }
    }
}
