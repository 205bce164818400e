//! The HTTP client that all connections to one server share.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use switchboard_core::limits::Limits;
use switchboard_core::secret::Secret;
use switchboard_core::spec::AddressRange;

use super::HttpError;
use super::dial::Dial;
use super::fetch::Fetch;
use super::guard::Reach;
use super::retry::Attempts;
use crate::transport::Environment;

/// How long a connection that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(90);
/// What attempts are counted in.
const MINUTE: Duration = Duration::from_secs(60);
/// How many of them are kept.
const IDLE_CONNECTIONS: usize = 16;
/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(15);

/// By which proxy requests go.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// By none.
    #[default]
    None,
    /// By what `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` of an environment say. What a
    /// proxy connects to is its own affair: the address that is checked is the proxy's.
    Of {
        /// For URLs of https.
        https: Option<Secret<String>>,
        /// For URLs of http.
        http: Option<Secret<String>>,
        /// Hosts that are reached without.
        except: Option<String>,
    },
}

/// Hosts of this machine, which no proxy leads to.
const HERE: &str = "localhost,127.0.0.0/8,::1";

impl Proxy {
    /// One proxy for all URLs, but for those of this machine and of hosts that are left out: names, which
    /// stand for those below them too, addresses and ranges of addresses.
    pub fn to(url: Secret<String>, except: &[String]) -> Self {
        let except = std::iter::once(HERE).chain(except.iter().map(String::as_str));
        Self::Of {
            https: Some(url.clone()),
            http: Some(url),
            except: Some(except.collect::<Vec<_>>().join(",")),
        }
    }

    /// What the variables of an environment say.
    pub fn of_environment(environment: &Environment) -> Self {
        let get = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| environment.get(name));
            found.find(|value| !value.expose().is_empty()).cloned()
        };
        Self::Of {
            https: get(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]),
            // Upper case is what a web server calls a header of its caller's: not to be trusted.
            http: get(&["http_proxy", "ALL_PROXY", "all_proxy"]),
            except: get(&["NO_PROXY", "no_proxy"]).map(|value| value.expose().clone()),
        }
    }
}

/// A client that is made when it is first needed.
#[derive(Clone, Default)]
pub(crate) struct Client {
    /// Whether nothing is encrypted, because the URL is one of http.
    is_plain: bool,
    /// Who names the URLs that it is used for.
    reach: Option<Reach>,
    proxy: Proxy,
    certificates: Vec<Vec<u8>>,
    /// Addresses that the person allows besides those that they always may use.
    allowed: Arc<[AddressRange]>,
    made: Arc<OnceLock<Result<Arc<dyn Fetch>, String>>>,
    attempts: Arc<OnceLock<Arc<Mutex<Attempts>>>>,
}

impl Client {
    /// A client for one URL.
    pub(crate) fn to(url: &url::Url, allowed: &[AddressRange]) -> Self {
        Self {
            is_plain: url.scheme() == "http",
            allowed: Arc::from(allowed),
            ..Self::default()
        }
    }

    /// A client for any URL of this kind, named like this.
    #[cfg(feature = "auth")]
    pub(crate) fn reaching(reach: Reach, is_plain: bool, allowed: &[AddressRange]) -> Self {
        Self {
            is_plain,
            reach: Some(reach),
            allowed: Arc::from(allowed),
            ..Self::default()
        }
    }

    pub(crate) fn set_proxy(&mut self, proxy: &Proxy) {
        self.proxy = proxy.clone();
        self.made = Arc::default();
    }

    pub(crate) fn add_certificates(&mut self, pem: &[u8]) {
        self.certificates.push(pem.to_vec());
        self.made = Arc::default();
    }

    /// How often the server was tried again lately, on any connection.
    pub(crate) fn attempts(&self, limits: &Limits) -> Arc<Mutex<Attempts>> {
        let made = || Arc::new(Mutex::new(Attempts::new(limits.attempts, MINUTE)));
        Arc::clone(self.attempts.get_or_init(made))
    }

    pub(crate) fn get(&self) -> Result<Arc<dyn Fetch>, HttpError> {
        let made = self.made.get_or_init(|| self.make());
        made.clone().map_err(HttpError::Client)
    }

    fn make(&self) -> Result<Arc<dyn Fetch>, String> {
        let reach = self.reach.unwrap_or(Reach::Person);
        let mut builder = reqwest::Client::builder()
            .use_preconfigured_tls(self.tls()?)
            .dns_resolver(Arc::new(Dial::new(reach).allowing(&self.allowed)))
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .tcp_nodelay(true)
            .no_proxy();
        if let Proxy::Of {
            https,
            http,
            except,
        } = &self.proxy
        {
            let except = except.as_deref().and_then(reqwest::NoProxy::from_string);
            // The address may hold a password: the error does not show it.
            let no_url = |_| "the proxy's address is no URL".to_owned();
            if let Some(address) = https {
                let proxy = reqwest::Proxy::https(address.expose()).map_err(no_url)?;
                builder = builder.proxy(proxy.no_proxy(except.clone()));
            }
            if let Some(address) = http {
                let proxy = reqwest::Proxy::http(address.expose()).map_err(no_url)?;
                builder = builder.proxy(proxy.no_proxy(except));
            }
        }
        let client = builder.build().map_err(|error| error.to_string())?;
        Ok(Arc::new(client))
    }

    /// What is trusted: what the system trusts, and what was added.
    fn tls(&self) -> Result<rustls::ClientConfig, String> {
        use rustls::pki_types::CertificateDer;
        use rustls::pki_types::pem::PemObject as _;
        use rustls_platform_verifier::{BuilderVerifierExt as _, Verifier};

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        if self.is_plain && matches!(self.proxy, Proxy::None) {
            // Requests stay within their origin, which has no use for it; reading all that the system
            // trusts would take most of the time of a short command.
            let nobody = rustls::RootCertStore::empty();
            return Ok(builder.with_root_certificates(nobody).with_no_client_auth());
        }
        if self.certificates.is_empty() {
            let builder = builder.with_platform_verifier();
            return Ok(builder
                .map_err(|error| error.to_string())?
                .with_no_client_auth());
        }
        let mut roots = Vec::new();
        for pem in &self.certificates {
            let before = roots.len();
            for certificate in CertificateDer::pem_slice_iter(pem) {
                roots.push(certificate.map_err(|error| format!("certificates: {error}"))?);
            }
            if roots.len() == before {
                return Err("the file of certificates holds none".to_owned());
            }
        }
        let verifier = Verifier::new_with_extra_roots(roots, provider);
        let verifier = Arc::new(verifier.map_err(|error| error.to_string())?);
        Ok(builder
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth())
    }
}
