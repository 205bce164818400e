//! Words the steps of a diagnosis as commands of this program.
//!
//! The library returns steps as data, because it does not know which program shows them. This is the
//! only place that turns them into verbs and flags, so a flag that is renamed is renamed here.

use switchboard::explain::{CredentialScheme, ServerEntry, Step, StepTarget, TryPurpose};
use switchboard::spec::ServerName;
use switchboard::text::{shell_path, shell_word};

use crate::ask;

/// Words every step. Text between backticks can be pasted.
pub(crate) fn word_all(steps: &[Step]) -> Vec<String> {
    steps.iter().map(word).collect()
}

/// Words one step.
fn word(step: &Step) -> String {
    match step {
        Step::TryAgain { target, purpose } => {
            let command = try_target(target, "");
            match purpose {
                TryPurpose::Next => format!("then: {command}"),
                TryPurpose::Repaired => format!("then try it again: {command}"),
                TryPurpose::StillStarts => format!("check that it still starts: {command}"),
                _ => command,
            }
        }
        Step::TryUrl { url } => try_url(url, ""),
        Step::ReachAt { url } => format!("connect to it there: {}", try_url(url, "")),
        Step::FollowRedirect { url } => format!("if you trust that host: {}", try_url(url, "")),
        Step::TrySse { url } => try_url(url, " --transport sse"),
        Step::DetectProtocol { target } => {
            let command = try_target(target, " --protocol auto");
            format!("detect the protocol: {command}")
        }
        Step::RaiseTimeout {
            target: Some(target),
            ..
        } => format!("give it more time: {}", try_target(target, " --timeout 2m")),
        Step::RaiseTimeout { .. } => {
            "give it more time: add `--timeout 2m` to the command".to_owned()
        }
        Step::Retry { server } => format!("try at once: {}", again(server.as_ref())),
        Step::RefreshTools { server } => format!("list them again: {}", again(server.as_ref())),
        Step::ListLeftovers => "list processes of earlier runs: `switchboard leftovers`".to_owned(),
        Step::EndLeftovers => "end them: `switchboard leftovers --end`".to_owned(),
        Step::UseProxy => "behind a proxy: set `HTTPS_PROXY` and add `--proxy-from-env`".to_owned(),
        Step::TrustAuthority { url } => try_url(url, " --ca-file CA.pem"),
        Step::SendCredentials { url, scheme } => try_url(
            url,
            match scheme {
                CredentialScheme::Basic => {
                    " -H \"Authorization: Basic $(printf USER:PASSWORD | base64)\""
                }
                _ => " -H \"Authorization: Bearer TOKEN\"",
            },
        ),
        Step::LogIn { .. } => {
            "it offers a login (OAuth): leave the header out, and log in".to_owned()
        }
        Step::AllowStreams => {
            "leave `--no-stream` out, or make the server answer with JSON".to_owned()
        }
        Step::ApproveOnce { fingerprint } => {
            format!("or for this run only: add `--trust {fingerprint}`")
        }
        Step::ShareFolders => "name the folders that it may use: write `\"roots\": [\"FOLDER\"]` \
                               into its entry, or add `--root FOLDER`"
            .to_owned(),
        Step::AnswerQuestions => {
            "answer its questions at a terminal, or with `--answer KEY=VALUE`".to_owned()
        }
        Step::CheckConfig { file, line } => {
            let file = file.display();
            let line = line.map(|line| format!(":{line}")).unwrap_or_default();
            let path = file.to_string();
            let check = format!("`switchboard config check {}`", shell_path(&path));
            format!("fix {file}{line}, then run {check}")
        }
        step => word_about_entry(step).unwrap_or_else(|| step.to_string()),
    }
}

/// Words a step about the entry of a server, if it is one.
fn word_about_entry(step: &Step) -> Option<String> {
    Some(match step {
        Step::EnableServer { entry } => format!("enable it: {}", verb("enable", entry)),
        Step::ApproveServer { entry } => format!("approve it: {}", verb("trust approve", entry)),
        Step::ListTools { entry } => format!("see what it offers: {}", verb("tools", entry)),
        Step::ShowEntry { entry } => format!("look at its entry: {}", verb("config show", entry)),
        Step::EditEntry { member, entry } => {
            let place = entry.place()?;
            format!("or write `{member}` into its entry: {place}")
        }
        Step::ChangeFolder { entry } => match entry.place() {
            Some(place) => format!("or change `cwd` in its entry: {place}"),
            None => "or change `--cwd`".to_owned(),
        },
        Step::PassVariable { name, entry } => {
            let how = match entry.place() {
                Some(place) => {
                    format!("write `\"env_passthrough\": [\"{name}\"]` into its entry: {place}")
                }
                None => format!("add `--env-passthrough {name}`"),
            };
            format!("to pass {name} on although it contains a user name: {how}")
        }
        Step::NameVariables {
            name: Some(name),
            entry,
        } => match entry.place() {
            Some(place) => format!(
                "pass it on: write `\"env_passthrough\": [\"{name}\"]` into its entry: {place}"
            ),
            None => format!("pass it on: add `--env-passthrough {name}` to the command"),
        },
        Step::NameVariables { entry, .. } => match entry.place() {
            Some(place) => format!(
                "variables reach a server only through `env` and `env_passthrough` of its entry: {place}"
            ),
            None => {
                "variables reach a server only through `--env` and `--env-passthrough`".to_owned()
            }
        },
        Step::RunByHand {
            command: None,
            entry,
        } if entry.file.is_some() => format!(
            "run its command by hand and see what it prints: {} shows it",
            verb("config show", entry)
        ),
        _ => return None,
    })
}

/// Writes the command that applies a verb to a server, with the file where it has to be named.
fn verb(verb: &str, entry: &ServerEntry) -> String {
    format!("`{}`", unquoted_verb(verb, entry))
}

fn unquoted_verb(verb: &str, entry: &ServerEntry) -> String {
    let file = entry.file.as_ref().filter(|_| entry.is_file_named);
    let file = file.map(|file| format!(" --config {}", shell_path(&file.display().to_string())));
    let name = name(entry.server.as_ref());
    format!("switchboard {verb} {name}{}", file.unwrap_or_default())
}

/// Writes the command that tries a server, with more options.
fn try_target(target: &StepTarget, options: &str) -> String {
    match target {
        StepTarget::Entry(entry) => format!("`{}{options}`", unquoted_verb("tools", entry)),
        StepTarget::Url(url) => try_url(url, options),
        StepTarget::Command(line) => format!("`switchboard tools --stdio \"{line}\"{options}`"),
        other => other.to_string(),
    }
}

/// Writes the command that tries a URL, with more options.
fn try_url(url: &str, options: &str) -> String {
    format!("`switchboard tools --url {}{options}`", shell_path(url))
}

/// Writes the command that connects to a server and lists its tools again.
fn again(server: Option<&ServerName>) -> String {
    let verb = if ask::has_prompt() {
        "/mcp retry"
    } else {
        "switchboard tools"
    };
    format!("`{verb} {}`", name(server))
}

/// Returns the name of a server as a word of a shell's line.
fn name(server: Option<&ServerName>) -> String {
    let name = server.map_or("NAME", ServerName::as_str);
    shell_word(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(file: Option<&str>, is_file_named: bool) -> ServerEntry {
        let mut entry = ServerEntry::default();
        entry.server = "my-server".parse().ok();
        entry.file = file.map(Into::into);
        entry.line = file.map(|_| 7);
        entry.is_file_named = is_file_named;
        entry
    }

    #[test]
    fn a_server_of_a_file_is_named_and_its_file_where_it_must_be() {
        let own = entry(Some("/h/mcp.json"), false);
        let step = Step::RaiseTimeout {
            target: Some(StepTarget::Entry(own)),
            setting: "connect_timeout",
        };
        assert_eq!(
            word(&step),
            "give it more time: `switchboard tools my-server --timeout 2m`"
        );
        let named = entry(Some("/a b/mcp.json"), true);
        assert_eq!(
            word(&Step::EnableServer { entry: named }),
            "enable it: `switchboard enable my-server --config '/a b/mcp.json'`"
        );
    }

    #[test]
    fn a_server_without_an_entry_is_tried_by_its_command_or_url() {
        let target = StepTarget::Command("npx -y thing".to_owned());
        let purpose = TryPurpose::Now;
        assert_eq!(
            word(&Step::TryAgain { target, purpose }),
            "`switchboard tools --stdio \"npx -y thing\"`"
        );
        let url = "https://example.com/$(id)".to_owned();
        assert_eq!(
            word(&Step::ReachAt { url }),
            "connect to it there: `switchboard tools --url 'https://example.com/$(id)'`"
        );
        let url = "https://example.com/mcp".to_owned();
        let scheme = CredentialScheme::Bearer;
        assert_eq!(
            word(&Step::SendCredentials { url, scheme }),
            "`switchboard tools --url https://example.com/mcp -H \"Authorization: Bearer TOKEN\"`"
        );
    }

    #[test]
    fn options_stand_in_for_an_entry_that_no_file_has() {
        let without = || entry(None, false);
        for (step, text) in [
            (
                Step::ChangeFolder { entry: without() },
                "or change `--cwd`".to_owned(),
            ),
            (
                Step::PassVariable {
                    name: "HTTPS_PROXY".to_owned(),
                    entry: without(),
                },
                "to pass HTTPS_PROXY on although it contains a user name: \
                 add `--env-passthrough HTTPS_PROXY`"
                    .to_owned(),
            ),
            (
                Step::RunByHand {
                    command: None,
                    entry: without(),
                },
                "run its command by hand and see what it prints".to_owned(),
            ),
        ] {
            assert_eq!(word(&step), text);
        }
    }
}
