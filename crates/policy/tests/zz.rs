//! t
use sayso_policy::shell;
#[test]
fn count() {
    let atoms = [
        "a",
        "=",
        "(",
        ")",
        "[[",
        "]]",
        "[",
        "]",
        "{",
        "}",
        "${",
        "%",
        "#",
        "@(",
        "|",
        "||",
        "&&",
        ";",
        ";;",
        "&",
        "$(",
        "`",
        "'",
        "\"",
        "\\",
        "<<a",
        "<",
        "> b",
        "case a in",
        "esac",
        "if",
        "then",
        "fi",
        "do",
        "done",
        "for i in",
        "while",
        "!",
        "*",
        "~",
        "=~",
        "==",
        "function f",
        "$((",
        "((",
        "))",
        "1",
        "..",
        ",",
        ":-",
        "\n",
        "-x",
        "$x",
        "$",
    ];
    let mut s: u64 = std::env::var("SEED")
        .unwrap_or_default()
        .parse()
        .unwrap_or(12345);
    let mut worst = vec![];
    let begin = std::time::Instant::now();
    while begin.elapsed().as_secs() < 150 {
        let mut t = String::new();
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        for _ in 0..1 + s % 4 {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            t.push_str(atoms[(s % atoms.len() as u64) as usize]);
            if s & (1 << 40) != 0 {
                t.push(' ');
            }
        }
        let text = t.repeat(10_000 / t.len());
        let start = std::time::Instant::now();
        shell::breaks(&text);
        worst.push((start.elapsed(), t));
    }
    worst.sort();
    worst.reverse();
    println!("tried {}", worst.len());
    for (d, t) in worst.iter().take(25) {
        println!("W {d:?} {t:?}");
    }
}
