//! `switchboard token`: the named tokens of clients of the gateway over HTTP.

use std::time::SystemTime;

use serde::Serialize;
use switchboard::policy::Grants;
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;
use switchboard_gateway::http::{NamedToken, NamedTokenError, NamedTokens, NewToken};
use switchboard_terminal::expiry::parse_expiry;

use crate::args::{TokenAdd, TokenArgs, TokenVerb};
use crate::editing::{notes, result};
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::Screen;
use crate::state;
use crate::timestamp;

/// Runs the subcommands of `token`.
pub(crate) fn run(args: &TokenArgs) -> Exit {
    let is_json = match &args.verb {
        TokenVerb::Add(args) => args.json,
        TokenVerb::List(args) => args.json,
        TokenVerb::Revoke(args) | TokenVerb::Rotate(args) => args.json,
    };
    let screen = Screen::plain(is_json);
    let done = match &args.verb {
        TokenVerb::Add(args) => add(args, &screen),
        TokenVerb::List(_) => list(&screen),
        TokenVerb::Revoke(args) => revoke(&args.name, &screen),
        TokenVerb::Rotate(args) => rotate(&args.name, &screen),
    };
    screen.finish(done)
}

fn store() -> Result<NamedTokens, Failure> {
    let folder = state::gateway_tokens(&Environment::of_process());
    folder.map(NamedTokens::at).ok_or_else(|| {
        let message = "cannot determine the folder of tokens";
        Report::new(Exit::Configuration, "configuration", message)
            .hint("set HOME, or XDG_STATE_HOME to an absolute path")
    })
}

/// The report of tokens that cannot be read or changed.
pub(super) fn failure(error: &NamedTokenError) -> Failure {
    let report = |exit, kind| Report::new(exit, kind, error.to_string());
    match error {
        NamedTokenError::Name { .. } | NamedTokenError::Expired => report(Exit::Usage, "usage"),
        NamedTokenError::Taken { name } => report(Exit::Configuration, "configuration")
            .hint(format!("replace it with `switchboard token rotate {name}`")),
        NamedTokenError::Unknown { known, .. } => {
            let report = report(Exit::Configuration, "configuration");
            if known.is_empty() {
                report.hint("`switchboard token add NAME` makes the first one")
            } else {
                report.hint(format!("known: {}", known.join(", ")))
            }
        }
        NamedTokenError::Unsafe { fix: Some(fix), .. } => {
            report(Exit::Configuration, "configuration").hint(format!("run `{fix}`"))
        }
        NamedTokenError::Broken { .. } => report(Exit::Configuration, "configuration")
            .hint("move the file away and make the tokens again"),
        NamedTokenError::Unsafe { .. } | NamedTokenError::Full { .. } => {
            report(Exit::Configuration, "configuration")
        }
        _ => report(Exit::Internal, "internal"),
    }
}

/// A token in JSON: see `docs/gateway.md`.
#[derive(Serialize)]
struct TokenItem {
    name: String,
    created: String,
    rotated: Option<String>,
    expires: Option<String>,
    has_expired: bool,
    grants: Option<Vec<String>>,
    level: Option<String>,
}

impl TokenItem {
    fn of(token: &NamedToken) -> Self {
        let grants = token.grants.as_ref();
        Self {
            name: token.name.clone(),
            created: timestamp::utc_seconds(token.created),
            rotated: token.rotated.map(timestamp::utc_seconds),
            expires: token.expires.map(timestamp::utc_seconds),
            has_expired: token.has_expired(),
            grants: grants.map(|all| all.iter().map(ToString::to_string).collect()),
            level: token.level.map(|level| level.to_string()),
        }
    }

    fn line(&self) -> String {
        let mut parts = vec![self.name.clone(), format!("made {}", self.created)];
        parts.extend(self.rotated.iter().map(|time| format!("rotated {time}")));
        parts.extend(self.expires.iter().map(|time| {
            let word = if self.has_expired {
                "expired"
            } else {
                "expires"
            };
            format!("{word} {time}")
        }));
        parts.extend(self.level.iter().map(|level| level.to_lowercase()));
        parts.extend(self.grants.iter().map(|grants| {
            if grants.is_empty() {
                "no grants".to_owned()
            } else {
                grants.join(", ")
            }
        }));
        format!("{}\n", sanitise_line(&parts.join("  ")))
    }
}

/// The text of a token, which is printed once.
#[derive(Serialize)]
struct TokenText<'a> {
    name: &'a str,
    token: &'a str,
}

fn print_text(name: &str, token: &str, screen: &Screen) -> Result<(), Failure> {
    if screen.is_json() {
        return result(&TokenText { name, token }, screen);
    }
    notes(&[format!("the token {name} is not shown again")]);
    screen.result(&format!("{token}\n"))
}

fn add(args: &TokenAdd, screen: &Screen) -> Result<(), Failure> {
    let mut new = NewToken::new(&args.name);
    new.level = args.level;
    if !args.grants.is_empty() {
        let grants = Grants::parse(&args.grants);
        new.grants = Some(grants.map_err(|error| Report::usage(format!("--grants: {error}")))?);
    }
    if let Some(text) = &args.expires {
        let time = parse_expiry(text, SystemTime::now());
        new.expires = Some(time.map_err(|why| Report::usage(format!("--expires: {why}")))?);
    }
    let has_grants = new.grants.is_some();
    let token = store()?.add(new).map_err(|error| failure(&error))?;
    if !has_grants && !screen.is_json() {
        notes(&[format!(
            "without --grants it may be used for what `agents` of your own config file says of {}, and nothing else",
            args.name
        )]);
    }
    print_text(&args.name, &token, screen)
}

fn rotate(name: &str, screen: &Screen) -> Result<(), Failure> {
    let token = store()?.rotate(name).map_err(|error| failure(&error))?;
    print_text(name, &token, screen)
}

fn list(screen: &Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct ListedTokens {
        tokens: Vec<TokenItem>,
    }
    let tokens = store()?.list().map_err(|error| failure(&error))?;
    let tokens: Vec<TokenItem> = tokens.iter().map(TokenItem::of).collect();
    if screen.is_json() {
        return result(&ListedTokens { tokens }, screen);
    }
    screen.result(&tokens.iter().map(TokenItem::line).collect::<String>())
}

fn revoke(name: &str, screen: &Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct RevokedToken<'a> {
        revoked: &'a str,
    }
    store()?.revoke(name).map_err(|error| failure(&error))?;
    if screen.is_json() {
        return result(&RevokedToken { revoked: name }, screen);
    }
    screen.result(&format!("revoked {name}\n"))
}
