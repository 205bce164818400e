//! Steps in plain English, for programs that do not word them.

use std::fmt;

use super::{CredentialScheme, ServerEntry, Step, StepTarget, TryPurpose};
use crate::spec::ServerName;

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Do(text) => f.write_str(text),
            Self::TryAgain { target, purpose } => match purpose {
                TryPurpose::Now => write!(f, "connect to {target} again"),
                TryPurpose::Next | TryPurpose::Repaired => {
                    write!(f, "then connect to {target} again")
                }
                TryPurpose::StillStarts => write!(f, "check that {target} still starts"),
            },
            Self::TryUrl { url } => write!(f, "try the URL {url}"),
            Self::ReachAt { url } => write!(f, "connect to the URL that it prints: {url}"),
            Self::FollowRedirect { url } => write!(f, "if you trust that place, connect to {url}"),
            Self::TrySse { url } => write!(f, "try the older HTTP+SSE transport at {url}"),
            Self::DetectProtocol { target } => {
                write!(f, "let the protocol of {target} be detected")
            }
            Self::RaiseTimeout {
                target: Some(target),
                setting,
            } => write!(f, "give {target} more time: raise `{setting}`"),
            Self::RaiseTimeout { setting, .. } => {
                write!(f, "give the server more time: raise `{setting}`")
            }
            Self::Retry { server } => {
                f.write_str("connect to ")?;
                write_server(f, server.as_ref())?;
                f.write_str(" at once")
            }
            Self::RefreshTools { server } => {
                f.write_str("list the tools of ")?;
                write_server(f, server.as_ref())?;
                f.write_str(" again")
            }
            Self::EnableServer { entry } => write!(f, "enable {entry}"),
            Self::ApproveServer { entry } => write!(f, "approve {entry}"),
            Self::ApproveOnce { fingerprint } => {
                write!(f, "or approve {fingerprint} for this run only")
            }
            Self::ListTools { entry } => write!(f, "list what {entry} offers"),
            Self::ShowEntry { entry } => write!(f, "look at the entry of {entry}{}", at(entry)),
            Self::EditEntry { member, entry } => {
                write!(
                    f,
                    "or write `{member}` into the entry of {entry}{}",
                    at(entry)
                )
            }
            Self::CheckConfig { file, line } => {
                write!(f, "correct {}", file.display())?;
                line.map_or(Ok(()), |line| write!(f, ":{line}"))?;
                f.write_str(" and read it again")
            }
            Self::ChangeFolder { entry } => {
                write!(f, "or change the working folder of {entry}{}", at(entry))
            }
            Self::PassVariable { name, entry } => write!(
                f,
                "name {name} in `env_passthrough` of {entry}, to pass it on although it contains a user name{}",
                at(entry)
            ),
            Self::NameVariables {
                name: Some(name),
                entry,
            } => write!(
                f,
                "pass {name} on: {entry} gets only the variables in `env` and `env_passthrough`{}",
                at(entry)
            ),
            Self::NameVariables { entry, .. } => write!(
                f,
                "name the variables that it needs: {entry} gets only those in `env` and \
                 `env_passthrough`{}",
                at(entry)
            ),
            Self::ShareFolders => f.write_str(
                "name the folders that it may use: write `\"roots\": [\"FOLDER\"]` into its entry",
            ),
            Self::AnswerQuestions => f.write_str("answer what it asks for"),
            Self::RunByHand {
                command: Some(command),
                ..
            } => write!(f, "run it by hand and see what it prints: `{command}`"),
            Self::RunByHand { entry, .. } => write!(
                f,
                "run its command by hand and see what it prints{}",
                at(entry)
            ),
            Self::ListLeftovers => {
                f.write_str("look for processes that earlier runs have left running")
            }
            Self::EndLeftovers => f.write_str("end the processes that are still running"),
            Self::UseProxy => f.write_str("behind a proxy: set `HTTPS_PROXY`, and allow its use"),
            Self::TrustAuthority { url } => write!(
                f,
                "if you trust it, name the certificate authority of {url} in `ca_file` under `network`"
            ),
            Self::SendCredentials { url, scheme } => match scheme {
                CredentialScheme::Bearer => {
                    write!(
                        f,
                        "send a token to {url}: the header `Authorization: Bearer TOKEN`"
                    )
                }
                CredentialScheme::Basic => write!(
                    f,
                    "send a user name and a password to {url}: the header `Authorization: Basic`"
                ),
            },
            Self::LogIn { server, scopes } => {
                f.write_str("log in to ")?;
                write_server(f, server.as_ref())?;
                if scopes.is_empty() {
                    return Ok(());
                }
                write!(f, ", with {}", scopes.join(", "))
            }
            Self::AllowStreams => f.write_str("accept streams, or let the server answer with JSON"),
        }
    }
}

impl fmt::Display for ServerEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_server(f, self.server.as_ref())
    }
}

impl fmt::Display for StepTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entry(entry) => write!(f, "{entry}"),
            Self::Command(line) => write!(f, "`{line}`"),
            Self::Url(url) => f.write_str(url),
        }
    }
}

/// Writes the name of a server, or what stands for it.
fn write_server(f: &mut fmt::Formatter<'_>, server: Option<&ServerName>) -> fmt::Result {
    match server {
        Some(name) => write!(f, "{name}"),
        None => f.write_str("the server"),
    }
}

/// Returns the place of an entry behind a colon, or nothing.
fn at(entry: &ServerEntry) -> String {
    let place = entry.place().map(|place| format!(": {place}"));
    place.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demo() -> ServerEntry {
        ServerEntry {
            server: "demo".parse().ok(),
            file: Some("/h/mcp.json".into()),
            line: Some(7),
            is_file_named: false,
        }
    }

    #[test]
    fn steps_are_plain_english_and_name_their_server() {
        for (step, text) in [
            (
                Step::RaiseTimeout {
                    target: Some(StepTarget::Entry(demo())),
                    setting: "connect_timeout",
                },
                "give demo more time: raise `connect_timeout`",
            ),
            (
                Step::EditEntry {
                    member: "\"protocol\": \"auto\"".to_owned(),
                    entry: demo(),
                },
                "or write `\"protocol\": \"auto\"` into the entry of demo: /h/mcp.json:7",
            ),
            (
                Step::CheckConfig {
                    file: "/h/mcp.json".into(),
                    line: Some(3),
                },
                "correct /h/mcp.json:3 and read it again",
            ),
            (
                Step::LogIn {
                    server: "demo".parse().ok(),
                    scopes: vec!["read".to_owned(), "write".to_owned()],
                },
                "log in to demo, with read, write",
            ),
            (
                Step::Retry { server: None },
                "connect to the server at once",
            ),
            (Step::from("look at its log"), "look at its log"),
        ] {
            assert_eq!(step.to_string(), text);
        }
    }
}
