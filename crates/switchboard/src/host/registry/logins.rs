//! Logins of servers at URLs: one authorizer for each member, shared by all its connections.
//!
//! A server that never asks costs one look into the store, at its first request. An authorizer is made by admission,
//! so that nothing that came with a folder is logged in to, or given a stored token, before it is approved.

use std::sync::{Arc, Weak};

use super::{Member, Options};
use crate::auth::{
    Assertion, AuthError, Authorizer, Grant, NamedBy, NeedsLogin, OAuthSettings, ObserveLogins,
    ResourceSetting, SigningKey,
};
#[cfg(feature = "config")]
use crate::config::Entry;
use crate::error::{Error, HostError};
use crate::events::{Event, EventSender};
use crate::spec::{Endpoint, OAuth, OAuthGrant, OAuthResource, Remote, ServerName, ServerSpec};
use crate::transport::HttpAuthFetch;

/// Makes the authorizer of a server; `None` if there is nothing to log in to, or a configured
/// header is sent.
///
/// # Errors
/// Fails if a setting of the login cannot be used.
pub(super) fn authorizer_for(
    spec: &ServerSpec,
    options: &Options,
) -> Result<Option<Authorizer>, Error> {
    let Endpoint::Remote(remote) = &spec.endpoint else {
        return Ok(None);
    };
    // A header in the description is sent as it is: two sources for one header would hide a
    // mistake.
    if sends_authorization(remote) {
        return Ok(None);
    }
    let made = settings_of(spec, remote, options).and_then(|settings| {
        Authorizer::new(
            remote.url.expose().as_str(),
            settings,
            fetch_with(options),
            Arc::clone(&options.tokens),
            &options.limits,
        )
    });
    match made {
        Ok(authorizer) => Ok(Some(authorizer)),
        Err(error) => Err(HostError::Auth(Box::new(error)).into()),
    }
}

/// Returns true if a description sets the header that a login would.
pub(super) fn sends_authorization(remote: &Remote) -> bool {
    let mut names = remote.headers.iter().map(|(name, _)| name);
    names.any(|name| name.eq_ignore_ascii_case("authorization"))
}

/// Returns the error for a server that is not logged in to.
pub(super) fn no_login(member: &Member, identity: &str) -> Error {
    let why = if identity.starts_with("http:") || identity.starts_with("sse:") {
        "its description sets an `Authorization` header, which is sent in place of a login"
    } else {
        "it is not a server at a URL"
    };
    member.with_context(HostError::NoLogin { why })
}

/// Makes the requests of logins as those to servers are made: by the same proxy, with the same certificates.
pub(super) fn fetch_with(options: &Options) -> Arc<HttpAuthFetch> {
    let mut fetch = HttpAuthFetch::allowing(&options.addresses);
    if let Some(proxy) = &options.proxy {
        fetch = fetch.proxy(proxy);
    }
    if let Some(pem) = &options.certificates {
        fetch = fetch.certificates(pem);
    }
    Arc::new(fetch)
}

fn settings_of(
    spec: &ServerSpec,
    remote: &Remote,
    options: &Options,
) -> Result<OAuthSettings, AuthError> {
    let described = OAuth::default();
    let oauth = remote.oauth.as_deref().unwrap_or(&described);
    let mut settings = OAuthSettings::default();
    settings.client_id = oauth.client_id.clone();
    settings.client_secret = oauth.client_secret.clone();
    if let Some(pem) = &oauth.client_key {
        settings.client_key = Some(Arc::new(SigningKey::from_pem(pem)?));
    }
    settings.client_metadata_url = oauth.client_metadata_url.clone();
    settings.scopes = oauth.scopes.clone();
    settings.callback_port = oauth.callback_port;
    settings.redirect_uri = oauth.redirect_uri.clone();
    settings.resource = match &oauth.resource {
        OAuthResource::Discovered => ResourceSetting::Discovered,
        OAuthResource::Omit => ResourceSetting::Omit,
        OAuthResource::Value(value) => ResourceSetting::Value(value.clone()),
    };
    settings.issuer = oauth.issuer.clone();
    settings.authorization_endpoint = oauth.authorization_endpoint.clone();
    settings.token_endpoint = oauth.token_endpoint.clone();
    settings.device_authorization_endpoint = oauth.device_authorization_endpoint.clone();
    settings.grant = match (oauth.grant, &oauth.assertion_file) {
        (OAuthGrant::ClientCredentials, _) => Grant::ClientCredentials,
        (OAuthGrant::Workload, Some(file)) => Grant::Workload {
            assertion: Assertion::File(file.clone()),
        },
        (OAuthGrant::Workload, None) => {
            return Err(AuthError::Setting {
                key: "assertionFile",
                problem: "is missing, which the grant `workload` needs".to_owned(),
            });
        }
        (OAuthGrant::AuthorizationCode | OAuthGrant::DeviceCode, _) => Grant::Person,
    };
    settings.prefers_device = oauth.grant == OAuthGrant::DeviceCode;
    // A project's addresses are trusted no more than those that a server names.
    settings.named_by = if spec.origin.layer.needs_approval() {
        NamedBy::Project
    } else {
        NamedBy::Person
    };
    settings.profile.clone_from(&options.login_profile);
    Ok(settings)
}

/// Checks that a project's file does not send secrets of the person to an address of the project's
/// choice.
///
/// # Errors
/// Fails if it names a file with a token of the platform, or both an address of the login and a
/// secret that is filled in.
#[cfg(feature = "config")]
pub(super) fn check_project(entry: &Entry) -> Result<(), Error> {
    const ADDRESSES: &[&str] = &[
        "issuer",
        "authorization_endpoint",
        "token_endpoint",
        "device_authorization_endpoint",
    ];
    let oauth = entry.value().get("oauth");
    let Some(oauth) = oauth.filter(|_| entry.origin().layer.needs_approval()) else {
        return Ok(());
    };
    let refuse = |message: &str| {
        let problem = entry.problem(crate::config::ProblemKind::Refused, message);
        Err(HostError::Problem(Box::new(problem)).into())
    };
    if oauth.get("assertion_file").is_some() {
        return refuse("a project's file cannot name the file of a platform's token");
    }
    let has_address = ADDRESSES.iter().any(|name| oauth.get(name).is_some());
    // Either alone is harmless: together the project chooses where the person's variables go.
    if has_address && oauth.to_string().contains("${") {
        return refuse(
            "a project's file cannot both name the issuer of a login and have variables sent there",
        );
    }
    Ok(())
}

/// Reports the logins of one server as events.
pub(super) struct LoginObserver {
    server: ServerName,
    events: EventSender,
    /// The member has the authorizer, which has this.
    member: Weak<Member>,
}

impl LoginObserver {
    pub(super) fn new(member: &Arc<Member>, events: &EventSender) -> Self {
        Self {
            server: member.name.clone(),
            events: events.clone(),
            member: Arc::downgrade(member),
        }
    }

    fn redact(&self, text: &str) -> String {
        match self.member.upgrade() {
            Some(member) => member.redact(text),
            None => text.to_owned(),
        }
    }
}

impl ObserveLogins for LoginObserver {
    fn login_needed(&self, needed: &NeedsLogin) {
        self.events.emit(|| Event::LoginNeeded {
            server: self.server.clone(),
            issuer: needed.issuer.clone(),
            scopes: needed.scopes.clone(),
            reason: needed.reason.as_str(),
        });
    }

    fn token_renewed(&self, issuer: &str) {
        self.events.emit(|| Event::TokenRenewed {
            server: self.server.clone(),
            issuer: issuer.to_owned(),
        });
    }

    fn login_failed(&self, error: &AuthError) {
        self.events.emit(|| Event::LoginFailed {
            server: self.server.clone(),
            error: self.redact(&error.to_string()),
        });
    }
}
