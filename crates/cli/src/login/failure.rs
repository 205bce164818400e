//! Says why a login failed or is needed, and what to do about it.

use switchboard::auth::{
    AuthError, CallbackProblem, LoginReason, NeedsLogin, Purpose, TokenStoreError,
};
use switchboard::{Diagnosis, Error, ErrorKind, Step, explain};

use super::words::{LoginWords, needed_words, scopes_option};
use crate::exit::Exit;
use crate::report::{Failure, Report};

/// The report of a failure that has to do with a login.
pub(crate) fn failure(error: &AuthError, server: &str, words: &LoginWords) -> Failure {
    let advice = Advice::of(error, server, words);
    let (exit, kind) = exit_of(error);
    let mut report = Report::new(exit, kind, advice.title).server(server);
    for (name, value) in advice.facts {
        report = report.fact(name, value);
    }
    for cause in advice.causes {
        report = report.cause(cause);
    }
    for hint in advice.hints {
        report = report.hint(hint);
    }
    report
}

/// Explains an error, with the steps of a login where that is what went wrong.
pub(crate) fn explained(error: &Error) -> Diagnosis {
    let mut diagnosis = explain(error);
    if let Some(wrong) = error.auth_error() {
        let server = error.server().map(ToString::to_string).unwrap_or_default();
        let advice = Advice::of(wrong, &server, &LoginWords::default());
        diagnosis.title = advice.title;
        diagnosis.causes = advice.causes;
        diagnosis.steps = advice.hints.into_iter().map(Step::Do).collect();
    }
    diagnosis
}

fn exit_of(error: &AuthError) -> (Exit, &'static str) {
    match error.kind() {
        ErrorKind::Connect => (Exit::Connect, "connect"),
        ErrorKind::Configuration => (Exit::Configuration, "configuration"),
        ErrorKind::Protocol => (Exit::Protocol, "protocol"),
        _ => (Exit::Authorization, "authorization"),
    }
}

/// A failure in words.
#[derive(Debug, Default)]
struct Advice {
    title: String,
    facts: Vec<(&'static str, String)>,
    causes: Vec<String>,
    hints: Vec<String>,
}

impl Advice {
    fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    fn fact(mut self, name: &'static str, value: &(impl ToString + ?Sized)) -> Self {
        self.facts.push((name, value.to_string()));
        self
    }

    fn cause(mut self, text: impl Into<String>) -> Self {
        self.causes.push(text.into());
        self
    }

    fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(text.into());
        self
    }

    fn of(error: &AuthError, server: &str, words: &LoginWords) -> Self {
        let login = |more: &str| format!("`{}`", words.login(server, more));
        match error {
            AuthError::NeedsLogin(needed) => needs_login(needed, &login),
            AuthError::ScopeNotGranted { scopes } => {
                Self::new("the server requires scopes that the issuer has not granted")
                    .fact("scopes", &scopes.join(" "))
                    .cause("your account does not have them")
                    .hint("ask the server's operator for access, then log in again")
                    .hint(login(&format!("--force {}", scopes_option(scopes))))
            }
            AuthError::Forbidden { purpose, url, why } => {
                Self::new(format!("the {purpose} has an address that is not allowed"))
                    .fact("url", url)
                    .fact("reason", why)
                    .cause("the server, or a project's file, names an address that it must not choose")
                    .hint("if the address is right, write it into your own config file: `\"oauth\": {\"issuer\": \"https://...\"}`")
            }
            AuthError::Unreachable { purpose, url, why, .. } => unreachable(*purpose, url, why, &login),
            AuthError::Status { purpose, url, status } => status_of(*purpose, url, *status),
            AuthError::Metadata { purpose, url, problem } => metadata(*purpose, url, problem),
            AuthError::IssuerMismatch { expected, found } => {
                Self::new("the issuer's metadata is that of another issuer")
                    .fact("expected", expected)
                    .fact("found", found)
                    .cause("the issuer is misconfigured, or it poses as another")
                    .hint(format!("if {found} is the right one, write `\"oauth\": {{\"issuer\": \"{found}\"}}` into the server's entry in your own file"))
            }
            AuthError::IssuerChanged { was, now } => {
                Self::new("the server now names a different issuer")
                    .fact("before", was)
                    .fact("now", now)
                    .cause("your client id belongs to the previous issuer and is not sent to another")
                    .hint(format!("if the new one is right: {}", login("--force")))
            }
            AuthError::ResourceMismatch { server: url, found } => {
                Self::new("the server's metadata is about another server")
                    .fact("url", url)
                    .fact("found", found)
                    .cause("the URL is not the one that the server calls its own")
                    .hint(format!("if {found} is the same server, write that URL into its entry"))
            }
            AuthError::NoPkce { issuer } => {
                Self::new("the issuer does not offer PKCE, without which a login can be stolen")
                    .fact("issuer", issuer)
                    .hint("the issuer's operator can enable S256: `code_challenge_methods_supported` in its metadata")
                    .hint(format!("or log in on another device, where the issuer offers that: {}", login("--device")))
            }
            AuthError::NoClientId { issuer, .. } => {
                Self::new("the issuer lets no client register, and there is no client id")
                    .fact("issuer", issuer)
                    .hint("register a client there, with the redirect address http://127.0.0.1/callback")
                    .hint("then write its id into the server's entry: `\"oauth\": {\"clientId\": \"...\"}`, and `\"callbackPort\"` where the issuer wants a port")
            }
            AuthError::NotOffered { issuer, what } => {
                let advice = Self::new(format!("the issuer does not offer {what}"));
                let other = if what.contains("device") { "" } else { "--device" };
                advice.fact("issuer", issuer).hint(login(other))
            }
            AuthError::Setting { key, problem } => Self::new(format!("`oauth.{key}` {problem}"))
                .hint(format!("correct `{key}` in the `oauth` block of the server's entry")),
            AuthError::Callback(problem) => callback(problem, &login),
            AuthError::Refused { purpose, code, description } => {
                refusal_advice(*purpose, code, description.as_deref(), &login)
            }
            AuthError::Expired => {
                Self::new("the login was not finished in time").hint(login(""))
            }
            AuthError::Store(error) => store(error, &login),
            AuthError::Key { what, problem } => {
                Self::new(format!("{what} cannot be used")).fact("reason", problem)
                    .hint("correct the `oauth` block of the server's entry")
            }
            other => Self::new(other.to_string()).hint(login("")),
        }
    }
}

fn needs_login(needed: &NeedsLogin, login: &dyn Fn(&str) -> String) -> Advice {
    let (title, options) = needed_words(needed.reason.as_str(), &needed.scopes);
    let mut advice = Advice::new(title);
    if let Some(issuer) = &needed.issuer {
        advice = advice.fact("issuer", issuer);
    }
    if !needed.scopes.is_empty() {
        advice = advice.fact("scopes", &needed.scopes.join(" "));
    }
    if needed.reason == LoginReason::Rejected {
        advice = advice
            .cause("the login was revoked, or is for another server")
            .cause("the clock of this machine or of the server is wrong: `date -u` shows this one");
    }
    let advice = advice.hint(login(&options));
    match needed.reason {
        LoginReason::NoToken => advice.hint(
            "or send a token of your own: -H \"Authorization: Bearer TOKEN\" with --url, \
             `\"headers\": {\"Authorization\": \"Bearer ${TOKEN}\"}` in the server's entry",
        ),
        _ => advice,
    }
}

fn unreachable(purpose: Purpose, url: &str, why: &str, login: &dyn Fn(&str) -> String) -> Advice {
    let lower = why.to_ascii_lowercase();
    let mut advice = Advice::new(format!("the {purpose} does not answer"))
        .fact("url", url)
        .fact("reason", why);
    if lower.contains("certificate") || lower.contains("tls") {
        advice = advice
            .cause("a proxy or a company's gateway puts its own certificate in between")
            .cause("the clock of this machine is wrong: `date -u` shows it");
    }
    advice
        .hint("behind a proxy: --proxy-from-env with --url, or `\"network\": {\"proxy\": \"...\"}` in your own config file")
        .hint(format!("then again: {}", login("")))
}

fn status_of(purpose: Purpose, url: &str, status: u16) -> Advice {
    let advice = Advice::new(format!("the {purpose} answered with status {status}"))
        .fact("url", url)
        .fact("status", &status);
    match purpose {
        // Nothing could be discovered, and this is where it would be by default.
        Purpose::Registration if status == 404 => undiscovered(advice),
        Purpose::Registration => advice
            .cause("the issuer accepts only known clients")
            .hint("register a client by hand, with the redirect address http://127.0.0.1/callback, and write its id into the server's entry: `\"oauth\": {\"clientId\": \"...\"}`"),
        Purpose::ResourceMetadata | Purpose::IssuerMetadata | Purpose::Server => undiscovered(advice),
        _ => advice.hint("try again later, or tell the issuer's operator"),
    }
}

/// Adds the steps for an issuer that could not be discovered.
fn undiscovered(advice: Advice) -> Advice {
    advice
        .cause("the server needs no login, or expects a token in a header")
        .cause("the server's issuer cannot be discovered")
        .hint("a token goes into a header: -H \"Authorization: Bearer TOKEN\"")
        .hint("an issuer that is known goes into the server's entry: `\"oauth\": {\"issuer\": \"https://...\"}`, or `\"authorizationEndpoint\"` with `\"tokenEndpoint\"`")
}

fn metadata(purpose: Purpose, url: &str, problem: &str) -> Advice {
    let advice = Advice::new(format!("the {purpose} cannot be used"))
        .fact("url", url)
        .fact("reason", problem);
    match purpose {
        Purpose::ResourceMetadata | Purpose::IssuerMetadata | Purpose::Server => {
            undiscovered(advice)
        }
        _ => advice.hint("tell the issuer's operator"),
    }
}

fn callback(problem: &CallbackProblem, login: &dyn Fn(&str) -> String) -> Advice {
    let advice = Advice::new(problem.to_string());
    let advice = match problem {
        CallbackProblem::OtherAddress => {
            advice.cause("only a part of the address was pasted: all of it is needed, in quotes")
        }
        CallbackProblem::UnknownState => advice
            .cause("it was used already, or the login was begun for another server or profile"),
        CallbackProblem::NoIssuer { .. } | CallbackProblem::OtherIssuer { .. } => advice
            .cause("another issuer answered in the place of the right one; nothing was sent to it"),
        _ => advice,
    };
    advice.hint(format!("begin again: {}", login("")))
}

fn refusal_advice(
    purpose: Purpose,
    code: &str,
    description: Option<&str>,
    login: &dyn Fn(&str) -> String,
) -> Advice {
    let said = description.unwrap_or_default();
    // Entra: "AADSTS9010010: The resource parameter provided in the request doesn't match with the requested scopes."
    let names_resource = code == "invalid_target"
        || said.contains("AADSTS9010010")
        || (code == "invalid_request" && said.to_ascii_lowercase().contains("resource"));
    let title = match code {
        _ if names_resource => {
            "the issuer refuses the `resource` that tokens are asked for".to_owned()
        }
        "access_denied" => "the login was refused at the issuer".to_owned(),
        "invalid_grant" => "the code of the login has expired, or was used already".to_owned(),
        "invalid_dpop_proof" => "the issuer does not accept the proof of our key".to_owned(),
        "invalid_client" | "unauthorized_client" => {
            "the issuer does not accept our client".to_owned()
        }
        "invalid_scope" => "the issuer does not know a scope that was asked for".to_owned(),
        code => format!("the {purpose} refused: {code}"),
    };
    let mut advice = Advice::new(title).fact("code", code);
    if !said.is_empty() {
        advice = advice.fact("the issuer says", said);
    }
    match code {
        _ if names_resource => advice
            .hint("write `\"oauth\": {\"resource\": \"omit\"}` into the server's entry")
            .hint(format!("then: {}", login(""))),
        "access_denied" => advice.hint(login("")),
        "invalid_grant" | "invalid_dpop_proof" => advice
            .cause("it took too long")
            .cause("the clock of this machine is wrong: `date -u` shows it")
            .hint(login("")),
        "invalid_client" | "unauthorized_client" => advice
            .cause("the issuer no longer knows the registered client")
            .cause("`clientId` or `clientSecret` of the server's entry is wrong")
            .hint(login("--force")),
        "invalid_scope" => advice
            .hint("correct `scopes` in the `oauth` block of the server's entry, or leave them out")
            .hint(login("--force")),
        _ => advice.hint(login("")),
    }
}

fn store(error: &TokenStoreError, login: &dyn Fn(&str) -> String) -> Advice {
    match error {
        TokenStoreError::Locked(why) => Advice::new("the login is stored, but its key is locked")
            .fact("reason", why)
            .hint("unlock the keyring of your system, and try again")
            .hint("or forget all logins, and begin anew without the keyring: `SWITCHBOARD_KEYRING=off switchboard logout --all`"),
        TokenStoreError::Busy => Advice::new("another process has been renewing the login for too long")
            .hint("try again; end the other process if it hangs"),
        TokenStoreError::Sealed { .. } | TokenStoreError::Key(_) => {
            Advice::new("the stored logins cannot be opened")
                .fact("reason", error)
                .hint("forget them, and log in again: `switchboard logout --all`")
                .hint(login(""))
        }
        other => Advice::new("the stored logins cannot be used")
            .fact("reason", other)
            .hint("`switchboard auth status` says where they are"),
    }
}

#[cfg(test)]
mod tests {
    use switchboard::secret::Redactor;

    use super::*;
    use crate::style::Style;

    const PAGE: &str = include_str!("../../../../docs/errors.md");

    fn text(text: &str) -> String {
        text.to_owned()
    }

    fn refusal(code: &str, description: Option<&str>) -> AuthError {
        AuthError::Refused {
            purpose: Purpose::Token,
            code: text(code),
            description: description.map(text),
        }
    }

    /// One error for each report.
    fn all() -> Vec<AuthError> {
        let (purpose, url) = (Purpose::ResourceMetadata, text("https://a.example/x"));
        let issuer = text("https://a.example");
        let mut all = vec![
            AuthError::ScopeNotGranted {
                scopes: vec![text("admin")],
            },
            AuthError::Forbidden {
                purpose,
                url: url.clone(),
                why: text("private"),
            },
            AuthError::Unreachable {
                purpose,
                url: url.clone(),
                why: text("tls: bad certificate"),
                maybe_processed: false,
            },
            AuthError::Status {
                purpose: Purpose::Registration,
                url: url.clone(),
                status: 403,
            },
            AuthError::Metadata {
                purpose,
                url,
                problem: text("html"),
            },
            AuthError::IssuerMismatch {
                expected: issuer.clone(),
                found: text("https://b.example"),
            },
            AuthError::IssuerChanged {
                was: issuer.clone(),
                now: text("https://b.example"),
            },
            AuthError::ResourceMismatch {
                server: issuer.clone(),
                found: text("https://b.example"),
            },
            AuthError::NoPkce {
                issuer: issuer.clone(),
            },
            AuthError::NoClientId {
                issuer: issuer.clone(),
                takes_documents: false,
                offers_registration: false,
            },
            AuthError::NotOffered {
                issuer: issuer.clone(),
                what: "a login on another device",
            },
            AuthError::Setting {
                key: "redirectUri",
                problem: text("is missing"),
            },
            AuthError::Expired,
            AuthError::Key {
                what: "the key of the client",
                problem: text("no PEM"),
            },
            refusal("access_denied", None),
            refusal("invalid_grant", None),
            refusal("invalid_client", None),
            refusal("invalid_scope", None),
            refusal("invalid_dpop_proof", None),
            refusal("server_error", Some("later")),
            refusal("invalid_target", None),
            refusal(
                "invalid_request",
                Some("AADSTS9010010: The resource parameter"),
            ),
        ];
        all.extend(
            [
                CallbackProblem::OtherAddress,
                CallbackProblem::UnknownState,
                CallbackProblem::TooLate,
                CallbackProblem::NoIssuer {
                    expected: issuer.clone(),
                },
                CallbackProblem::OtherIssuer { expected: issuer },
                CallbackProblem::NoCode,
                CallbackProblem::Twice("code"),
            ]
            .map(AuthError::from),
        );
        all.extend(
            [
                TokenStoreError::File(text("full")),
                TokenStoreError::Locked(text("no answer")),
                TokenStoreError::Key(text("gone")),
                TokenStoreError::Sealed {
                    path: text("/tokens.json"),
                },
                TokenStoreError::Busy,
            ]
            .map(AuthError::from),
        );
        all
    }

    /// Returns true if a title matches a heading, with any text for each `…`.
    fn fits(heading: &str, title: &str) -> bool {
        let mut parts = heading.split('…');
        let Some(mut rest) = title.strip_prefix(parts.next().unwrap_or_default()) else {
            return false;
        };
        let mut is_open = false;
        for part in parts {
            is_open = part.is_empty();
            let Some((_, after)) = rest.split_once(part) else {
                return false;
            };
            rest = after;
        }
        is_open || rest.is_empty()
    }

    #[test]
    fn every_report_about_a_login_has_a_step_and_is_on_the_page() {
        for error in all() {
            let report = failure(&error, "tickets", &LoginWords::default());
            let shown = report.text(&Redactor::default(), Style::plain(), false);
            assert!(shown.contains("what to do:\n    - "), "{shown}");
            let sections = PAGE.split("\n### ").skip(1);
            let mut sections = sections.filter(|section| {
                let heading = section.lines().next().unwrap_or_default();
                fits(heading, report.message())
            });
            let code = format!("Exit code {}", report.exit.number());
            let is_told = sections.any(|it| it.contains(&code) && it.contains("**Do:**"));
            assert!(
                is_told,
                "{:?} with {code} is not on the page",
                report.message()
            );
        }
    }

    #[test]
    fn a_resource_that_is_refused_is_told_from_other_refusals() {
        let title = |error: &AuthError| {
            let report = failure(error, "tickets", &LoginWords::default());
            report.message().to_owned()
        };
        let refused = "the issuer refuses the `resource` that tokens are asked for";
        assert_eq!(title(&refusal("invalid_target", None)), refused);
        let entra = "AADSTS9010010: The resource parameter provided in the request doesn't match";
        assert_eq!(title(&refusal("invalid_request", Some(entra))), refused);
        let other = title(&refusal("invalid_request", Some("no `code`")));
        assert_eq!(other, "the token endpoint refused: invalid_request");
    }
}
