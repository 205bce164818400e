//! Which values of a server's description must not be shown.

use crate::secret::Redactor;
use crate::spec::{Endpoint, ServerSpec};
use crate::transport::Environment;

/// Learns the secrets that a server is given, as [`is_secret`](crate::secret::is_secret) defines them:
/// in its variables, headers and arguments, and in its URL.
pub fn known(spec: &ServerSpec, host: &Environment, secrets: &mut Redactor) {
    match &spec.endpoint {
        Endpoint::Process(process) => {
            let given = process.env.iter();
            let given = given.map(|(name, value)| (name.as_str(), value.expose().as_str()));
            let passed = process.env_passthrough.iter().filter_map(|name| {
                let value = host.get(name)?.expose();
                Some((name.as_str(), value.as_str()))
            });
            for (name, value) in given.chain(passed) {
                secrets.add_named(name, value);
            }
            secrets.add_args(&process.args);
            for secret in &process.secrets {
                secrets.add(secret.expose());
            }
        }
        Endpoint::Remote(remote) => {
            for (_, value) in &remote.headers {
                secrets.add_header(value.expose());
            }
            secrets.add_url(&remote.url);
            for secret in &remote.secrets {
                secrets.add(secret.expose());
            }
        }
    }
}

/// Learns what is secret in the URLs of a proxy.
#[cfg(feature = "http")]
pub(super) fn of_proxy(proxy: &crate::transport::Proxy, secrets: &mut Redactor) {
    if let crate::transport::Proxy::Of { https, http, .. } = proxy {
        for url in https.iter().chain(http) {
            if let Ok(url) = crate::secret::SafeUrl::parse(url.expose()) {
                secrets.add_url(&url);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_teaches_its_secrets_and_not_its_settings() {
        let spec = ServerSpec::stdio("a", "x").unwrap();
        let spec = spec
            .args(["--region", "us-east-1", "--token", "H1dden"])
            .env("FASTMCP_LOG_LEVEL", "WARNING")
            .env("API_KEY", "H2dden")
            .env_passthrough(["HOME", "GITHUB_TOKEN"]);
        let host = [("HOME", "/home/me"), ("GITHUB_TOKEN", "H3dden")];
        let host = host.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut known_here = Redactor::new();
        known(&spec, &host.into_iter().collect(), &mut known_here);
        assert_eq!(known_here.redact("H1dden H2dden H3dden"), "*** *** ***");
        let said = "WARNING: us-east-1 has no /home/me";
        assert_eq!(known_here.redact(said), said);
    }
}
