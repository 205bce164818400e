//! Dynamic registration (RFC 7591) and client id metadata documents.

use serde_json::{Value, json};

use super::encoding::random;
use super::fault::{Endpoint, FaultKind};
use super::options::ClientAuth;
use super::reply::{IssuerReply, Refusal};
use super::state::{Client, State, without_loopback_port};
use super::{Inner, IssuerRequest, JournalEntry};

/// The members of a request that mean something here; others are refused, so that a typing error shows.
const MEMBERS: &[&str] = &[
    "application_type",
    "client_name",
    "client_uri",
    "contacts",
    "dpop_bound_access_tokens",
    "grant_types",
    "jwks",
    "logo_uri",
    "policy_uri",
    "redirect_uris",
    "response_types",
    "scope",
    "software_id",
    "software_version",
    "token_endpoint_auth_method",
    "tos_uri",
];

impl Inner {
    pub(super) fn register(
        &self,
        state: &mut State,
        asked: &IssuerRequest<'_>,
        entry: &mut JournalEntry,
    ) -> Result<IssuerReply, Refusal> {
        if let Some((status, error)) = self.faults.refusal(Endpoint::Registration) {
            let about = "registration is closed";
            return Err(Refusal {
                status,
                ..Refusal::new(error, about)
            });
        }
        if asked.content_type() != "application/json" {
            return Err(Refusal::invalid_request(
                "the body must be application/json",
            ));
        }
        let document: Value = serde_json::from_slice(asked.body)
            .map_err(|_| Refusal::invalid_request("the body is not JSON"))?;
        // Unknown members are refused, although RFC 7591 would ignore them: a typing error should
        // show.
        let mut members = document
            .as_object()
            .into_iter()
            .flat_map(|object| object.keys());
        if let Some(member) = members.find(|member| !MEMBERS.contains(&member.as_str())) {
            return Err(wrong(format!("{member} does not belong here")));
        }
        // 2026-07-28: a client that is registered dynamically says what it is.
        let kind = document["application_type"].as_str().unwrap_or_default();
        let mut client = self.client_of(&document, random("client-"), ClientAuth::Basic)?;
        // RFC 8252: a native client is redirected to loopback, a web client to https.
        let is_loopback = client
            .redirects
            .iter()
            .all(|uri| without_loopback_port(uri).is_some());
        let is_web = client
            .redirects
            .iter()
            .all(|uri| uri.starts_with("https://"));
        match kind {
            "native" if is_loopback => {}
            "web" if is_web => {}
            "native" | "web" => {
                let about = format!("the redirect addresses are not those of a {kind} client");
                return Err(Refusal::new("invalid_redirect_uri", about));
            }
            _ => return Err(wrong("application_type must be native or web")),
        }
        // Only clients that authenticate with a secret get one.
        if matches!(client.auth, ClientAuth::Basic | ClientAuth::Post) {
            client.secret = Some(random("secret-"));
        }
        // Before the new client is stored: the fault forgets all the others.
        if self.faults.strikes(FaultKind::RegisterForgets) {
            state.clients.clear();
        }
        // RFC 7591, 3.2.1: the answer repeats the metadata as it was registered.
        let mut answer = document;
        answer["client_id"] = json!(client.id);
        // RFC 7592: the token with which the client could change its registration.
        answer["registration_access_token"] = json!(random("registration-"));
        let place = format!("{}/register/{}", self.issuer(asked.site), client.id);
        answer["registration_client_uri"] = json!(place);
        answer["client_id_issued_at"] = json!(super::jwt::now());
        answer["token_endpoint_auth_method"] = json!(client.auth.name());
        answer["grant_types"] = json!(client.grants);
        if let Some(secret) = &client.secret {
            answer["client_secret"] = json!(secret);
            answer["client_secret_expires_at"] = json!(0);
        }
        entry.client = Some(client.id.clone());
        state.counts.registrations += 1;
        state.clients.insert(client.id.clone(), client);
        Ok(IssuerReply::json(201, answer).spoil(&self.faults, Endpoint::Registration, asked.path))
    }

    /// Reads the metadata of a client, in a registration or in a document.
    fn client_of(
        &self,
        document: &Value,
        id: String,
        default_auth: ClientAuth,
    ) -> Result<Client, Refusal> {
        let texts = |name: &str| -> Result<Option<Vec<String>>, Refusal> {
            let Some(value) = document.get(name) else {
                return Ok(None);
            };
            let list = value.as_array().into_iter().flatten();
            let list: Option<Vec<_>> = list.map(|one| one.as_str().map(str::to_owned)).collect();
            let list = list.filter(|list| !list.is_empty());
            list.map(Some)
                .ok_or_else(|| wrong(format!("{name} is not a list of texts")))
        };
        // Defaults as in RFC 7591, 2; redirect URIs have none.
        let redirects = texts("redirect_uris")?
            .ok_or_else(|| Refusal::new("invalid_redirect_uri", "redirect_uris is missing"))?;
        let grants = texts("grant_types")?.unwrap_or_else(|| vec!["authorization_code".to_owned()]);
        let responses = texts("response_types")?.unwrap_or_else(|| vec!["code".to_owned()]);
        if responses != ["code"] {
            return Err(wrong("response_types must be code"));
        }
        if let Some(uri) = redirects.iter().find(|uri| !is_redirect(uri)) {
            let about = format!("{uri} must be https, or http on loopback, without a fragment");
            return Err(Refusal::new("invalid_redirect_uri", about));
        }
        let known = [
            "authorization_code",
            "refresh_token",
            "client_credentials",
            super::device::GRANT,
        ];
        if let Some(grant) = grants.iter().find(|grant| !known.contains(&grant.as_str())) {
            return Err(wrong(format!("{grant} is not a grant of this issuer")));
        }
        if document["client_name"]
            .as_str()
            .unwrap_or_default()
            .is_empty()
        {
            return Err(wrong("client_name is missing"));
        }
        let auth = match document.get("token_endpoint_auth_method") {
            None => default_auth,
            Some(name) => ClientAuth::from_name(name.as_str().unwrap_or_default())
                .ok_or_else(|| wrong("token_endpoint_auth_method is unknown"))?,
        };
        if !self.options.auth.contains(&auth) {
            return Err(wrong(format!("{} is not offered", auth.name())));
        }
        // A client that signs its assertions must register the key that they are checked with.
        let key = document["jwks"]["keys"].get(0).cloned();
        if auth == ClientAuth::PrivateKeyJwt && key.is_none() {
            return Err(wrong("private_key_jwt needs a key in jwks"));
        }
        Ok(Client {
            id,
            secret: None,
            auth,
            key,
            redirects,
            grants,
        })
    }

    /// Finds a client by its id, which may be the address of its metadata document.
    pub(super) fn find_client(&self, state: &State, id: &str) -> Option<Client> {
        if let Some(client) = state.clients.get(id) {
            return Some(client.clone());
        }
        // A client id metadata document: the id is an https URL with a path.
        let is_address = id
            .strip_prefix("https://")
            .is_some_and(|rest| rest.contains('/'));
        let mut documents = self.options.documents.iter();
        let document = documents.find(|document| document["client_id"] == id)?;
        is_address
            .then(|| {
                self.client_of(document, id.to_owned(), ClientAuth::None)
                    .ok()
            })
            .flatten()
            // A document has no place for a secret.
            .filter(|client| matches!(client.auth, ClientAuth::None | ClientAuth::PrivateKeyJwt))
    }
}

fn is_redirect(uri: &str) -> bool {
    let is_https = uri
        .strip_prefix("https://")
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
    !uri.contains('#') && (is_https || without_loopback_port(uri).is_some())
}

fn wrong(about: impl Into<String>) -> Refusal {
    Refusal::new("invalid_client_metadata", about)
}
