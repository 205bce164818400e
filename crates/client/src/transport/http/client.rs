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

/// Maximum time that an unused connection is kept.
const IDLE: Duration = Duration::from_secs(90);
/// The period in which attempts are counted.
const MINUTE: Duration = Duration::from_secs(60);
/// Maximum number of unused connections: as many as calls may be in flight by default, so that the connections of a
/// burst are there for the next one.
const IDLE_CONNECTIONS: usize = 64;
/// Maximum time for establishing a connection.
const CONNECT: Duration = Duration::from_secs(15);

/// The proxy that requests go through.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Proxy {
    /// No proxy.
    #[default]
    None,
    /// The proxies that `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` of an environment
    /// name. The guard checks the address of the proxy; the proxy decides where it connects to.
    Of {
        /// For https URLs.
        https: Option<Secret<String>>,
        /// For http URLs.
        http: Option<Secret<String>>,
        /// Hosts that are reached directly.
        except: Option<String>,
    },
}

/// Hosts of this machine, which are always reached directly.
const HERE: &str = "localhost,127.0.0.0/8,::1";

impl Proxy {
    /// Creates one proxy for all URLs except those of this machine and of the hosts in `except`:
    /// names (which include their subdomains), addresses and ranges of addresses.
    pub fn to(url: Secret<String>, except: &[String]) -> Self {
        let except = std::iter::once(HERE).chain(except.iter().map(String::as_str));
        Self::Of {
            https: Some(url.clone()),
            http: Some(url),
            except: Some(except.collect::<Vec<_>>().join(",")),
        }
    }

    /// Reads the proxy variables of an environment.
    pub fn of_environment(environment: &Environment) -> Self {
        let get = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| environment.get(name));
            found.find(|value| !value.expose().is_empty()).cloned()
        };
        Self::Of {
            https: get(&["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]),
            // `HTTP_PROXY` in upper case is not read: in a CGI program it is a header of the
            // caller.
            http: get(&["http_proxy", "ALL_PROXY", "all_proxy"]),
            except: get(&["NO_PROXY", "no_proxy"]).map(|value| value.expose().clone()),
        }
    }
}

/// An HTTP client that is created when it is first needed.
#[derive(Clone, Default)]
pub(crate) struct Client {
    /// TLS is not needed, because the URL is http.
    is_plain: bool,
    /// The party that names the URLs; the person if `None`.
    reach: Option<Reach>,
    proxy: Proxy,
    certificates: Vec<Vec<u8>>,
    /// Addresses that the person allowed besides the permitted ones.
    allowed: Arc<[AddressRange]>,
    made: Arc<OnceLock<Result<Arc<dyn Fetch>, String>>>,
    attempts: Arc<OnceLock<Arc<Mutex<Attempts>>>>,
}

impl Client {
    /// Creates a client for one URL.
    pub(crate) fn to(url: &url::Url, allowed: &[AddressRange]) -> Self {
        Self {
            is_plain: url.scheme() == "http",
            allowed: Arc::from(allowed),
            ..Self::default()
        }
    }

    /// Creates a client for any URL of this scheme that this party names.
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

    /// The counter of recent attempts, shared by all connections.
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
            // Names are resolved by the guard; redirects and retries are decided above, never by
            // the client.
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
            // The address may contain a password, so the error does not show it.
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

    /// Builds the TLS configuration: the system's certificates, and those that were added.
    fn tls(&self) -> Result<rustls::ClientConfig, String> {
        use rustls::pki_types::CertificateDer;
        use rustls::pki_types::pem::PemObject as _;
        use rustls_platform_verifier::{BuilderVerifierExt as _, Verifier};

        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        if self.is_plain && matches!(self.proxy, Proxy::None) {
            // Requests stay within their http origin, so TLS is never used; loading the system's
            // certificates would take most of the time of a short command.
            let no_roots = rustls::RootCertStore::empty();
            return Ok(builder
                .with_root_certificates(no_roots)
                .with_no_client_auth());
        }
        // Without extra certificates the system's own verifier decides.
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
