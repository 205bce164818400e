//! An address that a server wants to send the person to.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use switchboard::protocol::ElicitResult;
use switchboard::spec::ServerName;
use switchboard::talk::Link;
use switchboard::text::sanitise_line;
use switchboard::transport::{Environment, Search, resolve};

use super::{quoted, shown};
use crate::ask::Dialogue;

/// Asks the person whether to go there. Leaving the question cancels; only a plain yes opens anything.
pub(super) async fn ask(
    server: &ServerName,
    message: &str,
    link: &Link,
    environment: &Environment,
    dialogue: &mut Dialogue,
) -> ElicitResult {
    let name = server.as_str();
    dialogue.say(&format!(
        "\nThe server {name:?} wants to send you to an address:\n"
    ));
    dialogue.say(&quoted(message));
    dialogue.say(&lines(link));
    let opens = loop {
        let question = "Open it in a browser? [y]es, [m]yself, [d]ecline, [c]ancel: ";
        let Some(answer) = dialogue.ask(question).await else {
            return ElicitResult::cancel();
        };
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => break true,
            "m" | "myself" => break false,
            "d" | "decline" | "n" | "no" => return ElicitResult::decline(),
            "c" | "cancel" => return ElicitResult::cancel(),
            _ => {}
        }
    };
    if opens && !open(link.whole(), environment) {
        dialogue.say("  no browser could be started: copy the address into one\n");
    }
    ElicitResult::accept(None)
}

/// Whether the person is done there, and what waits for it can go on.
pub(super) async fn is_done(server: &ServerName, dialogue: &mut Dialogue) -> bool {
    let question =
        format!("Enter when you are done there, c gives up what {server} was asked for: ");
    match dialogue.ask(&question).await {
        Some(answer) => !matches!(answer.trim().to_ascii_lowercase().as_str(), "c" | "cancel"),
        None => false,
    }
}

/// The address in whole, with its host marked and what there is to know of it.
fn lines(link: &Link) -> String {
    let parts: [&str; 3] = link.parts().into();
    let whole = shown(&parts.concat());
    let [before, host, after] = parts.map(shown);
    let mut lines = match format!("{before}{host}{after}") == whole {
        true => format!(
            "\n  {whole}\n  {}{} the host\n",
            " ".repeat(before.chars().count()),
            "^".repeat(host.chars().count())
        ),
        // What must not be shown does not end where the host does.
        false => format!("\n  {whole}\n  the host is {host}\n"),
    };
    if whole != sanitise_line(&parts.concat()) {
        lines.push_str("  warning: it holds a secret of yours, which is not shown\n");
    }
    if let Some(unicode) = link.unicode_host() {
        lines.push_str(&format!("  the host {host} reads {:?}\n", shown(unicode)));
    }
    for warning in link.warnings() {
        lines.push_str(&format!("  warning: {warning}\n"));
    }
    lines
}

/// Opens an address in a browser; false where no program could be started for it. No shell sees it: it is
/// one argument of one program.
fn open(url: &str, environment: &Environment) -> bool {
    let Some((program, before)) = program(environment) else {
        return false;
    };
    let mut command = Command::new(program);
    command.args(before).arg(url);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match command.spawn() {
        Ok(mut child) => {
            // It may live as long as the browser. Whoever has ended is taken note of.
            std::thread::spawn(move || {
                child.wait().ok();
                // A browser may go on without it.
                switchboard::keeper::spare_orphans();
            });
            true
        }
        Err(_) => false,
    }
}

/// The program that opens addresses, with what stands before the address: `$BROWSER` where it names a program and
/// nothing else, or the system's own.
fn program(environment: &Environment) -> Option<(PathBuf, &'static [&'static str])> {
    let variable = |name: &str| environment.get(name).map(|value| value.expose().as_str());
    let find = |command: &str| {
        // A path that depends on the folder would let a project decide what runs.
        let is_name = !command.contains(['/', '\\']);
        if !is_name && !Path::new(command).is_absolute() {
            return None;
        }
        let search = Search {
            command,
            path: variable("PATH"),
            pathext: variable("PATHEXT"),
            cwd: None,
        };
        resolve(&search).ok()
    };
    let own = variable("BROWSER").filter(|own| !own.is_empty());
    if let Some(program) = own.and_then(find) {
        return Some((program, &[]));
    }
    let (command, before): (_, &[&str]) = if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if cfg!(target_os = "macos") {
        ("open", &[])
    } else {
        ("xdg-open", &[])
    };
    Some((find(command)?, before))
}

#[cfg(test)]
mod tests {
    use switchboard::secret::Redactor;
    use switchboard::talk::Bounds;

    use super::*;

    #[test]
    fn an_address_is_shown_whole_with_its_host_marked_and_both_readings_of_it() {
        let link = |text: &str| Link::parse(text, &Bounds::default()).unwrap();
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
             warning: it holds a secret of yours, which is not shown\n"
        );
    }
}
