//! Discovery of the issuer of tokens for a server (RFC 9728, RFC 8414, OpenID Connect).
//!
//! In order of preference: the endpoints or the issuer of the settings, the issuer in the server's
//! resource metadata, and for a server without metadata the rules of 2025-03-26, where the server
//! is its own issuer.

use switchboard_core::limits::Limits;
use switchboard_core::secret::SafeUrl;
use url::Url;

use super::challenge::Challenge;
use super::fetch::{self, AuthFetch, AuthRequest, AuthResponse, Endpoint};
use super::metadata::{
    self, IssuerExpectations, IssuerMetadata, ResourceMetadata, metadata_urls,
    resource_metadata_urls,
};
use super::scope;
use super::settings::{DpopSetting, NamedBy, OAuthSettings, ResourceSetting};
use crate::auth_error::{AuthError, Purpose};
use crate::transport::guard::{Origin, Reach};

/// The hints about authorization in a server's refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hint {
    pub(crate) resource_metadata: Option<String>,
    pub(crate) scopes: Option<Vec<String>>,
    /// The server accepts only DPoP tokens.
    pub(crate) demands_dpop: bool,
}

impl Hint {
    /// Collects the hints in the challenges of a refusal.
    pub(crate) fn of(challenges: &[Challenge]) -> Self {
        let oauth = || challenges.iter().filter(|challenge| challenge.is_oauth());
        let parameter =
            |name: &str| oauth().find_map(|challenge| challenge.parameter(name).map(str::to_owned));
        let has = |scheme: &str| oauth().any(|challenge| challenge.scheme() == scheme);
        Self {
            resource_metadata: parameter("resource_metadata"),
            scopes: oauth().find_map(Challenge::scopes),
            demands_dpop: has("dpop") && !has("bearer"),
        }
    }
}

/// The result of discovery.
#[derive(Debug, Clone)]
pub(crate) struct Discovered {
    pub(crate) issuer: IssuerMetadata,
    /// The resource to request tokens for; `None` to name none.
    pub(crate) resource: Option<String>,
    /// The scopes that the server's metadata lists.
    pub(crate) resource_scopes: Option<Vec<String>>,
    pub(crate) wants_dpop: bool,
}

/// Discovery for one server.
pub(crate) struct Discovery<'a> {
    pub(crate) server: &'a Url,
    pub(crate) settings: &'a OAuthSettings,
    pub(crate) fetch: &'a dyn AuthFetch,
    pub(crate) limits: &'a Limits,
}

impl Discovery<'_> {
    /// Discovers the issuer, the resource and the scopes.
    ///
    /// # Errors
    /// Fails when a document is missing or invalid.
    pub(crate) async fn run(&self, hint: &Hint) -> Result<Discovered, AuthError> {
        let settings = self.settings;
        // Settings before discovery: a person who names endpoints or an issuer does not want
        // others.
        let mut found = if settings.token_endpoint.is_some() {
            self.configured()?
        } else if let Some(issuer) = &settings.issuer {
            let issuer = self.issuer(issuer, Trust::Settings).await?;
            let resource = Some(canonical(self.server));
            self.discovered(issuer, resource, None)
        } else {
            self.by_resource(hint).await?
        };
        match &settings.resource {
            ResourceSetting::Discovered => {}
            ResourceSetting::Omit => found.resource = None,
            ResourceSetting::Value(value) => found.resource = Some(value.clone()),
        }
        // The server may demand DPoP, but only a key that the issuer supports can be bound.
        found.wants_dpop |= hint.demands_dpop;
        found.wants_dpop = match settings.dpop {
            DpopSetting::Never => false,
            DpopSetting::Demanded => found.wants_dpop && found.issuer.supports_dpop,
            DpopSetting::Supported => found.issuer.supports_dpop,
        };
        Ok(found)
    }

    /// The endpoints of the settings.
    fn configured(&self) -> Result<Discovered, AuthError> {
        let settings = self.settings;
        let endpoint = |purpose, text: &Option<String>| match text {
            Some(text) => self.setting(purpose, text).map(Some),
            None => Ok(None),
        };
        let token = endpoint(Purpose::Token, &settings.token_endpoint)?;
        let issuer = match (&settings.issuer, &token) {
            (Some(issuer), _) => issuer.clone(),
            // The issuer is only a name for the origin of tokens here; the token endpoint serves as
            // one.
            (None, Some(token)) => Origin::of(token.url.expose())
                .map(|origin| origin.to_string())
                .unwrap_or_default(),
            (None, None) => String::new(),
        };
        let issuer = IssuerMetadata {
            issuer,
            authorization: endpoint(Purpose::Authorization, &settings.authorization_endpoint)?,
            token,
            registration: None,
            device: endpoint(Purpose::Device, &settings.device_authorization_endpoint)?,
            revocation: None,
            scopes: Vec::new(),
            auth_methods: None,
            has_pkce: settings.named_by == NamedBy::Person,
            names_itself: false,
            takes_documents: false,
            supports_dpop: settings.dpop == DpopSetting::Supported,
        };
        let resource = Some(canonical(self.server));
        Ok(self.discovered(issuer, resource, None))
    }

    async fn by_resource(&self, hint: &Hint) -> Result<Discovered, AuthError> {
        let Some(resource) = self.resource_metadata(hint).await? else {
            return self.oldest().await;
        };
        // The first one is what the server prefers. An issuer for which the person has a client
        // would be in the settings.
        let named = resource.issuers.first().cloned().unwrap_or_default();
        let issuer = self.issuer(&named, Trust::Server).await?;
        let mut found = self.discovered(issuer, Some(resource.resource), resource.scopes);
        found.wants_dpop = resource.demands_dpop;
        Ok(found)
    }

    fn discovered(
        &self,
        issuer: IssuerMetadata,
        resource: Option<String>,
        resource_scopes: Option<Vec<String>>,
    ) -> Discovered {
        Discovered {
            issuer,
            resource,
            resource_scopes,
            wants_dpop: false,
        }
    }

    /// Fetches the metadata of the server; `None` if there is none.
    async fn resource_metadata(&self, hint: &Hint) -> Result<Option<ResourceMetadata>, AuthError> {
        let purpose = Purpose::ResourceMetadata;
        let mut places = Vec::new();
        // The place that the server named comes first, then the well-known ones.
        if let Some(named) = &hint.resource_metadata {
            let allowed = self.fetch.allowed();
            let named = Endpoint::parse(purpose, named, |url| self.named_by_server(url), allowed)?;
            places.push(named);
        }
        for url in resource_metadata_urls(self.server) {
            places.push(Endpoint {
                reach: self.named_by_server(&url),
                url: SafeUrl::from(url),
            });
        }
        for place in places {
            let answer = self.get(purpose, &place).await?;
            if answer.is_success() {
                let body = answer.body.expose();
                return ResourceMetadata::parse(body, &place.url, self.server).map(Some);
            }
            // Skip only places that do not exist: a server with a temporary error does have
            // metadata.
            if !matches!(answer.status, 400..=499) {
                return Err(status(purpose, &place.url, answer.status));
            }
        }
        Ok(None)
    }

    /// Fetches the metadata of an issuer.
    async fn issuer(&self, issuer: &str, trust: Trust) -> Result<IssuerMetadata, AuthError> {
        let named = |url: &Url| match trust {
            Trust::Settings => self.named_by_settings(url),
            Trust::Server => self.named_by_server(url),
        };
        let (reach, urls) = metadata_urls(issuer, named, self.fetch.allowed())?;
        let origin = urls.first().and_then(|url| Origin::of(url).ok());
        // URLs that the person's own issuer names at its own origin count as the person's.
        let within = |url: &Url| match (&origin, reach) {
            (Some(origin), Reach::Person) => origin.reach(url),
            _ => self.named_by_server(url),
        };
        let reading = IssuerExpectations {
            issuer,
            accepted: &[issuer.to_owned()],
            reach: &within,
            allowed: self.fetch.allowed(),
            is_vouched_for: trust == Trust::Settings && self.settings.named_by == NamedBy::Person,
        };
        let mut last = None;
        for url in urls {
            let place = Endpoint {
                url: SafeUrl::from(url),
                reach,
            };
            match self.issuer_at(&place, &reading).await {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => {}
                // Some servers answer every path with an HTML page.
                Err(error @ AuthError::Metadata { .. }) => last = last.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| AuthError::Metadata {
            purpose: Purpose::IssuerMetadata,
            url: metadata::shorten(issuer),
            problem: "not found at any of the expected places".to_owned(),
        }))
    }

    async fn issuer_at(
        &self,
        place: &Endpoint,
        reading: &IssuerExpectations<'_>,
    ) -> Result<Option<IssuerMetadata>, AuthError> {
        let answer = self.get(Purpose::IssuerMetadata, place).await?;
        match answer.status {
            200..=299 => {
                let body = answer.body.expose();
                IssuerMetadata::parse(body, &place.url, reading).map(Some)
            }
            400..=499 => Ok(None),
            found => Err(status(Purpose::IssuerMetadata, &place.url, found)),
        }
    }

    /// Handles a server of 2025-03-26, which issues tokens itself: its metadata is at the root, or
    /// its endpoints are at fixed paths.
    async fn oldest(&self) -> Result<Discovered, AuthError> {
        let origin = Origin::of(self.server).map_err(|why| AuthError::Forbidden {
            purpose: Purpose::Server,
            url: SafeUrl::from(self.server.clone()).to_string(),
            why: why.to_string(),
        })?;
        let issuer = origin.to_string();
        let named = |url: &Url| self.named_by_server(url);
        let (reach, urls) = metadata_urls(&issuer, named, self.fetch.allowed())?;
        let reading = IssuerExpectations {
            issuer: &issuer,
            // The issuer is derived from the server's URL here, which can be written in two ways.
            accepted: &[issuer.clone(), format!("{issuer}/")],
            reach: &named,
            allowed: self.fetch.allowed(),
            is_vouched_for: false,
        };
        // Metadata at the root if there is any, else the fixed paths of 2025-03-26.
        if let Some(url) = urls.into_iter().next() {
            let place = Endpoint {
                url: SafeUrl::from(url),
                reach,
            };
            match self.issuer_at(&place, &reading).await {
                Ok(Some(found)) => return Ok(self.discovered(found, None, None)),
                // Some servers answer every path with an HTML page.
                Ok(None) | Err(AuthError::Metadata { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let fixed = |path: &str| {
            let mut url = self.server.clone();
            url.set_query(None);
            url.set_fragment(None);
            url.set_path(path);
            Some(Endpoint {
                reach: named(&url),
                url: SafeUrl::from(url),
            })
        };
        let found = IssuerMetadata {
            issuer,
            authorization: fixed("/authorize"),
            token: fixed("/token"),
            registration: fixed("/register"),
            device: None,
            revocation: None,
            scopes: Vec::new(),
            auth_methods: None,
            // 2025-03-26: PKCE is required of every server, and there is no document that could
            // list it.
            has_pkce: true,
            names_itself: false,
            takes_documents: false,
            supports_dpop: false,
        };
        Ok(self.discovered(found, None, None))
    }

    async fn get(&self, purpose: Purpose, place: &Endpoint) -> Result<AuthResponse, AuthError> {
        let request = AuthRequest {
            purpose,
            url: place.url.clone(),
            reach: place.reach,
            body: None,
            headers: vec![("accept", "application/json".into())],
            limit_bytes: self.limits.auth_metadata_bytes,
            timeout: self.limits.auth_request,
        };
        fetch::send(self.fetch, request).await
    }

    /// Reads an endpoint of the settings.
    pub(crate) fn setting(&self, purpose: Purpose, text: &str) -> Result<Endpoint, AuthError> {
        let named = |url: &Url| self.named_by_settings(url);
        Endpoint::parse(purpose, text, named, self.fetch.allowed())
    }

    fn named_by_settings(&self, url: &Url) -> Reach {
        match self.settings.named_by {
            NamedBy::Person => Reach::Person,
            NamedBy::Project => self.named_by_server(url),
        }
    }

    fn named_by_server(&self, url: &Url) -> Reach {
        Origin::of(self.server).map_or(Reach::Server, |origin| origin.reach(url))
    }
}

/// The source of an issuer's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    Settings,
    Server,
}

/// Chooses the scopes of a login.
///
/// In order of precedence: those of the person, those that the server demands, all that its
/// metadata lists, none.
pub(crate) fn choose_scopes(
    settings: &OAuthSettings,
    hint: &Hint,
    found: &Discovered,
    earlier: &[String],
    most: usize,
) -> Vec<String> {
    let chosen = match (&settings.scopes, &hint.scopes, &found.resource_scopes) {
        (Some(configured), Some(demanded), _) => scope::union(configured, demanded),
        (Some(scopes), None, _) | (None, Some(scopes), _) | (None, None, Some(scopes)) => {
            scopes.clone()
        }
        (None, None, None) => Vec::new(),
    };
    // 2026-07-28: scopes that were granted before are requested again.
    let mut chosen = scope::union(earlier, &chosen);
    let offline = "offline_access";
    // Servers must not demand `offline_access`; the issuer tells whether it has a meaning.
    let is_listed = found.issuer.scopes.iter().any(|scope| scope == offline);
    if is_listed && settings.scopes.is_none() && !chosen.is_empty() {
        // On its own it would replace the default scopes of the issuer.
        chosen = scope::union(&chosen, &[offline.to_owned()]);
    } else if !is_listed && settings.scopes.is_none() {
        chosen.retain(|scope| scope != offline);
    }
    chosen.truncate(most);
    chosen
}

/// The URL of a server as the name of a resource.
pub(crate) fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_fragment(None);
    let text = url.to_string();
    match (url.path(), url.query()) {
        ("/", None) => text.trim_end_matches('/').to_owned(),
        _ => text,
    }
}

fn status(purpose: Purpose, url: &SafeUrl, status: u16) -> AuthError {
    AuthError::Status {
        purpose,
        url: url.to_string(),
        status,
    }
}
