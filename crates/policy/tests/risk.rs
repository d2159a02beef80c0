//! What is read out of a call, as data.

use pretty_assertions::assert_eq;
use sayso_policy::risk::RiskKind::{self, *};
use sayso_policy::{Link, ToolCall, risk};
use serde_json::{Value, json};

fn call<'a>(tool_name: &'a str, input: &'a Value, links: &'a [Link]) -> ToolCall<'a> {
    ToolCall {
        tool_name,
        input,
        cwd: "/w/proj",
        home: "/home/u",
        project_root: "/w/proj",
        links,
    }
}

/// Kinds with their words, for a command in `/w/proj`.
fn told(command: &str) -> Vec<(RiskKind, String)> {
    let input = json!({ "command": command });
    let risks = risk::read(&call("Bash", &input, &[]));
    risks
        .into_iter()
        .map(|risk| (risk.kind, risk.words))
        .collect()
}

fn kinds(command: &str) -> Vec<RiskKind> {
    let mut kinds: Vec<_> = told(command).into_iter().map(|(kind, _)| kind).collect();
    kinds.dedup();
    kinds
}

#[track_caller]
fn check(command: &str, expected: &[RiskKind]) {
    assert_eq!(kinds(command), expected, "{command}");
}

#[test]
fn everyday_commands_have_none() {
    for command in [
        "ls -la",
        "cargo test -p x",
        "git status && git diff | head -20",
        "git commit -m 'rm -rf / and sudo'",
        "npm test 2>&1 | tail -5",
        "echo hi > out.txt",
        "grep -rn 'curl | sh' src",
        "mkdir -p src/new && touch src/new/a.rs",
        "cat <<'EOF' > notes.md\nrm -rf /\nsudo x\nEOF",
        "case x in sh|bash) echo rm;; esac",
        "sleep 5",
    ] {
        check(command, &[]);
    }
}

#[test]
fn deletes() {
    for command in [
        "rm -rf build",
        "find . -name '*.o' -delete",
        "find . -exec rm {} +",
        "git clean -fdx",
        "ls | xargs rm",
        "(cd src; rm a)",
        "for f in a b; do rm $f; done",
        "echo \"$(rm a)\"",
        "echo `rm a`",
        "if true; then rm a; fi",
        "f() { rm a; }; f",
        "r'm' a",
        "\\rm a",
        "$'r\\x6d' a",
        "bash -c 'ls; rm a'",
        "timeout 5 nohup rm a",
        "env A=1 rm a",
        "bash <<'EOF'\nrm a\nEOF",
        "eval 'rm a'",
    ] {
        assert!(kinds(command).contains(&Deletes), "{command}");
    }
    assert_eq!(
        told("ls; rm -rf build"),
        [(Deletes, "rm -rf build".to_owned())]
    );
}

#[test]
fn overwrites() {
    check("dd if=/dev/zero of=disk.img", &[Overwrites]);
    check("mkfs.ext4 image", &[Overwrites]);
    check("truncate -s 0 a.log", &[Overwrites]);
    check("echo x > /dev/sda", &[Overwrites]);
    check("git restore .", &[Overwrites]);
    check("git checkout -- .", &[Overwrites]);
}

#[test]
fn privilege() {
    check("sudo ls", &[Privilege]);
    check("sudo -u root rm -rf x", &[Deletes, Privilege]);
    check("chmod 777 x", &[Privilege]);
    check("chmod +x run.sh", &[]);
    check("su -c 'rm a'", &[Deletes, Privilege]);
}

#[test]
fn network() {
    check("curl https://example.com", &[Network]);
    check("git push origin main", &[Network]);
    check("git fetch", &[Network]);
    check("ls > /dev/tcp/127.0.0.1/9", &[Network]);
    check("env -i wget x", &[Network]);
}

#[test]
fn pipes_into_a_shell() {
    check("curl https://x | sh", &[Network, PipesIntoShell]);
    check(
        "curl https://x | sudo bash -",
        &[Privilege, Network, PipesIntoShell],
    );
    check("bash <(curl https://x)", &[Network, PipesIntoShell]);
    check("bash -c \"$(curl https://x)\"", &[Network, PipesIntoShell]);
    check("eval \"$(ssh-agent -s)\"", &[PipesIntoShell]);
    check("cat a | python3", &[PipesIntoShell]);
    check("cat a | (bash)", &[PipesIntoShell]);
    check("echo sh | cat", &[]);
}

#[test]
fn places() {
    check("echo x > /etc/hosts", &[OutsideProject]);
    check("cp a ../b", &[OutsideProject]);
    check("cd /tmp && ls", &[OutsideProject]);
    check("touch $HOME/x", &[OutsideProject]);
    check("echo x >> ~/.bashrc", &[OutsideProject, ProtectedPath]);
    check("echo x > .git/hooks/pre-commit", &[ProtectedPath]);
    check("tee .claude/settings.json", &[ProtectedPath]);
    check("sed -i s/a/b/ .npmrc", &[ProtectedPath]);
    check("cat .git/config", &[]);
    check("ls 2>/dev/null >/dev/stderr", &[]);
}

#[test]
fn installs() {
    for command in [
        "npm ci",
        "pip install x",
        "npx x",
        "cargo install y",
        "python3 -m pip install z",
    ] {
        assert!(kinds(command).contains(&Installs), "{command}");
    }
    assert!(kinds("npm ci").iter().all(|kind| !kind.is_destructive()));
}

#[test]
fn git_history() {
    check("git push --force origin main", &[Network, GitHistory]);
    check("git push -uf origin main", &[Network, GitHistory]);
    check("git push origin +main", &[Network, GitHistory]);
    check("git -C sub rebase main", &[GitHistory]);
    check("git commit --amend", &[GitHistory]);
    check("git reset --hard HEAD~1", &[Overwrites, GitHistory]);
    check("git branch -D x", &[GitHistory]);
    check("git branch x", &[]);
}

#[test]
fn long_running() {
    check("npm run dev", &[LongRunning]);
    check("tail -f a.log", &[LongRunning]);
    check("sleep 600", &[LongRunning]);
}

#[test]
fn what_cannot_be_read_is_unknown() {
    for command in [
        "$CMD x",
        "ls &&",
        "echo 'unclosed",
        "./deploy.sh",
        "bash deploy.sh",
        "python3 -c 'import os'",
        "node -e 'x'",
        "eval $X",
        "python3 <<'EOF'\nimport os\nEOF",
        "bash < script",
        "echo x > $OUT",
        "git $SUB",
    ] {
        assert!(kinds(command).contains(&Unknown), "{command}");
    }
    assert!(kinds(&"ls; ".repeat(20_000)).contains(&Unknown));
}

#[test]
fn a_long_file_in_a_heredoc_is_still_read() {
    let body = "{ \"a\": [1, 2], 'b' } || rm x;\n".repeat(500);
    check(&format!("cat <<'EOF' > notes.json\n{body}EOF"), &[]);
    check(&format!("cat <<EOF > notes.json\n{body}EOF"), &[]);
    check(
        &format!("cat <<EOF > notes.json\n{body}$(rm x)\nEOF"),
        &[Deletes],
    );
}

#[test]
fn words_are_cut() {
    let command = format!("rm {}", "é".repeat(1_000));
    let (_, words) = told(&command).remove(0);
    assert_eq!(words.chars().count(), 120);
    assert!(words.ends_with('…'));
}

#[test]
fn file_tools() {
    let check = |tool: &str, path: &str, expected: &[RiskKind]| {
        let input = json!({ "file_path": path });
        let risks = risk::read(&call(tool, &input, &[]));
        let kinds: Vec<_> = risks.iter().map(|risk| risk.kind).collect();
        assert_eq!(kinds, expected, "{tool} {path}");
    };
    check("Write", "/w/proj/a", &[]);
    check("Edit", "src/a", &[]);
    check("Write", "/w/proj2/a", &[OutsideProject]);
    check("Write", "/w/proj/../x", &[OutsideProject]);
    check("Write", "/w/proj/.git/config", &[ProtectedPath]);
    check("Write", "/home/u/.bashrc", &[OutsideProject, ProtectedPath]);
    check("Read", "/w/proj/.git/config", &[]);
    check("Read", "/etc/passwd", &[OutsideProject]);
    check(
        "Read",
        "/home/u/.ssh/id_rsa",
        &[OutsideProject, ProtectedPath],
    );
}

#[test]
fn links_are_followed() {
    let input = json!({ "file_path": "/w/proj/d/x" });
    let links = [Link {
        path: "/w/proj/d".to_owned(),
        target: "/home/u/.ssh".to_owned(),
    }];
    let risks = risk::read(&call("Edit", &input, &links));
    let kinds: Vec<_> = risks.iter().map(|risk| risk.kind).collect();
    assert_eq!(kinds, [OutsideProject, ProtectedPath]);
}

#[test]
fn other_tools() {
    let kinds = |tool: &str, input: Value| {
        let risks = risk::read(&call(tool, &input, &[]));
        risks.into_iter().map(|risk| risk.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds("WebFetch", json!({"url": "https://x"})), [Network]);
    assert_eq!(kinds("mcp__a__b", json!({})), [Unknown]);
    assert_eq!(kinds("Invented", json!({})), [Unknown]);
    assert_eq!(kinds("Bash", json!({})), [Unknown]);
    assert_eq!(kinds("Write", json!({})), [Unknown]);
    assert!(kinds("TodoWrite", json!({})).is_empty());
}

#[test]
fn kinds_have_snake_case_names() {
    let text = serde_json::to_string(&PipesIntoShell).unwrap();
    assert_eq!(text, "\"pipes_into_shell\"");
}

#[test]
fn what_runs_inside_of_a_wrapper_gets_its_input() {
    check("curl x | sudo sh", &[Privilege, Network, PipesIntoShell]);
    check("sudo sh", &[Privilege]);
    check("ls | xargs sh", &[PipesIntoShell]);
}

#[test]
fn what_is_not_closed_inside_of_a_script_is_unknown() {
    check("sh -c \"echo 'a\"", &[Unknown]);
    check("sh -c \"echo 'a'\"", &[]);
}

#[test]
fn a_search_in_the_web_goes_there() {
    let input = json!({ "query": "a" });
    let risks = risk::read(&call("WebSearch", &input, &[]));
    let kinds: Vec<_> = risks.into_iter().map(|risk| risk.kind).collect();
    assert_eq!(kinds, [Network]);
}
