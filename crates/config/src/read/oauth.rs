//! Reads the `oauth` block of an entry.

use std::ops::Range;

use switchboard_core::secret::SafeUrl;
use switchboard_core::spec::{OAuthGrant, TransportKind};
use switchboard_core::text::closest;

use super::{FieldReader, Stage, Text as Written};
use crate::keys::ValueType::{Count, SpacedTexts, Text, Words};
use crate::keys::{self, Key};
use crate::problem::ProblemKind;
use crate::report::{Note, Report, quote_name};
use crate::shape::duplicates;
use crate::tree::{Member, Node, NodeKind, latest};

/// The members of the block.
pub(crate) const MEMBERS: &[Key] = &[
    Key::new(
        "client_id",
        Text,
        "The id of a client that you registered at the issuer",
    ),
    Key::new(
        "client_secret",
        Text,
        "The secret of that client; write it as `\"${NAME}\"`",
    ),
    Key::new(
        "client_key",
        Text,
        "The private key of that client in PEM, if it signs instead: `\"${file:key.pem}\"`",
    ),
    Key::new(
        "client_metadata_url",
        Text,
        "The URL of a client id metadata document",
    )
    .also(&["client_metadata_uri"]),
    Key::new(
        "scopes",
        SpacedTexts,
        "The scopes to ask for, instead of those that the server names",
    )
    .also(&["scope"]),
    Key::new(
        "callback_port",
        Count(1, 65_535),
        "The port that the browser returns to, for clients that are registered with a fixed one",
    ),
    Key::new(
        "redirect_uri",
        Text,
        "The whole address that the browser returns to",
    )
    .also(&["redirect_url"]),
    Key::new(
        "resource",
        Text,
        "The resource to name in requests, or `\"omit\"` for issuers that refuse one",
    ),
    Key::new(
        "issuer",
        Text,
        "The issuer, instead of discovery: https, or http on this machine",
    ),
    Key::new(
        "authorization_endpoint",
        Text,
        "The endpoint to log in at, together with `token_endpoint`",
    )
    .also(&["authorization_url"]),
    Key::new(
        "token_endpoint",
        Text,
        "The endpoint for tokens, together with `authorization_endpoint`",
    )
    .also(&["token_url"]),
    Key::new(
        "device_authorization_endpoint",
        Text,
        "The endpoint for logins on another device",
    ),
    Key::new("grant", Words(GRANT_WORDS), "The OAuth grant to use").or("`authorization_code`"),
    Key::new(
        "assertion_file",
        Text,
        "The file with the platform's token, for the grant `workload`",
    ),
];

const GRANT_WORDS: &[&str] = &[
    "authorization_code",
    "device_code",
    "client_credentials",
    "workload",
];

/// The members that are addresses.
const ADDRESSES: &[&str] = &[
    "issuer",
    "authorization_endpoint",
    "token_endpoint",
    "device_authorization_endpoint",
    "redirect_uri",
    "client_metadata_url",
];

/// The block as it is written.
#[derive(Clone, Default)]
pub(crate) struct OAuthDraft {
    pub(crate) client_id: Option<Written>,
    pub(crate) client_secret: Option<Written>,
    pub(crate) client_key: Option<Written>,
    pub(crate) client_metadata_url: Option<Written>,
    pub(crate) scopes: Option<Vec<Written>>,
    pub(crate) callback_port: Option<u16>,
    pub(crate) redirect_uri: Option<Written>,
    pub(crate) resource: Option<Written>,
    pub(crate) issuer: Option<Written>,
    pub(crate) authorization_endpoint: Option<Written>,
    pub(crate) token_endpoint: Option<Written>,
    pub(crate) device_authorization_endpoint: Option<Written>,
    pub(crate) grant: OAuthGrant,
    pub(crate) assertion_file: Option<Written>,
}

/// Brings the names of the members into our form; what is unknown stays and is reported.
pub(crate) fn normalise(node: &mut Node, report: &mut Report) {
    let NodeKind::Object(members) = &mut node.kind else {
        return;
    };
    duplicates(members, report);
    let mut known: Vec<Member> = Vec::with_capacity(members.len());
    for member in latest(members) {
        let mut member = member.clone();
        match name(&member.key) {
            Some(name) if known.iter().any(|other| other.key == name) => {
                let message = format!("{} means the same as a key above", quote_name(&member.key));
                let note = Note::warning(ProblemKind::DuplicateKey, member.key_span, message);
                report.add(note.hint("it is not used; remove one of the two"));
                continue;
            }
            Some(name) => name.clone_into(&mut member.key),
            None => unknown(&member, report),
        }
        if member.key == "scopes" {
            split_scopes(&mut member.value);
        }
        known.push(member);
    }
    *members = known;
}

/// Returns our name of a member.
fn name(key: &str) -> Option<&'static str> {
    let found = MEMBERS.iter().find(|member| member.is_called(key));
    found.map(|member| member.name)
}

fn unknown(member: &Member, report: &mut Report) {
    let message = format!("unknown key {} in `oauth`", quote_name(&member.key));
    let note = Note::warning(ProblemKind::UnknownKey, member.key_span.clone(), message);
    let names = keys::names(MEMBERS);
    report.add(match closest(&member.key, &names) {
        Some(_) => note.did_you_mean(&member.key, &names),
        None => note.hint("remove it, or look for its right name"),
    });
}

/// Turns `"a b"` into `["a", "b"]`.
pub(crate) fn split_scopes(node: &mut Node) {
    if let NodeKind::Text(text) = &node.kind {
        let scopes = text.split_whitespace();
        let scope = |scope: &str| Node::new(node.span.clone(), NodeKind::Text(scope.to_owned()));
        node.kind = NodeKind::List(scopes.map(scope).collect());
    }
}

/// Reads the block; what is wrong in it is reported.
pub(super) fn read(
    values: &mut FieldReader<'_>,
    transport: Option<TransportKind>,
) -> Option<OAuthDraft> {
    let node = values.entry.get("oauth")?;
    // `false` is how some clients say that a server has none.
    if matches!(node.kind, NodeKind::Bool(false)) || transport == Some(TransportKind::Stdio) {
        return None;
    }
    if !matches!(node.kind, NodeKind::Object(_)) {
        values.wrong(node, "an object, such as `{\"clientId\": \"...\"}`");
        return None;
    }
    let stage = values.stage;
    let mut inside = FieldReader {
        entry: node,
        stage,
        report: &mut *values.report,
    };
    let port = inside.count("callback_port");
    let draft = OAuthDraft {
        client_id: inside.text("client_id"),
        client_secret: inside.text("client_secret"),
        client_key: inside.text("client_key"),
        client_metadata_url: inside.text("client_metadata_url"),
        scopes: inside.list("scopes"),
        callback_port: port.and_then(|port| u16::try_from(port).ok()),
        redirect_uri: inside.text("redirect_uri"),
        resource: inside.text("resource"),
        issuer: inside.text("issuer"),
        authorization_endpoint: inside.text("authorization_endpoint"),
        token_endpoint: inside.text("token_endpoint"),
        device_authorization_endpoint: inside.text("device_authorization_endpoint"),
        grant: inside
            .parsed::<OAuthGrant>("grant", GRANTS)
            .unwrap_or_default(),
        assertion_file: inside.text("assertion_file"),
    };
    if port.is_some() && draft.callback_port.is_none_or(|port| port == 0) {
        let at = node
            .get("callback_port")
            .map_or(&node.span, |node| &node.span);
        inside.add(wrong(at, "this is not a port").expecting("a number from 1 to 65535"));
    }
    for address in ADDRESSES {
        if let Some(text) = inside.text(address) {
            check_address(address, &text, &mut inside);
        }
    }
    check_together(&draft, node, &mut inside);
    Some(draft)
}

const GRANTS: &str = "`authorization_code`, `device_code`, `client_credentials` or `workload`";

fn wrong(at: &Range<usize>, message: impl Into<String>) -> Note {
    Note::error(ProblemKind::WrongType, at.clone(), message)
}

/// An address has to be https, or http on this machine.
fn check_address(name: &str, text: &Written, values: &mut FieldReader<'_>) {
    if !values.is_filled(&text.text) {
        return;
    }
    let url = SafeUrl::parse(&text.text);
    let is_fine = url.is_ok_and(|url| {
        let url = url.expose();
        let host = url.host_str().unwrap_or_default();
        let is_local = ["localhost", "127.0.0.1", "[::1]"].contains(&host);
        url.scheme() == "https" || (url.scheme() == "http" && is_local)
    });
    if !is_fine {
        let message = format!("`oauth.{name}` is not an address that can be used");
        let note = Note::error(ProblemKind::BadUrl, text.span.clone(), message);
        values.add(note.expecting("an https URL, or an http URL of this machine"));
    }
}

/// Reports members that need one another, and secrets that are written out.
fn check_together(draft: &OAuthDraft, node: &Node, values: &mut FieldReader<'_>) {
    if values.stage != Stage::Written {
        return;
    }
    let at = |name: &str| {
        let member = node.member(name);
        member.map_or(node.span.clone(), |member| member.key_span.clone())
    };
    if let Some(secret) = &draft.client_secret
        && values.is_filled(&secret.text)
    {
        let message = "`oauth.clientSecret` is written out in the file";
        let note = Note::warning(ProblemKind::Suspicious, at("client_secret"), message);
        values.add(note.hint("write `\"${NAME}\"`, and put the secret into that variable"));
    }
    let is_pair = draft.authorization_endpoint.is_some() == draft.token_endpoint.is_some();
    let is_person = matches!(draft.grant, OAuthGrant::AuthorizationCode);
    if !is_pair && is_person {
        let name = match draft.token_endpoint {
            Some(_) => "token_endpoint",
            None => "authorization_endpoint",
        };
        let message = "`authorizationEndpoint` and `tokenEndpoint` are set together or not at all";
        values.add(wrong(&at(name), message));
    }
    let needs_client = [
        (draft.client_secret.is_some(), "client_secret", "a secret"),
        (draft.client_key.is_some(), "client_key", "a key"),
        (
            draft.grant == OAuthGrant::ClientCredentials,
            "grant",
            "this grant",
        ),
    ];
    for (is_there, name, what) in needs_client {
        if is_there && draft.client_id.is_none() {
            let message = format!("{what} without `oauth.clientId`");
            values.add(wrong(&at(name), message).hint("write the id of the client as well"));
        }
    }
    if draft.grant == OAuthGrant::Workload && draft.assertion_file.is_none() {
        let message = "the grant `workload` without `oauth.assertionFile`";
        values.add(wrong(&at("grant"), message).hint("name the file with the platform's token"));
    }
}
