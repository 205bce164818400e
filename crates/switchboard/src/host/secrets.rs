//! Collects the values of a server's description that must not be shown.

pub use switchboard_core::mask::learn_server as known;

/// Adds the secrets in the URLs of a proxy.
#[cfg(feature = "http")]
pub(super) fn of_proxy(proxy: &crate::transport::Proxy, secrets: &mut crate::secret::Redactor) {
    if let crate::transport::Proxy::Of { https, http, .. } = proxy {
        for url in https.iter().chain(http) {
            if let Ok(url) = crate::secret::SafeUrl::parse(url.expose()) {
                secrets.add_url(&url);
            }
        }
    }
}
