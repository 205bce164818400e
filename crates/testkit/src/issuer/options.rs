//! The settings of an issuer.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::fault::IssuerFault;

/// The place of the protected resource's metadata (RFC 9728).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResourcePlace {
    /// `/.well-known/oauth-protected-resource/mcp`.
    #[default]
    Path,
    /// `/.well-known/oauth-protected-resource`.
    Root,
    /// A place that only the challenge names.
    Custom,
    /// There is none, as before 2025-06-18.
    Nowhere,
}

/// The place of the issuer's own metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MetadataPlace {
    /// `/.well-known/oauth-authorization-server`, with the issuer's path behind it.
    #[default]
    OAuth,
    /// `/.well-known/openid-configuration`, with the issuer's path behind it.
    OidcInserted,
    /// `/.well-known/openid-configuration` behind the issuer's path.
    OidcAppended,
    /// All three.
    All,
    /// There is none; the endpoints are at `/authorize`, `/token` and `/register`.
    Nowhere,
}

/// The ways in which a client proves itself at the token endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClientAuth {
    /// A public client, which has nothing to prove.
    None,
    /// Its id and secret in the `Authorization` header.
    Basic,
    /// Its id and secret in the form.
    Post,
    /// An assertion that it has signed (RFC 7523).
    PrivateKeyJwt,
}

impl ClientAuth {
    /// All of them.
    pub const ALL: &[Self] = &[Self::None, Self::Basic, Self::Post, Self::PrivateKeyJwt];

    /// Returns the name that metadata uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|method| method.name() == name).copied()
    }
}

/// The behaviour of the person at the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consent {
    /// A request is approved at once: the answer to the GET is the redirect back.
    #[default]
    Automatic,
    /// A page with a form asks first.
    Page,
}

/// The rule for tokens that are bound to a key (RFC 9449).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dpop {
    /// Proofs are not understood.
    #[default]
    Off,
    /// A client that sends proofs gets bound tokens.
    Allowed,
    /// A client without a proof is refused.
    Required,
}

/// The rule for the `resource` parameter (RFC 8707).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ResourceRule {
    /// Every request has it, and it names the server exactly.
    #[default]
    Required,
    /// It is optional.
    Optional,
    /// A request that has it is refused.
    Refused,
}

/// A client that the issuer knew before it started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownClient {
    /// Its id.
    pub id: String,
    /// Its secret; a public client has none.
    pub secret: Option<String>,
    /// The way in which it proves itself.
    pub auth: ClientAuth,
    /// Its key as a JWK, for assertions.
    pub key: Option<Value>,
}

/// The settings of an issuer; the default is strict and has every grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerOptions {
    /// The place of the resource metadata.
    pub resource_place: ResourcePlace,
    /// The challenge names that place.
    pub names_place: bool,
    /// The place of the issuer's metadata.
    pub metadata_place: MetadataPlace,
    /// The path of the issuer, empty or with a slash at its beginning.
    pub path: String,
    /// The issuer has a port of its own.
    pub elsewhere: bool,
    /// Clients can register dynamically.
    pub registration: bool,
    /// The client id metadata documents that the issuer can read; a list that is not empty is advertised.
    pub documents: Vec<Value>,
    /// The clients that it knows already.
    pub clients: Vec<KnownClient>,
    /// The redirect addresses of the clients that it knows already; any port will do on loopback.
    pub redirects: Vec<String>,
    /// The ways to prove oneself that it accepts.
    pub auth: Vec<ClientAuth>,
    /// The scopes that it can grant.
    pub scopes: Vec<String>,
    /// The scopes that the resource metadata lists; none leaves the list out.
    pub resource_scopes: Vec<String>,
    /// The scope that the challenge asks for.
    pub challenge_scope: Option<String>,
    /// The scopes that calls of single tools need.
    pub tool_scopes: BTreeMap<String, String>,
    /// Only tool calls need a token.
    pub calls_only: bool,
    /// Gives out refresh tokens.
    pub refresh: bool,
    /// Gives out refresh tokens only for `offline_access`, which is then advertised.
    pub offline_access: bool,
    /// Each refresh replaces the refresh token.
    pub rotation: bool,
    /// Lifetime of an access token.
    pub access_life: Duration,
    /// Lifetime of a code.
    pub code_life: Duration,
    /// Offers device authorization.
    pub device: bool,
    /// The number of polls answered with `authorization_pending` before the person approves; `None`
    /// waits for the page.
    pub device_polls: Option<u64>,
    /// Minimum interval between two polls of a device.
    pub device_interval: Duration,
    /// Offers client credentials.
    pub client_credentials: bool,
    /// The rule for bound tokens.
    pub dpop: Dpop,
    /// Proofs need a nonce.
    pub dpop_nonces: bool,
    /// The behaviour of the person.
    pub consent: Consent,
    /// The redirect names the issuer (RFC 9207), and the metadata says so.
    pub iss: bool,
    /// The rule for `resource`.
    pub resource: ResourceRule,
    /// The faults.
    pub faults: Vec<IssuerFault>,
    /// A file that gets a line for each request.
    pub journal: Option<PathBuf>,
    /// A file that gets every secret that passes, in the clear.
    pub secrets: Option<PathBuf>,
}

impl Default for IssuerOptions {
    fn default() -> Self {
        Self {
            resource_place: ResourcePlace::default(),
            names_place: true,
            metadata_place: MetadataPlace::default(),
            path: String::new(),
            elsewhere: false,
            registration: true,
            documents: Vec::new(),
            clients: Vec::new(),
            redirects: vec!["http://127.0.0.1/callback".to_owned()],
            auth: vec![ClientAuth::None, ClientAuth::Basic, ClientAuth::Post],
            scopes: vec!["tools".to_owned(), "admin".to_owned()],
            resource_scopes: vec!["tools".to_owned()],
            challenge_scope: None,
            tool_scopes: BTreeMap::new(),
            calls_only: false,
            refresh: true,
            offline_access: false,
            rotation: true,
            access_life: Duration::from_secs(3600),
            code_life: Duration::from_secs(60),
            device: true,
            device_polls: Some(1),
            device_interval: Duration::from_secs(1),
            client_credentials: true,
            dpop: Dpop::default(),
            dpop_nonces: false,
            consent: Consent::default(),
            iss: true,
            resource: ResourceRule::default(),
            faults: Vec::new(),
            journal: None,
            secrets: None,
        }
    }
}

/// A setting with an invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingError(String);

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SettingError {}

/// The settings of [`IssuerOptions::set`]: name, form of the value, and effect.
pub const SETTINGS: &[(&str, &str, &str)] = &[
    (
        "resource-place",
        "path|root|custom|nowhere",
        "The place of the resource metadata.",
    ),
    (
        "names-place",
        "yes|no",
        "Whether the challenge names that place.",
    ),
    (
        "metadata-place",
        "oauth|oidc-inserted|oidc-appended|all|nowhere",
        "The place of the issuer's metadata.",
    ),
    ("path", "/PATH", "The path of the issuer."),
    (
        "elsewhere",
        "yes|no",
        "Whether the issuer has a port of its own.",
    ),
    (
        "registration",
        "yes|no",
        "Whether clients can register themselves.",
    ),
    (
        "document",
        "JSON",
        "A client id metadata document that the issuer can read; several add up.",
    ),
    (
        "client",
        "ID[:SECRET]",
        "A client that the issuer knows; several add up.",
    ),
    (
        "client-key",
        "ID:JWK",
        "A client that signs assertions with this key; several add up.",
    ),
    (
        "redirect",
        "URL",
        "A redirect address of those clients; the first replaces http://127.0.0.1/callback.",
    ),
    (
        "auth",
        "METHOD,...",
        "The ways to prove oneself at the token endpoint.",
    ),
    (
        "scopes",
        "SCOPE,...",
        "The scopes that the issuer can grant.",
    ),
    (
        "resource-scopes",
        "SCOPE,...",
        "The scopes that the resource metadata lists.",
    ),
    (
        "challenge-scope",
        "SCOPE",
        "The scope that the challenge asks for.",
    ),
    (
        "tool-scope",
        "TOOL:SCOPE",
        "A scope that calls of a tool need; several add up.",
    ),
    (
        "calls-only",
        "yes|no",
        "Whether only calls of tools need a token.",
    ),
    ("refresh", "yes|no", "Whether refresh tokens are given out."),
    (
        "offline-access",
        "yes|no",
        "Whether refresh tokens are only given for offline_access.",
    ),
    (
        "rotation",
        "yes|no",
        "Whether each refresh replaces the refresh token.",
    ),
    ("access-life", "SECONDS", "The life of an access token."),
    ("code-life", "SECONDS", "The life of a code."),
    ("device", "yes|no", "Whether there is device authorization."),
    (
        "device-polls",
        "COUNT|page",
        "The polls before the person approves on the other device; `page` waits for the page.",
    ),
    ("device-interval", "SECONDS", "The pause between two polls."),
    (
        "client-credentials",
        "yes|no",
        "Whether clients can have tokens for themselves.",
    ),
    (
        "dpop",
        "off|allowed|required",
        "The rule for tokens that are bound to a key.",
    ),
    ("dpop-nonces", "yes|no", "Whether proofs need a nonce."),
    (
        "consent",
        "automatic|page",
        "Whether a page with a form asks the person.",
    ),
    ("iss", "yes|no", "Whether the redirect names the issuer."),
    (
        "resource",
        "required|optional|refused",
        "The rule for the resource parameter.",
    ),
    (
        "journal",
        "FILE",
        "A file that gets a line for each request.",
    ),
    (
        "secrets",
        "FILE",
        "A file that gets every secret that passes, in the clear: tests look for them elsewhere.",
    ),
];

impl IssuerOptions {
    /// Applies one setting, written `NAME=VALUE`; see [`SETTINGS`].
    ///
    /// # Errors
    /// Fails when there is no such setting, or it does not take that value.
    pub fn set(&mut self, setting: &str) -> Result<(), SettingError> {
        let wrong = || {
            let name = setting.split('=').next().unwrap_or_default();
            let known = SETTINGS.iter().find(|(known, ..)| *known == name);
            SettingError(match known {
                Some((_, form, _)) => format!("{name} is written {name}={form}"),
                None => {
                    let names: Vec<_> = SETTINGS.iter().map(|(name, ..)| *name).collect();
                    format!("{name:?} is no setting; there are {}", names.join(", "))
                }
            })
        };
        let (name, value) = setting.split_once('=').ok_or_else(wrong)?;
        self.apply(name, value).ok_or_else(wrong)
    }

    fn apply(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "resource-place" => {
                self.resource_place = match value {
                    "path" => ResourcePlace::Path,
                    "root" => ResourcePlace::Root,
                    "custom" => ResourcePlace::Custom,
                    "nowhere" => ResourcePlace::Nowhere,
                    _ => return None,
                }
            }
            "names-place" => self.names_place = yes(value)?,
            "metadata-place" => {
                self.metadata_place = match value {
                    "oauth" => MetadataPlace::OAuth,
                    "oidc-inserted" => MetadataPlace::OidcInserted,
                    "oidc-appended" => MetadataPlace::OidcAppended,
                    "all" => MetadataPlace::All,
                    "nowhere" => MetadataPlace::Nowhere,
                    _ => return None,
                }
            }
            "path" => {
                let is_path = value.is_empty() || (value.starts_with('/') && !value.ends_with('/'));
                self.path = is_path.then(|| value.to_owned())?;
            }
            "elsewhere" => self.elsewhere = yes(value)?,
            "registration" => self.registration = yes(value)?,
            "document" => self.documents.push(serde_json::from_str(value).ok()?),
            "client" => {
                let (id, secret) = match value.split_once(':') {
                    Some((id, secret)) => (id, Some(secret.to_owned())),
                    None => (value, None),
                };
                let auth = match secret {
                    Some(_) => ClientAuth::Basic,
                    None => ClientAuth::None,
                };
                self.clients.push(KnownClient {
                    id: id.to_owned(),
                    secret,
                    auth,
                    key: None,
                });
            }
            "client-key" => {
                let (id, key) = value.split_once(':')?;
                self.clients.push(KnownClient {
                    id: id.to_owned(),
                    secret: None,
                    auth: ClientAuth::PrivateKeyJwt,
                    key: Some(serde_json::from_str(key).ok()?),
                });
                if !self.auth.contains(&ClientAuth::PrivateKeyJwt) {
                    self.auth.push(ClientAuth::PrivateKeyJwt);
                }
            }
            "redirect" => {
                if self.redirects == Self::default().redirects {
                    self.redirects.clear();
                }
                self.redirects.push(value.to_owned());
            }
            "auth" => {
                let methods = value.split(',').map(ClientAuth::from_name);
                self.auth = methods.collect::<Option<_>>()?;
            }
            "scopes" => self.scopes = list(value),
            "resource-scopes" => self.resource_scopes = list(value),
            "challenge-scope" => self.challenge_scope = Some(value.to_owned()),
            "tool-scope" => {
                let (tool, scope) = value.split_once(':')?;
                self.tool_scopes.insert(tool.to_owned(), scope.to_owned());
            }
            "calls-only" => self.calls_only = yes(value)?,
            "refresh" => self.refresh = yes(value)?,
            "offline-access" => self.offline_access = yes(value)?,
            "rotation" => self.rotation = yes(value)?,
            "access-life" => self.access_life = seconds(value)?,
            "code-life" => self.code_life = seconds(value)?,
            "device" => self.device = yes(value)?,
            "device-polls" => {
                self.device_polls = match value {
                    "page" => None,
                    count => Some(count.parse().ok()?),
                }
            }
            "device-interval" => self.device_interval = seconds(value)?,
            "client-credentials" => self.client_credentials = yes(value)?,
            "dpop" => {
                self.dpop = match value {
                    "off" => Dpop::Off,
                    "allowed" => Dpop::Allowed,
                    "required" => Dpop::Required,
                    _ => return None,
                }
            }
            "dpop-nonces" => self.dpop_nonces = yes(value)?,
            "consent" => {
                self.consent = match value {
                    "automatic" => Consent::Automatic,
                    "page" => Consent::Page,
                    _ => return None,
                }
            }
            "iss" => self.iss = yes(value)?,
            "resource" => {
                self.resource = match value {
                    "required" => ResourceRule::Required,
                    "optional" => ResourceRule::Optional,
                    "refused" => ResourceRule::Refused,
                    _ => return None,
                }
            }
            "journal" => self.journal = Some(PathBuf::from(value)),
            "secrets" => self.secrets = Some(PathBuf::from(value)),
            _ => return None,
        }
        Some(())
    }
}

fn yes(value: &str) -> Option<bool> {
    match value {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn list(value: &str) -> Vec<String> {
    let parts = value.split(',').filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn seconds(value: &str) -> Option<Duration> {
    value.parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_change_what_they_name() {
        let mut options = IssuerOptions::default();
        for setting in [
            "resource-place=custom",
            "metadata-place=oidc-appended",
            "path=/tenant",
            "client=app:secret",
            "client=public",
            "auth=none,private_key_jwt",
            "scopes=a,b",
            "tool-scope=add:b",
            "access-life=2",
            "device-polls=page",
            "dpop=required",
            "redirect=http://localhost/x",
        ] {
            options.set(setting).unwrap();
        }
        assert_eq!(options.resource_place, ResourcePlace::Custom);
        assert_eq!(options.path, "/tenant");
        assert_eq!(options.access_life, Duration::from_secs(2));
        assert_eq!(options.device_polls, None);
        assert_eq!(options.redirects, ["http://localhost/x"]);
        let ids: Vec<_> = options.clients.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["app", "public"]);
    }

    #[test]
    fn a_setting_that_makes_no_sense_is_named() {
        let mut options = IssuerOptions::default();
        let mut refused = |setting: &str| options.set(setting).unwrap_err().to_string();
        assert_eq!(refused("iss=maybe"), "iss is written iss=yes|no");
        assert_eq!(refused("iss"), "iss is written iss=yes|no");
        assert!(refused("issuer=x").starts_with("\"issuer\" is no setting; there are"));
        for setting in ["path=x", "access-life=2s", "auth=basic", "document={"] {
            refused(setting);
        }
    }

    #[test]
    fn every_setting_of_the_table_is_understood() {
        for (name, form, _) in SETTINGS {
            let value = match form.split('|').next().unwrap_or_default() {
                "yes" => "no",
                "/PATH" => "/x",
                "JSON" => "{}",
                "ID[:SECRET]" | "TOOL:SCOPE" => "a:b",
                "ID:JWK" => "a:{}",
                "METHOD,..." => "none",
                "SECONDS" | "COUNT" => "3",
                form => form,
            };
            let mut options = IssuerOptions::default();
            let set = options.set(&format!("{name}={value}"));
            assert_eq!(set, Ok(()), "{name}");
        }
    }
}
