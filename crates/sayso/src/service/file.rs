//! What a service manager is told: pure text, made of the program and its flags.

use super::arguments::Manager;

/// Stands in every file that Sayso writes, and in no other.
pub(super) const MARK: &str = "Written by `sayso service install`";
pub(super) const UNIT: &str = "sayso.service";
pub(super) const LABEL: &str = "org.sayso.server";

/// What is started, and how it finds agents.
#[derive(Clone, Debug)]
pub(super) struct Start {
    /// The program, then its arguments.
    pub(super) command: Vec<String>,
    /// Service managers know only the system's own folders of programs.
    pub(super) path: String,
}

pub(super) fn text(manager: Manager, start: &Start) -> String {
    match manager {
        Manager::Systemd => unit(start),
        Manager::Launchd => property_list(start),
    }
}

fn unit(start: &Start) -> String {
    // Only in arguments does a dollar sign begin a variable.
    let command = start.command.iter().enumerate();
    let command = command.map(|(index, word)| match index {
        0 => quoted(word),
        _ => quoted(&word.replace('$', "$$")),
    });
    let command = command.collect::<Vec<_>>().join(" ");
    let path = quoted(&format!("PATH={}", start.path));
    format!(
        "# {MARK}, which replaces it, and `sayso service uninstall` removes it.
[Unit]
Description=Sayso: your agents act on your say-so

[Service]
ExecStart={command}
Environment={path}
Restart=on-failure
RestartSec=2
# Agents go on while Sayso is restarted, and it takes them over.
KillMode=process
# The link that it prints lets somebody in, so it belongs into no log; `sayso pair` prints one to you.
StandardOutput=null

[Install]
WantedBy=default.target
"
    )
}

/// As systemd reads words: its own escapes, and nothing of it a specifier.
fn quoted(word: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in word.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '%' => quoted.push_str("%%"),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

fn property_list(start: &Start) -> String {
    let words: String = start
        .command
        .iter()
        .map(|word| format!("    <string>{}</string>\n", escaped(word)))
        .collect();
    let path = escaped(&start.path);
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- {MARK}, which replaces it; `sayso service uninstall` removes it. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
{words}  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>{path}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>AbandonProcessGroup</key>
  <true/>
</dict>
</plist>
"#
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Start {
        Start {
            command: [
                "/opt/my $tools/sayso",
                "serve",
                "--data-dir",
                "/a\"b\\c%h$HOME<&>",
            ]
            .map(str::to_owned)
            .to_vec(),
            path: "/usr/bin:/home/ada/100% $bin".to_owned(),
        }
    }

    #[test]
    fn systemd_reads_every_word_as_it_is() {
        let unit = text(Manager::Systemd, &start());
        assert!(
            unit.contains(
                r#"ExecStart="/opt/my $tools/sayso" "serve" "--data-dir" "/a\"b\\c%%h$$HOME<&>""#
            ),
            "{unit}"
        );
        assert!(
            unit.contains(r#"Environment="PATH=/usr/bin:/home/ada/100%% $bin""#),
            "{unit}"
        );
        assert!(
            unit.contains("\nKillMode=process\n"),
            "agents outlive a restart"
        );
        assert!(unit.starts_with(&format!("# {MARK}")));
    }

    #[test]
    fn launchd_reads_every_word_as_it_is() {
        let list = text(Manager::Launchd, &start());
        assert!(
            list.contains("<string>/a\"b\\c%h$HOME&lt;&amp;&gt;</string>"),
            "{list}"
        );
        assert!(list.contains(MARK) && list.contains("<key>AbandonProcessGroup</key>\n  <true/>"));
    }
}
