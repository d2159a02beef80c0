//! The decision, rule by rule. `cases.rs` has the tables of known bypasses.

mod checker;

use checker::{bash, call};
use pretty_assertions::assert_eq;
use sayso_policy::{Decision, Evaluation, RuleId};
use serde_json::json;

#[test]
fn without_rules_everything_asks() {
    assert_eq!(
        bash("ls").evaluate(),
        Evaluation {
            decision: Decision::Ask,
            matched: Vec::new(),
            explanation: "`ls` is not covered by any rule.".to_owned(),
        }
    );
    call("Read", json!({"file_path": "/w/proj/a"})).asks();
    call("WebFetch", json!({"url": "https://example.com"})).asks();
    call("Invented", json!({})).asks();
    bash("").asks();
    bash("").deny("Bash").denies();
    call("Bash", json!({})).deny("Bash").denies();
    call("Bash", json!({})).allow("Bash").asks();
    call("Bash", json!({"command": 1})).allow("Bash").asks();
}

#[test]
fn every_part_must_be_allowed_and_the_missing_one_is_named() {
    let evaluation = bash("ls -la && cargo test | tail -5; touch x")
        .allow("Bash(ls:*)")
        .allow("Bash(tail:*)")
        .asks();
    assert_eq!(
        evaluation.explanation,
        "`cargo test` is not covered by any rule; `touch x` is not covered by any rule."
    );
    let evaluation = bash("ls -la && cargo test | tail -5")
        .allow("Bash(ls:*)")
        .allow("Bash(cargo test:*)")
        .allow("Bash(tail:*)")
        .allows();
    let ids = ["Bash(cargo test:*)", "Bash(ls:*)", "Bash(tail:*)"];
    assert_eq!(evaluation.matched, ids.map(RuleId::new));
}

#[test]
fn the_strictest_rule_wins_wherever_it_stands() {
    for rules in [
        ["allow", "ask", "deny"],
        ["deny", "allow", "ask"],
        ["ask", "deny", "allow"],
    ] {
        let mut check = bash("git push");
        for effect in rules {
            let effect = match effect {
                "allow" => Decision::Allow,
                "ask" => Decision::Ask,
                _ => Decision::Deny,
            };
            check = check.with(effect, "Bash(git push:*)");
        }
        check.denies();
    }
    bash("git push")
        .allow("Bash(git push)")
        .ask("Bash(git:*)")
        .asks();
}

#[test]
fn a_denied_command_is_found_anywhere() {
    for command in [
        "git push",
        "git  push",
        "cd x && git push",
        "echo \"$(git push)\"",
        "echo `git push`",
        "echo \"`git push`\"",
        "echo \"$'\"; git push; echo \"'\"",
        "((x<<2))\ngit push",
        "for i in 1; do git push; done",
        "if true; then git push; fi",
        "while git push; do :; done",
        "case x in x) git push;; esac",
        "echo $(case x in x) git push;; esac)",
        "f() { git push; }; f",
        "function f { git push; }; f",
        "(git push)",
        "{ git push; }",
        "! git push",
        "diff <(git push) x",
        "FOO=1 git push",
        "FOO=$(git push) ls",
        "timeout 5 git push",
        "timeout -s KILL 5 git push",
        "nice -n 5 git push",
        "env -i A=1 git push",
        "sudo -u x git push",
        "xargs git push",
        "nohup git push &",
        "ls\ngit push",
        "ls # comment\ngit push",
        "git 'push'",
        "git \"push\" origin",
        "g'i't pu\\sh",
        "$'gi\\x74' push",
        "/usr/bin/git push",
        "sh -c 'git push'",
        "bash -lc \"git push\"",
        "sh -c \"bash -c 'git push'\"",
        "eval git push",
        "trap 'git push' EXIT",
        "find . -exec git push {} +",
        "bash <<'EOF'\ngit push\nEOF",
        "cat <<EOF\n$(git push)\nEOF",
        "echo ${x:-$(git push)}",
        "[[ -n $(git push) ]] && ls",
        "git push > out 2>&1",
        "ls | git push",
        "ls || git push",
        "ls & git push",
        "a=(1 2); git push",
        "echo $((1<<2))\ngit push",
        "watch git push",
        "git push 'unclosed",
        ">x case a in; git push",
        "case x in (x) git push;; esac",
        "'[[' a && git push",
        "ls;; git push",
        "ls a#b; git push",
        "a[1]=x git push",
        "env A_B=1 git push",
        "env a-b=1 git push",
        "watch 'git push'",
        "watch -n 5 'git push'",
        "watch 'ls; git push'",
        "env -S 'sudo git push'",
        "command git push",
        "strace -v git push",
        "find . -exec ls {} + -exec git push {} +",
    ] {
        bash(command)
            .deny("Bash(git push:*)")
            .allow("Bash")
            .denies();
        bash(command).ask("Bash(git push:*)").allow("Bash").asks();
    }
}

#[test]
fn data_is_not_a_command() {
    for command in [
        "echo 'git push'",
        "echo git push",
        "git commit -m 'git push'",
        "cat <<'EOF' > notes\ngit push\nEOF",
        "case 'git push' in x) ls;; esac",
        "ls # git push",
        "ls # x; git push",
        "(cat <<X\ngit push\nX\n)",
        "1a=b git push",
        "=b git push",
        "bash -x 'git push'",
        "command -v git push",
        "command -V git push",
    ] {
        bash(command).deny("Bash(git push:*)").asks();
    }
}

#[test]
fn where_a_nested_command_ends() {
    for command in [
        "find . -exec git push \\; -print",
        "find . -exec git push + -print",
        "echo $(git push) x",
        "echo `git push` x",
        "{ git push; }",
    ] {
        bash(command).deny("Bash(git push)").denies();
    }
    bash("find . -exec git push origin +")
        .deny("Bash(git push)")
        .asks();
}

#[test]
fn a_nested_command_is_denied_as_it_is_written_too() {
    bash("echo $(A=1 b c)").deny("Bash(A=1 b c)").denies();
    for rule in [
        "Bash('a&b' c)",
        "Bash('a&b':*)",
        "Bash('a&b' * c)",
        "Bash('a&*)",
    ] {
        let command = "echo $('a&b' d c; 'a&b' c)";
        bash(command).deny(rule).denies();
        // Another rule with quotes makes no difference.
        let other = "Bash('x y' z)";
        bash(command).deny(rule).deny(other).denies();
        bash(command).deny(other).deny(rule).denies();
    }
    bash("echo $(/opt/x/b c)").deny("Bash(/opt/x/b c)").denies();
}

#[test]
fn the_reason_says_what_the_rule_does() {
    let explained = |check: checker::Check| check.evaluate().explanation;
    assert_eq!(
        explained(bash("git push").deny("Bash(git push)")),
        "`git push` is denied by a rule."
    );
    assert_eq!(
        explained(bash("git push").ask("Bash(git push)")),
        "`git push` is to be asked about by a rule."
    );
    assert_eq!(
        explained(call("Edit", json!({"file_path": "src/a"}))),
        "`src/a` is not covered by any rule."
    );
    assert_eq!(
        explained(bash(&format!("ls {}", "x".repeat(200)))),
        format!("`ls {}…` is not covered by any rule.", "x".repeat(197))
    );
    let fetch = |url: &str| call("WebFetch", json!({ "url": url })).allow("WebFetch");
    for url in ["https://u@example.com/", "https://:p@example.com/"] {
        assert_eq!(
            explained(fetch(url)),
            "the address carries a user name or a password."
        );
    }
}

#[test]
fn every_rule_that_denies_is_named() {
    let evaluation = bash("git push; rm x")
        .deny("Bash(git push:*)")
        .deny("Bash(rm:*)")
        .denies();
    let ids = ["Bash(git push:*)", "Bash(rm:*)"].map(RuleId::new);
    assert_eq!(evaluation.matched, ids);
}

#[test]
fn a_deny_rule_is_not_a_boundary_but_such_commands_never_run_unasked() {
    for command in ["git -C . push", "git $X", "$GIT push", "g{i,}t push"] {
        bash(command).deny("Bash(git push:*)").allow("Bash").asks();
    }
}

#[test]
fn patterns_of_commands() {
    bash("npm test").allow("Bash(npm test:*)").allows();
    bash("npm test --silent").allow("Bash(npm test *)").allows();
    bash("npm tests").allow("Bash(npm test:*)").asks();
    bash("npm run build").allow("Bash(npm run build)").allows();
    bash("npm run build:all")
        .allow("Bash(npm run build)")
        .asks();
    bash("npm run build:all")
        .allow("Bash(npm run build*)")
        .allows();
    bash("git log -1 main")
        .allow("Bash(git log * main)")
        .allows();
    bash("ls src").allow("Bash").allows();
    bash("ls src").allow("Bash(*)").allows();
    bash("ls  src").allow("Bash(ls src)").allows();
    bash("git commit -m 'a b'")
        .allow("Bash(git commit -m \"a b\")")
        .allows();
    bash("git commit -m 'a b'")
        .allow("Bash(git commit -m a b)")
        .asks();
    bash("git 'commit x'").allow("Bash(git commit:*)").asks();
    // A pattern may hold quotes as the command has them.
    bash("git commit -m \"a b\"")
        .allow("Bash(git commit -m \"*)")
        .allows();
    // What a rule sets, it does not allow without.
    bash("ls x").allow("Bash(CI=1 ls x)").asks();
    bash("echo a*b").allow("Bash(echo a\\*b)").allows();
    bash("echo axb").allow("Bash(echo a\\*b)").asks();
}

#[test]
fn an_exact_rule_can_allow_what_a_prefix_cannot() {
    for command in [
        "find . -name x -delete",
        "sed -i s/a/b/ file",
        "git config user.name me",
        "python3 -c 'print(1)'",
        "npx tsc --noEmit",
        "timeout 30 python3 x.py",
    ] {
        bash(command).allow(&format!("Bash({command})")).allows();
        let program = command.split(' ').next().unwrap_or_default();
        bash(command).allow(&format!("Bash({program}:*)")).asks();
        bash(command).allow("Bash").asks();
    }
    bash("cat a | sed -n 1,5p")
        .allow("Bash(cat:*)")
        .allow("Bash(sed -n 1,5p)")
        .allows();
    // But not what comes out of a pipe.
    bash("echo x | sh")
        .allow("Bash(echo:*)")
        .allow("Bash(sh)")
        .asks();
}

#[test]
fn wrappers() {
    bash("timeout 5m nohup npm test")
        .allow("Bash(npm test:*)")
        .allows();
    bash("time npm test").allow("Bash(npm test:*)").allows();
    bash("timeout -k 5 30 npm test")
        .allow("Bash(npm test:*)")
        .asks();
    bash("timeout 30 'npm' test")
        .allow("Bash(npm test:*)")
        .asks();
    for duration in ["5.", ".5", "x", "5x", "5.x", "-5", ""] {
        let command = format!("timeout {duration} npm test");
        bash(&command).allow("Bash(npm test:*)").asks();
    }
    bash("timeout 0.5s npm test")
        .allow("Bash(npm test:*)")
        .allows();
    bash("nohup").allow("Bash(nohup:*)").asks();
    bash("nice npm test").allow("Bash(npm test:*)").asks();
    bash("timeout 5 ls").allow("Bash(timeout *)").asks();
    bash("nohup ls").allow("Bash(nohup:*)").asks();
    bash("nohup 'time' ls").allow("Bash(ls:*)").asks();
    let deep = format!("{}ls", "nohup ".repeat(5));
    bash(&deep).allow("Bash(ls:*)").asks();
}

#[test]
fn nothing_may_be_left_for_the_shell_to_put_in() {
    for command in [
        "ls $HOME",
        "ls ~",
        "ls ~/x",
        "ls {a,b}",
        "ls \\x",
        "ls $'x'",
        "ls =x",
        "ls a^b",
        "ls !x",
        "ls \"$x\"",
        "ls \"a\\b\"",
        "ls &",
        "ls |& ls",
        "! ls",
        "(ls)",
        "{ ls; }",
        "ls; A=1",
        "ls > x",
        "ls < x",
        "ls <<< x",
        "ls 2>&1 x > y",
        "ls >&x",
        "ls 3>&1 >/dev/null x",
        "ls\nls",
        " ls",
        "ls ",
        "ls\tx",
        "A=1 ls",
        "NODE_ENV=$x ls",
        "NODE_ENV=/x ls",
        "NODE_ENV= ls",
        "ls;; ls",
        "/bin/ls",
        ".ls",
        "l:s",
        "l@s",
        "ls à",
        "-ls",
        "./ls",
        "ls\\\n",
    ] {
        bash(command).allow("Bash(ls:*)").allow("Bash").asks();
    }
    for command in [
        "ls",
        "ls -la *.rs",
        "ls 'a b'",
        "ls \"a b\"c'd'",
        "ls HEAD~1",
        "ls 2>&1 >/dev/null",
        "ls &>/dev/null",
        "ls </dev/null",
        "ls; ls;",
        "ls | ls && ls || ls",
        "CI=1 NO_COLOR=1 ls",
        "ls ''",
        "ls 日本",
        "ls 'à'",
        "ls 2>/dev/null | ls 2>&1",
    ] {
        bash(command).allow("Bash(ls:*)").allows();
    }
}

#[test]
fn options_that_run_or_write_need_an_exact_rule() {
    for command in [
        "git -c a=b status",
        "git --git-dir=x status",
        "git log --outp=x",
        "git diff --ext-diff",
        "git rebase -x ls",
        "git config alias.x y",
        "git bisect run x",
        "git fetch ext::x",
        "npm test --prefix=x",
        "npm test -prefix x",
        "npm test --pref x",
        "npm -C x test",
        "npm test --script-shell=x",
        "cargo test --config x",
        "cargo +nightly test",
        "cargo test --manifest-path=x",
        "go test -exec x",
        "go build -o x",
        "go build -toolexec=x",
        "make -f x",
        "make SHELL=x",
        "tar xIf x y",
        "tar -xf x --to-command=y",
        "sort -uo x",
        "sort --outp=x",
        "rg --pre x y",
        "uniq a b",
        "dd of=x",
        "fd -x ls",
        "pytest -c x",
        "gcc @x",
        "rsync -e x a b",
        "find . -fprint0 x",
        "ls -*",
        "git add *",
        "split --filter=x",
        "mv * x",
        "cp a* x",
    ] {
        let program = command.split(' ').next().unwrap_or_default();
        let evaluation = bash(command).allow(&format!("Bash({program}:*)"));
        // `ls` has no table, but what a pattern becomes may be an option.
        evaluation.asks();
    }
    for command in [
        "git --no-pager log --oneline -p",
        "git commit -am 'x'",
        "git diff --stat --cached",
        "git add -- -c",
        "git commit -m 'use a b::c'",
        "npm test --silent",
        "npm test -s",
        "npm test @scope/x",
        "gcc -c x.c",
        "npm run x -- --prefix y",
        "cargo build --target x",
        "cargo test --workspace -- --nocapture",
        "go test -count=1 -run X ./...",
        "make all",
        "tar czf x.tgz y",
        "sort -u x",
        "rg -n x",
        "uniq a",
        "curl -fsSL https://x",
        "date +%s",
        "find . -type f -name x",
        "grep -rn x .",
        "pytest -x -q tests",
        "eslint --fix src",
    ] {
        let program = command.split(' ').next().unwrap_or_default();
        bash(command).allow(&format!("Bash({program}:*)")).allows();
    }
}

#[test]
fn everyday_commands_are_understood() {
    for command in [
        "git commit -m \"fix: it's; a | b\"",
        "git log --oneline -5 HEAD~2..main",
        "cargo test -p x --test y -- --nocapture 2>&1 | tail -20",
        "echo \"50% off!\" '' \"\" a=b --x=y,z",
        "npm run test:unit -- --reporter=dot && git status --short",
        "ls -la src/*.rs /usr/share/doc 2>/dev/null || echo none",
        "NODE_ENV=test CI=true npm test",
        "grep -rn \"fn main\" --include='*.rs' .",
        "wc -l a.txt; head -n 3 b.txt",
        "mkdir -p a/b && cd a/b",
        "docker-compose-x up @scope/package user@host:path 1.2.3",
    ] {
        let programs = [
            "git",
            "cargo",
            "tail",
            "echo",
            "npm",
            "ls",
            "grep",
            "wc",
            "head",
            "mkdir",
            "cd",
            "docker-compose-x",
        ];
        let check = programs.iter().fold(bash(command), |check, program| {
            check.allow(&format!("Bash({program}:*)"))
        });
        check.allows();
    }
}

#[test]
fn moving_away_and_git_ask() {
    bash("cd sub && git status")
        .allow("Bash(cd:*)")
        .allow("Bash(git status:*)")
        .asks();
    bash("cd sub && ls")
        .allow("Bash(cd:*)")
        .allow("Bash(ls:*)")
        .allows();
}

#[test]
fn some_files_are_never_changed_by_a_rule() {
    for command in [
        "cp x .git/hooks/pre-commit",
        "touch .claude/settings.json",
        "mv a .bashrc",
        "rm -rf /",
        "rm -rf /etc",
        "rm -rf .",
        "rm -rf ..",
        "rm -rf /home/u",
        "rm -rf /w/proj",
        "rm -rf *",
        "cd .git",
    ] {
        let program = command.split(' ').next().unwrap_or_default();
        bash(command).allow(&format!("Bash({program}:*)")).asks();
        bash(command)
            .allow(&format!("Bash({})", command.replace('*', "\\*")))
            .asks();
    }
    bash("rm -rf build").allow("Bash(rm:*)").allows();
    for folder in ["/w/other", "/w/proj"] {
        bash(&format!("rm -rf {folder}"))
            .allow("Bash(rm:*)")
            .from("/w/other/sub")
            .asks();
    }
    bash("rm -rf d")
        .allow("Bash(rm:*)")
        .link("/w/proj/d", "/etc")
        .asks();
    bash("cp a d/b")
        .allow("Bash(cp:*)")
        .link("/w/proj/d", "/w/proj/.git/hooks")
        .asks();
}

#[test]
fn path_rules_hold_for_commands_too() {
    bash("cat secrets/k")
        .allow("Bash(cat:*)")
        .deny("Read(secrets/**)")
        .denies();
    bash("echo x > secrets/k").deny("Edit(secrets/**)").denies();
    bash("echo x > secrets/k").deny("Read(secrets/**)").denies();
    bash("wc < secrets/k").deny("Read(secrets/**)").denies();
    bash("cp a secrets/k")
        .allow("Bash(cp:*)")
        .deny("Edit(secrets/**)")
        .denies();
    bash("cat public/k")
        .allow("Bash(cat:*)")
        .deny("Read(secrets/**)")
        .allows();
    // Only `~/` is a home.
    bash("cat ~x/k")
        .deny("Read(secrets/**)")
        .link("/w/proj/~x", "secrets")
        .denies();
    bash("cat link")
        .allow("Bash(cat:*)")
        .deny("Read(secrets/**)")
        .link("/w/proj/link", "secrets/k")
        .denies();
}

#[test]
fn files() {
    let edit = |path: &str| call("Edit", json!({ "file_path": path }));
    let write = |path: &str| call("Write", json!({ "file_path": path }));
    let read = |path: &str| call("Read", json!({ "file_path": path }));
    edit("src/a.rs").allow("Edit(src/**)").allows();
    write("src/a.rs").allow("Edit(src/**)").allows();
    read("src/a.rs").allow("Edit(src/**)").asks();
    write("src/a.rs")
        .deny("Read(src/**)")
        .allow("Edit")
        .denies();
    write("/tmp/x").allow("Edit").allows();
    write("/tmp/x").allow("Write").allows();
    edit("/tmp/x").allow("Write").asks();
    write(".git/config").allow("Write").asks();
    read(".git/config").allow("Read(.git/**)").allows();
    edit("src/a.rs").allow("Edit(src)").allows();
    edit("src/a.rs").allow("Edit(src/*)").allows();
    edit("src/b/a.rs").allow("Edit(src/*)").asks();
    edit("src/b/a.rs").deny("Edit(src/*)").denies();
    edit("x.rs/a").allow("Edit(*.rs)").asks();
    edit("src/a.rs").allow("Edit(src/)").allows();
    edit("x/src/a.rs").allow("Edit(src/)").asks();
    read("src/x").ask("Read(src/**)").allow("Read").asks();
    read("a/keys/x.pem")
        .deny("Read(keys/*.pem)")
        .allow("Read")
        .denies();
    read("a/b/keys/x.pem")
        .deny("Read(b/keys/*.pem)")
        .allow("Read")
        .allows();
    read("/data/keys/x")
        .deny("Read(keys/**)")
        .allow("Read")
        .allows();
    read("/data/keys/x")
        .deny("Read(keys/**)")
        .allow("Read")
        .link("/w/proj", "/data")
        .denies();
    read("/data/keys/x")
        .allow("Read(keys/**)")
        .link("/w/proj", "/data")
        .asks();
    edit("src/a")
        .allow("Edit(src/**)")
        .link("/w/proj/src/a", "/w/proj/src/a")
        .asks();
    for path in [
        "//w/proj/src/a",
        "~/x",
        "src/ ",
        "/proc/self/mem",
        "src\\a",
        "src/\u{200b}a",
    ] {
        edit(path).allow("Edit").asks();
    }
    call("Edit", json!({})).allow("Edit").asks();
    edit("a{b}").allow("Edit(a{b})").allows();
    edit("ab").allow("Edit(a{b})").asks();
    read("a/x").deny("Read(/x)").allow("Read").allows();
    read("x").deny("Read(/x)").allow("Read").denies();
    let notebook = json!({"notebook_path": "src/a.ipynb"});
    call("NotebookEdit", notebook)
        .allow("Edit(src/**)")
        .allows();
    let two = json!({"file_path": "a", "notebook_path": ".git/hooks/x"});
    call("NotebookEdit", two.clone()).allow("Edit").asks();
    call("Edit", two).allow("Edit").asks();
}

#[test]
fn searches() {
    let grep = |input| call("Grep", input);
    grep(json!({"pattern": "x"})).allow("Read(**)").allows();
    grep(json!({"pattern": "x", "path": "src"}))
        .allow("Read(src/**)")
        .allows();
    grep(json!({"pattern": "x"})).allow("Read(src/**)").asks();
    grep(json!({"pattern": "x"})).allow("Grep").allows();
    grep(json!({"pattern": "x"})).deny("Read").denies();
    call("Glob", json!({"pattern": "src/**"}))
        .allow("Read(**)")
        .allows();
    call("Glob", json!({"pattern": "/etc/**"}))
        .allow("Read(**)")
        .asks();
    call("Glob", json!({"pattern": "../**"}))
        .allow("Glob")
        .asks();
    grep(json!({"pattern": "x"}))
        .allow("Grep")
        .deny("Read(.env)")
        .asks();
}

#[test]
fn web() {
    let fetch = |url: &str| call("WebFetch", json!({ "url": url }));
    fetch("https://example.com:8443/a?b#c")
        .allow("WebFetch(domain:example.com)")
        .allows();
    fetch("https://a.example.com/")
        .allow("WebFetch(domain:example.com)")
        .asks();
    fetch("http://example.com/")
        .allow("WebFetch(domain:example.com)")
        .allows();
    fetch("https:example.com/")
        .allow("WebFetch(domain:example.com)")
        .asks();
    fetch("https://ex%61mple.com/")
        .allow("WebFetch(domain:example.com)")
        .asks();
    fetch("http://0x7f000001/")
        .allow("WebFetch(domain:127.0.0.1)")
        .asks();
    fetch("https://u@example.com/")
        .deny("WebFetch(domain:example.com)")
        .denies();
    fetch("https://EXAMPLE.com.")
        .deny("WebFetch(domain:example.com)")
        .denies();
    fetch("https://example.com/").allow("WebFetch").allows();
    for url in [
        "https://example.com/a b",
        "https://example.com/\u{200b}",
        "https://example.com\\x",
    ] {
        fetch(url).allow("WebFetch(domain:example.com)").asks();
    }
    fetch("http://[::1]/").allow("WebFetch").allows();
    fetch("file:///etc/passwd").allow("WebFetch").asks();
}

#[test]
fn servers_agents_and_fields() {
    let tool = |name: &str| call(name, json!({}));
    tool("mcp__gh__get_x").allow("mcp__gh").allows();
    tool("mcp__gh__get_x").allow("mcp__gh__*").allows();
    tool("mcp__gh__get_x").allow("mcp__gh__get_*").allows();
    tool("mcp__gh__get_x").allow("mcp__gh__get_x").allows();
    tool("mcp__gh__put_x").allow("mcp__gh__get_*").asks();
    tool("mcp__gh_evil__get_x")
        .allow("mcp__gh__get_*")
        .allow("mcp__gh")
        .asks();
    for rule in ["*", "B*", "mcp__*"] {
        tool("mcp__gh__get_x").allow(rule).asks();
        bash("ls").allow(rule).asks();
    }
    tool("mcp__gh__get_x").deny("mcp__*").denies();
    let agent = |name: &str| call("Agent", json!({ "subagent_type": name }));
    agent("Explore").allow("Agent(Explore)").allows();
    agent("Other").allow("Agent(Explore)").asks();
    agent("Explore").deny("Agent(Explore)").denies();
    call("Task", json!({"subagent_type": "Explore"}))
        .allow("Agent")
        .allows();
    call("Agent", json!({"subagent_type": "x", "model": "opus"}))
        .allow("Agent")
        .deny("Agent(model:opus)")
        .denies();
    call("Bash", json!({"command": "ls", "run_in_background": true}))
        .allow("Bash(ls:*)")
        .deny("Bash(run_in_background:true)")
        .denies();
}

#[test]
fn a_field_rule_is_about_one_tool_and_one_value() {
    let rule = "Bash(run_in_background:true)";
    for input in [
        json!({"command": "ls"}),
        json!({"command": "ls", "run_in_background": false}),
    ] {
        call("Bash", input).allow("Bash(ls:*)").deny(rule).allows();
    }
    call("WebSearch", json!({"run_in_background": true}))
        .allow("WebSearch")
        .deny(rule)
        .allows();
}

#[test]
fn patterns_without_a_program_deny_nested_commands_too() {
    bash("echo $(x --force)").deny("Bash(* --force)").denies();
    bash("echo $(x --force)")
        .ask("Bash(* --force)")
        .allow("Bash")
        .asks();
    bash("echo $(x)").deny("Bash(* --force)").asks();
    bash("echo $(x)").deny("Bash(*)").denies();
    bash("echo $('my prog' x)")
        .deny("Bash('my prog' x)")
        .denies();
}

#[test]
fn many_reasons_to_ask_do_not_hide_one_to_deny() {
    let command = format!("{}git push", "ls x; ".repeat(500));
    bash(&command)
        .ask("Bash(ls:*)")
        .deny("Bash(git push:*)")
        .denies();
}

#[test]
fn names_of_tools_are_taken_as_they_are() {
    for name in ["bash", "Bash ", "Bash\u{200b}", "BASH", ""] {
        call(name, json!({"command": "ls"}))
            .allow("Bash")
            .allow("Bash(ls:*)")
            .asks();
    }
}

#[test]
fn questions_are_never_answered_by_a_rule() {
    for name in ["AskUserQuestion", "ExitPlanMode"] {
        call(name, json!({})).allow(name).asks();
        call(name, json!({})).deny(name).denies();
    }
}
