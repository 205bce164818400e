//! Teaches a redactor the secrets in a server's description.

use crate::environment::Environment;
use crate::secret::Redactor;
use crate::spec::{Endpoint, ServerSpec};

/// Adds the secrets that a server receives, as [`is_secret`](crate::secret::is_secret) defines them:
/// in its variables, headers and arguments, and in its URL.
pub fn learn_server(spec: &ServerSpec, host: &Environment, secrets: &mut Redactor) {
    let known = match &spec.endpoint {
        Endpoint::Process(process) => {
            let given = process.env.iter();
            let given = given.map(|(name, value)| (name.as_str(), value.expose().as_str()));
            learn_variables(given, &process.env_passthrough, host, secrets);
            secrets.add_args(&process.args);
            &process.secrets
        }
        Endpoint::Remote(remote) => {
            for (_, value) in &remote.headers {
                secrets.add_header(value.expose());
            }
            secrets.add_url(&remote.url);
            let oauth = remote.oauth.iter();
            let oauth = oauth.flat_map(|oauth| oauth.client_secret.iter().chain(&oauth.client_key));
            for secret in oauth {
                secrets.add(secret.expose());
            }
            &remote.secrets
        }
    };
    for secret in known {
        secrets.add(secret.expose());
    }
}

/// Adds the secrets among a server's own variables, and among the host's variables passed through to it.
pub fn learn_variables<'v>(
    given: impl IntoIterator<Item = (&'v str, &'v str)>,
    passed: &'v [String],
    host: &'v Environment,
    secrets: &mut Redactor,
) {
    let passed = passed.iter().filter_map(|name| {
        let value = host.get(name)?.expose();
        Some((name.as_str(), value.as_str()))
    });
    for (name, value) in given.into_iter().chain(passed) {
        secrets.add_named(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secrets_of_a_login_are_learnt() {
        let mut spec = ServerSpec::http("a", "https://example.com/mcp").unwrap();
        let Endpoint::Remote(remote) = &mut spec.endpoint else {
            panic!("a command");
        };
        let mut oauth = crate::spec::OAuth::default();
        oauth.client_id = Some("the-client".to_owned());
        oauth.client_secret = Some("H1dden".into());
        oauth.client_key = Some("H2dden".into());
        remote.oauth = Some(Box::new(oauth));
        let mut known = Redactor::new();
        learn_server(&spec, &Environment::default(), &mut known);
        assert_eq!(
            known.redact("the-client H1dden H2dden"),
            "the-client *** ***"
        );
    }

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
        let mut known = Redactor::new();
        learn_server(&spec, &host.into_iter().collect(), &mut known);
        assert_eq!(known.redact("H1dden H2dden H3dden"), "*** *** ***");
        let said = "WARNING: us-east-1 has no /home/me";
        assert_eq!(known.redact(said), said);
    }
}
