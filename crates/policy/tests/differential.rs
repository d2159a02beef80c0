//! What the policy allows, a real bash must read in the same way.
//!
//! Generated commands that the policy allows are run by bash with stubs in the
//! place of programs; every stub notes its argument list, and those must be the
//! lists that the policy saw. Bash runs in an empty folder with an empty PATH,
//! so that a command that is allowed wrongly finds no program to run.
//!
//! `SAYSO_DIFFERENTIAL=1000000` runs more than the usual number.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a failure of the harness fails the test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use sayso_policy::{Decision, Entry, Rule, RuleId, Rules, Source, ToolCall, evaluate, shell};
use serde_json::json;

const PROGRAMS: &[&str] = &["alpha", "beta", "ls", "git", "npm", "timeout", "nohup"];

const RULES: &[&str] = &[
    "Bash(alpha:*)",
    "Bash(beta *)",
    "Bash(ls*)",
    "Bash(git:*)",
    "Bash(npm *)",
    "Bash(* x)",
];

/// Everything that could be read in two ways.
const WORDS: &[&str] = &[
    "a",
    "x",
    "-x",
    "--long",
    "--o=v",
    "a=b",
    "=a",
    "'b c'",
    "\"d e\"",
    "\"f\"g'h'",
    "''",
    "\"\"",
    "' '",
    "a,b",
    "@x",
    "%1",
    "+",
    ":",
    "1",
    "2",
    "12",
    "*.zz",
    "[x]",
    "?",
    "[",
    "]",
    "HEAD~1",
    "~",
    "~/x",
    "a~",
    "a\\ b",
    "\\",
    "$x",
    "\"$x\"",
    "'$x'",
    "${x}",
    "$(a)",
    "`a`",
    "$'x'",
    "$\"x\"",
    "$",
    "{a,b}",
    "{",
    "}",
    "{1..3}",
    "#c",
    "a#b",
    "'#'",
    "!",
    "a!",
    "^",
    "a^",
    "é",
    "日本",
    "\"a\\\"b\"",
    "'a'\\''b'",
    "2>&1",
    ">/dev/null",
    "2>/dev/null",
    "&>/dev/null",
    "</dev/null",
    ">&2",
    "1>&2",
    "> /dev/null",
    "2> /dev/null",
    ">&1",
    "CI=1",
    "NODE_ENV=test",
    "A=1",
    "5",
    "timeout",
    "nohup",
    "time",
    "alpha",
    "if",
    "then",
    "do",
    "in",
    "[[",
    "]]",
    "(",
    ")",
    "<(a)",
    "a(b)",
    "@(a)",
    "-",
    "--",
    "a\"b",
    "a'b",
    "\"'\"",
    "'\"'",
    "a'b c'd",
    "\"a b\"'c d'",
    "a\"\"b",
    "a\"*\"b",
    "'*'",
    "0x1",
    "1a",
    "/dev/null",
    "./x",
    "../x",
    "a/b",
    "x:y",
    "a@b.c",
    "a%b",
    "a+b",
    "..",
    ".",
    "a..b",
    "1>",
    "a>b",
    "a;b",
    "a|b",
    "a&b",
    "coproc",
    "function",
    "select",
    "|",
    "<<<a",
    "-n",
    "-e",
    "a=(",
    "a[1]=2",
];

const SEPARATORS: &[&str] = &[
    "; ", ";", " && ", "&&", " || ", "||", " | ", "|", " & ", " |& ", ";; ", "\n", " ; ", "& ",
    " && && ",
];

/// A small generator of its own, so that a seed means the same for ever.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

fn simple_command(random: &mut Random) -> String {
    let mut text = String::new();
    if random.below(12) == 0 {
        text.push_str(random.pick(&["CI=1 ", "NODE_ENV=test ", "A=1 ", "CI='1' ", "CI= "]));
    }
    if random.below(8) == 0 {
        text.push_str(random.pick(&["timeout 5 ", "nohup ", "time ", "timeout 5s nohup ", "! "]));
    }
    text.push_str(random.pick(PROGRAMS));
    for _ in 0..random.below(4) {
        text.push_str(random.pick(&[" ", " ", " ", "  ", ""]));
        // Mostly plain words, or hardly any command would be allowed.
        let plain = random.below(3) > 0;
        text.push_str(random.pick(if plain { &WORDS[..21] } else { WORDS }));
    }
    text
}

fn command(random: &mut Random) -> String {
    let mut text = simple_command(random);
    for _ in 0..[0, 0, 0, 1, 1, 2, 3][random.below(7)] {
        let plain = random.below(3) > 0;
        text.push_str(random.pick(if plain { &SEPARATORS[..8] } else { SEPARATORS }));
        text.push_str(&simple_command(random));
    }
    if random.below(6) == 0 {
        let at = random.below(text.len());
        if text.is_char_boundary(at) {
            let signs = [
                "'", "\"", "\\", "$", "`", "#", "&", "|", ";", " ", "<", ">", "(", ")", "{", "}",
                "!", "*", "~", "=",
            ];
            text.insert_str(at, random.pick(&signs));
        }
    }
    text
}

fn is_allowed(rules: &Rules, command: &str) -> bool {
    let input = json!({ "command": command });
    let call = ToolCall {
        tool_name: "Bash",
        input: &input,
        cwd: "/w/proj",
        home: "/home/u",
        project_root: "/w/proj",
        links: &[],
    };
    evaluate(rules, &call).decision == Decision::Allow
}

type Lists = Vec<Vec<String>>;

/// What ran for each command, when every stub ends with `status`.
fn run(folder: &Path, commands: &[String], status: u8) -> Vec<Lists> {
    let list = folder.join("commands");
    let log = folder.join("log");
    let empty = folder.join("empty");
    fs::create_dir_all(&empty).unwrap();
    fs::write(&log, "").unwrap();
    fs::write(&list, commands.join("\0") + "\0").unwrap();
    let stubs: String = PROGRAMS
        .iter()
        .map(|name| format!("{name}() {{ note {name} \"$@\"; }}\n"))
        .collect();
    let script = format!(
        "note() {{ printf '%s\\0' \"$number\" \"$#\" \"$@\" >&200; return {status}; }}\n\
         command_not_found_handle() {{ note \"$@\"; }}\n\
         {stubs}\
         exec 200>>\"$1\" 201<\"$2\"\n\
         number=0\n\
         while IFS= read -r -d '' text <&201; do\n\
           ( eval \"$text\" ) </dev/null >/dev/null 2>&1\n\
           number=$((number + 1))\n\
         done\n"
    );
    let ended = Command::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", &script, "bash"])
        .args([&log, &list])
        .current_dir(&empty)
        .env_clear()
        .env("PATH", &empty)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .status()
        .expect("bash runs");
    assert!(ended.success());
    let left: Vec<_> = fs::read_dir(&empty).unwrap().collect();
    assert!(left.is_empty(), "a command made files: {left:?}");
    read_log(&log, commands.len())
}

fn read_log(log: &Path, count: usize) -> Vec<Lists> {
    let text = fs::read_to_string(log).unwrap();
    let mut fields = text.split_terminator('\0').map(str::to_owned);
    let mut lists = vec![Lists::new(); count];
    while let Some(number) = fields.next() {
        let length: usize = fields.next().unwrap().parse().unwrap();
        let list = fields.by_ref().take(length).collect();
        lists[number.parse::<usize>().unwrap()].push(without_time(list));
    }
    lists
}

fn seen(command: &str) -> Lists {
    let lists = shell::argument_lists(command).expect("an allowed command is understood");
    lists.into_iter().map(without_time).collect()
}

/// `time` is the shell's own word in some places and a program in others.
fn without_time(mut list: Vec<String>) -> Vec<String> {
    let times = list.iter().take_while(|word| *word == "time").count();
    list.drain(..times);
    list
}

fn counted(lists: &Lists) -> BTreeMap<&Vec<String>, usize> {
    let mut counts = BTreeMap::new();
    for list in lists {
        *counts.entry(list).or_default() += 1;
    }
    counts
}

#[test]
fn bash_runs_exactly_what_the_policy_saw() {
    let wanted = std::env::var("SAYSO_DIFFERENTIAL").ok();
    let wanted = wanted
        .and_then(|count| count.parse().ok())
        .unwrap_or(10_000);
    let rules = Rules::new(RULES.iter().map(|text| Entry {
        id: RuleId::new(text),
        effect: Decision::Allow,
        rule: Rule::parse(text).unwrap(),
        source: Source::Session,
    }));
    let mut random = Random(0x5A15_0000_2026);
    let mut allowed = Vec::new();
    for _ in 0..wanted {
        let command = command(&mut random);
        if is_allowed(&rules, &command) {
            allowed.push(command);
        }
    }
    // Otherwise the test would prove little.
    assert!(allowed.len() * 10 > wanted, "{} of {wanted}", allowed.len());

    let folder = tempfile::tempdir().unwrap();
    let (chosen, plain): (Vec<String>, Vec<String>) = allowed
        .into_iter()
        .partition(|command| command.contains("||"));
    let ran = run(folder.path(), &plain, 0);
    for (command, ran) in plain.iter().zip(&ran) {
        assert_eq!(counted(ran), counted(&seen(command)), "{command}");
    }
    // After `||` runs only what follows a failure: both ways together run all.
    let after_success = run(folder.path(), &chosen, 0);
    let after_failure = run(folder.path(), &chosen, 1);
    for ((command, one), other) in chosen.iter().zip(&after_success).zip(&after_failure) {
        let ran: BTreeSet<_> = one.iter().chain(other).cloned().collect();
        let seen: BTreeSet<_> = seen(command).into_iter().collect();
        assert_eq!(ran, seen, "{command}");
    }
}
