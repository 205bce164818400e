//! The metadata of the resource and of the issuer.

use serde_json::{Map, Value, json};

use super::fault::{Endpoint, FaultKind};
use super::options::{ClientAuth, Dpop, MetadataPlace, ResourcePlace};
use super::reply::{IssuerReply, ReplyBody};
use super::{Inner, IssuerRequest, Site};

/// The place that only a challenge names.
const CUSTOM: &str = "/custom/metadata/location.json";
const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OIDC: &str = "/.well-known/openid-configuration";

impl Inner {
    /// Returns the path of the resource metadata.
    pub(super) fn resource_path(&self, site: &Site) -> Option<String> {
        match self.options.resource_place {
            ResourcePlace::Path => Some(format!("{RESOURCE}{}", site.path)),
            ResourcePlace::Root => Some(RESOURCE.to_owned()),
            ResourcePlace::Custom => Some(CUSTOM.to_owned()),
            ResourcePlace::Nowhere => None,
        }
    }

    /// Tells whether a path is that of the issuer's metadata.
    pub(super) fn is_metadata_path(&self, path: &str) -> bool {
        let issuer = &self.options.path;
        let oauth = format!("{OAUTH}{issuer}");
        let inserted = format!("{OIDC}{issuer}");
        let appended = format!("{issuer}{OIDC}");
        match self.options.metadata_place {
            MetadataPlace::OAuth => path == oauth,
            MetadataPlace::OidcInserted => path == inserted,
            MetadataPlace::OidcAppended => path == appended,
            MetadataPlace::All => [oauth, inserted, appended].iter().any(|one| one == path),
            MetadataPlace::Nowhere => false,
        }
    }

    pub(super) fn resource_metadata(&self, asked: &IssuerRequest<'_>) -> IssuerReply {
        let mut document = json!({
            "resource": asked.site.resource(),
            "authorization_servers": [self.issuer(asked.site)],
            "bearer_methods_supported": ["header"],
        });
        if !self.options.resource_scopes.is_empty() {
            document["scopes_supported"] = json!(self.options.resource_scopes);
        }
        if self.options.dpop != Dpop::Off {
            document["dpop_signing_alg_values_supported"] = json!(["ES256"]);
            document["dpop_bound_access_tokens_required"] =
                json!(self.options.dpop == Dpop::Required);
        }
        if self.faults.strikes(FaultKind::ServersMany) {
            let many = (0..10_000).map(|number| format!("https://issuer-{number}.example"));
            let servers: Vec<_> = many.chain([self.issuer(asked.site)]).collect();
            document["authorization_servers"] = json!(servers);
        }
        IssuerReply::json(200, document).spoil(&self.faults, Endpoint::ResourceMetadata, asked.path)
    }

    pub(super) fn metadata(&self, asked: &IssuerRequest<'_>) -> IssuerReply {
        let options = &self.options;
        let issuer = self.issuer(asked.site);
        let at = |name: &str| format!("{issuer}/{name}");
        let methods: Vec<_> = options.auth.iter().map(|method| method.name()).collect();
        let mut grants = vec!["authorization_code"];
        let mut scopes = options.scopes.clone();
        let mut document = Map::new();
        let mut put = |name: &str, value: Value| document.insert(name.to_owned(), value);
        put("issuer", json!(issuer));
        put("authorization_endpoint", json!(at("authorize")));
        put("token_endpoint", json!(at("token")));
        put("revocation_endpoint", json!(at("revoke")));
        put("response_types_supported", json!(["code"]));
        put("response_modes_supported", json!(["query"]));
        put("code_challenge_methods_supported", json!(["S256"]));
        put("token_endpoint_auth_methods_supported", json!(methods));
        if options.auth.contains(&ClientAuth::PrivateKeyJwt) {
            put(
                "token_endpoint_auth_signing_alg_values_supported",
                json!(["ES256"]),
            );
        }
        if options.registration {
            put("registration_endpoint", json!(at("register")));
        }
        if !options.documents.is_empty() {
            put("client_id_metadata_document_supported", json!(true));
        }
        if options.refresh {
            grants.push("refresh_token");
        }
        if options.offline_access {
            scopes.push("offline_access".to_owned());
        }
        if options.device {
            put("device_authorization_endpoint", json!(at("device")));
            grants.push(super::device::GRANT);
        }
        if options.client_credentials {
            grants.push("client_credentials");
        }
        if options.dpop != Dpop::Off {
            put("dpop_signing_alg_values_supported", json!(["ES256"]));
        }
        if options.iss && !self.faults.has(FaultKind::IssUnexpected) {
            put(
                "authorization_response_iss_parameter_supported",
                json!(true),
            );
        }
        put("grant_types_supported", json!(grants));
        put("scopes_supported", json!(scopes));
        let mut reply = IssuerReply::json(200, Value::Object(document));
        if self.faults.strikes(FaultKind::IssuerSlash)
            && let ReplyBody::Json(document) = &mut reply.body
        {
            document["issuer"] = json!(format!("{issuer}/"));
        }
        reply.spoil(&self.faults, Endpoint::Metadata, asked.path)
    }
}
