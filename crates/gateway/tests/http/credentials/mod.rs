//! Clients with credentials of their own: named tokens, and tokens of an issuer.

mod issuer;
mod oauth;
mod refused;
mod rotation;

use std::sync::Arc;

use switchboard::policy::Grants;
use switchboard_gateway::http::{
    ClaimRule, HttpAuth, LiveTokens, NamedTokens, NewToken, OAuth, OAuthOptions, Token,
};

use crate::support::{Ask, Front, TOKEN, front_with};
use issuer::{ISSUER, Issuer};

/// The URL of the gateway, which tokens are issued for.
const RESOURCE: &str = "http://localhost/mcp";

struct Gate {
    front: Front,
    issuer: Issuer,
    tokens: NamedTokens,
    _folder: tempfile::TempDir,
}

/// A gateway that takes its own token, named ones, and those of an issuer. A token with the group `narrow`
/// may use one tool.
async fn gate() -> Gate {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("state");
    let issuer = Issuer::new();
    let mut options = OAuthOptions::new(ISSUER, RESOURCE);
    options.scopes = vec!["mcp".to_owned()];
    let mut narrow = ClaimRule::new("narrow".parse().unwrap());
    narrow.when.insert("groups".to_owned(), "narrow".to_owned());
    narrow.grants = Some(Grants::parse(["mcp:demo:echo"]).unwrap());
    let mut everyone = ClaimRule::new("people".parse().unwrap());
    everyone.when.insert("tenant".to_owned(), "ours".to_owned());
    everyone.grants = Some(Grants::parse(["mcp:demo:*"]).unwrap());
    let mut guests = ClaimRule::new("guests".parse().unwrap());
    guests.when.insert("groups".to_owned(), "guests".to_owned());
    options.rules = vec![narrow, everyone, guests];
    let oauth = OAuth::new(options, Arc::new(issuer.clone())).unwrap();
    let live = LiveTokens::new(NamedTokens::at(&place));
    let front = front_with(|http, _| {
        let own = HttpAuth::Token(Token::new(TOKEN).unwrap());
        http.auth = HttpAuth::Any(vec![own, HttpAuth::Named(live), HttpAuth::OAuth(oauth)]);
    })
    .await;
    Gate {
        front,
        issuer,
        tokens: NamedTokens::at(place),
        _folder: folder,
    }
}

/// A token for everything of the one server.
fn granted(name: &str) -> NewToken {
    let mut new = NewToken::new(name);
    new.grants = Some(Grants::parse(["mcp:demo:*"]).unwrap());
    new
}

fn with(ask: Ask, token: &str) -> Ask {
    ask.replace("Authorization", &format!("Bearer {token}"))
}
