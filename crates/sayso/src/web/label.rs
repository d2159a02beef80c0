//! A short name for a client, made by the server from what its browser says.

/// How `sayso allow` and its siblings name themselves when a human sits in front of them.
pub(crate) const TERMINAL: &str = concat!("sayso-terminal/", env!("CARGO_PKG_VERSION"));

/// "Chrome on Linux", "Safari on iPhone", "a terminal", "a script".
pub(super) fn label(user_agent: Option<&str>) -> String {
    let Some(agent) = user_agent else {
        return "a script".to_owned();
    };
    if agent.starts_with("sayso-terminal/") {
        return "a terminal".to_owned();
    }
    let first = |names: &[(&str, &'static str)]| {
        names
            .iter()
            .find(|(mark, _)| agent.contains(mark))
            .map(|(_, name)| *name)
    };
    let browser = first(&[
        ("Edg/", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = first(&[
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("CrOS", "ChromeOS"),
        ("Macintosh", "Mac"),
        ("Windows", "Windows"),
        ("Linux", "Linux"),
    ]);
    match (browser, system) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        (None, _) => "a script".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn browsers_and_scripts_get_names_that_people_know() {
        let cases = [
            (
                Some(
                    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
                ),
                "Chrome on Linux",
            ),
            (
                Some(
                    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Version/19.0 Mobile/15E148 Safari/604.1",
                ),
                "Safari on iPhone",
            ),
            (
                Some(
                    "Mozilla/5.0 (Linux; Android 16; Pixel 8) AppleWebKit/537.36 Chrome/156.0.0.0 Mobile Safari/537.36",
                ),
                "Chrome on Android",
            ),
            (Some("curl/8.0"), "a script"),
            (Some(super::TERMINAL), "a terminal"),
            (None, "a script"),
        ];
        for (agent, name) in cases {
            assert_eq!(label(agent), name);
        }
    }
}
