//! Elicitation in URL mode: a server wants the person to open a URL.

use switchboard::protocol::ElicitResult;
use switchboard::spec::ServerName;
use switchboard::talk::Link;
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;

use super::{quote_lines, safe_line};
use crate::ask::Dialogue;
use crate::browser;

/// Asks the person whether to open the URL. Leaving the question cancels; only an explicit yes opens a
/// browser.
pub(super) async fn ask(
    server: &ServerName,
    message: &str,
    link: &Link,
    environment: &Environment,
    dialogue: &mut Dialogue,
) -> ElicitResult {
    let name = server.as_str();
    dialogue.say(&format!(
        "\nThe server {name:?} asks you to open this URL:\n"
    ));
    dialogue.say(&quote_lines(message));
    dialogue.say(&lines(link));
    // Ask until the answer is clear: a wrong key must not open a URL.
    let opens = loop {
        let question = "Open it in a browser? [y]es, [m]anually, [d]ecline, [c]ancel: ";
        let Some(answer) = dialogue.ask(question).await else {
            return ElicitResult::cancel();
        };
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => break true,
            "m" | "manually" | "myself" => break false,
            "d" | "decline" | "n" | "no" => return ElicitResult::decline(),
            "c" | "cancel" => return ElicitResult::cancel(),
            _ => {}
        }
    };
    if opens && !browser::open(link.whole(), environment) {
        dialogue.say("  could not start a browser: open the URL yourself\n");
    }
    ElicitResult::accept(None)
}

/// Asks the person if they are done there. Returns false if they give up.
pub(super) async fn is_done(server: &ServerName, dialogue: &mut Dialogue) -> bool {
    let question = format!("Press Enter when you are done (c cancels the request to {server}): ");
    match dialogue.ask(&question).await {
        Some(answer) => !matches!(answer.trim().to_ascii_lowercase().as_str(), "c" | "cancel"),
        None => false,
    }
}

/// Formats the URL in full, with its host marked and warnings about it.
fn lines(link: &Link) -> String {
    let parts: [&str; 3] = link.parts().into();
    let whole = safe_line(&parts.concat());
    let [before, host, after] = parts.map(safe_line);
    let mut lines = if format!("{before}{host}{after}") == whole {
        format!(
            "\n  {whole}\n  {}{} the host\n",
            " ".repeat(before.chars().count()),
            "^".repeat(host.chars().count())
        )
    } else {
        // Redaction crosses the border of the host, so the marker would be in the wrong place.
        format!("\n  {whole}\n  the host is {host}\n")
    };
    // Redaction has changed the URL, so it contains a secret.
    if whole != sanitise_line(&parts.concat()) {
        lines.push_str("  warning: the URL contains one of your secrets, which is not shown\n");
    }
    if let Some(unicode) = link.unicode_host() {
        lines.push_str(&format!(
            "  the host {host} reads {:?}\n",
            safe_line(unicode)
        ));
    }
    for warning in link.warnings() {
        lines.push_str(&format!("  warning: {warning}\n"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use switchboard::secret::Redactor;
    use switchboard::talk::ElicitLimits;

    use super::*;

    #[test]
    fn an_address_is_shown_whole_with_its_host_marked_and_both_readings_of_it() {
        let link = |text: &str| Link::parse(text, &ElicitLimits::default()).unwrap();
        assert_eq!(
            lines(&link("https://example.com/a?b=c#d")),
            "\n  https://example.com/a?b=c#d\n          ^^^^^^^^^^^ the host\n"
        );
        let imitated = lines(&link("https://\u{430}pple.com/"));
        assert!(imitated.contains("https://xn--pple-43d.com/"), "{imitated}");
        assert!(imitated.contains("reads \"\u{430}pple.com\""), "{imitated}");
        assert!(
            imitated.contains("warning: the host's name mixes"),
            "{imitated}"
        );
        let mut secrets = Redactor::new();
        secrets.add("canary-of-visits");
        super::super::learn(&secrets);
        assert_eq!(
            lines(&link("https://example.com/?k=canary-of-visits")),
            "\n  https://example.com/?k=***\n          ^^^^^^^^^^^ the host\n  \
             warning: the URL contains one of your secrets, which is not shown\n"
        );
    }
}
