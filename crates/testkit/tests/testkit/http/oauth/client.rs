//! A tiny client of an issuer that follows no metadata: it knows where everything is.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use switchboard_testkit::http::{Http, Server};
use switchboard_testkit::issuer::{Issuer, IssuerOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::http::client::{BOTH, JSON, Modern};

pub(crate) const VERIFIER: &str = "a-verifier-that-is-long-enough-for-rfc-7636-and-more";
pub(crate) const STATE: &str = "a-state-that-cannot-be-guessed";
pub(crate) const REDIRECT: &str = "http://127.0.0.1:54321/callback";
pub(crate) const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
/// Longer than any answer takes that is on its way, shorter than one that drips.
const PATIENCE: Duration = Duration::from_millis(400);
/// More than any answer has that is not made to be huge.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// An answer as far as it came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The error, whichever way it came.
    pub(crate) fn error(&self) -> String {
        let error = &self.json()["error"];
        error.as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn text(&self, member: &str) -> String {
        let value = &self.json()[member];
        value.as_str().unwrap_or_default().to_owned()
    }

    /// A parameter of the redirect.
    pub(crate) fn param(&self, name: &str) -> Option<String> {
        let (_, query) = self.header("location")?.split_once('?')?;
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut found = pairs.filter(|(key, _)| *key == name);
        found.next().map(|(_, value)| decode(value))
    }
}

fn decode(text: &str) -> String {
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        decoded.push(u8::from_str_radix(&part[..2], 16).unwrap());
        decoded.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(decoded).unwrap()
}

pub(crate) fn encode(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

pub(crate) fn form(pairs: &[(&str, &str)]) -> String {
    let pairs = pairs
        .iter()
        .map(|(name, value)| format!("{name}={}", encode(value)));
    pairs.collect::<Vec<_>>().join("&")
}

pub(crate) fn hash(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

pub(crate) fn basic(id: &str, secret: &str) -> String {
    format!(
        "Basic {}",
        STANDARD.encode(format!("{}:{}", encode(id), encode(secret)))
    )
}

/// A server with an issuer, and a client of both.
pub(crate) struct Client {
    pub(crate) server: Server,
    pub(crate) issuer: Issuer,
}

impl Client {
    pub(crate) async fn start(options: IssuerOptions) -> Self {
        let issuer = Issuer::new(options).unwrap();
        let server = Http::default().oauth(issuer.clone()).serve().await.unwrap();
        Self { server, issuer }
    }

    /// Starts an issuer with these settings and faults.
    pub(crate) async fn with(settings: &[&str], faults: &[&str]) -> Self {
        let mut options = IssuerOptions::default();
        for setting in settings {
            options.set(setting).unwrap();
        }
        options.faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
        Self::start(options).await
    }

    pub(crate) fn resource(&self) -> String {
        self.server.url()
    }

    pub(crate) fn origin(&self) -> String {
        format!("http://{}", self.server.addr())
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Got {
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(body);
        let mut stream = TcpStream::connect(self.server.addr()).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        let reading = timeout(PATIENCE, stream.take(MOST_BYTES).read_to_end(&mut bytes)).await;
        let ending = match reading {
            Ok(Ok(_)) if bytes.len() as u64 == MOST_BYTES => "too much came",
            Ok(Ok(_)) => "",
            Ok(Err(_)) => "it broke off",
            Err(_) => "it took too long",
        };
        let text = String::from_utf8(bytes).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_default();
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers: Vec<_> = headers
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let is_chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
        let body = match ending {
            "" if is_chunked => unchunked(rest),
            "" => rest.to_owned(),
            ending => ending.to_owned(),
        };
        Got {
            status: status.map_or(0, |status| status.parse().unwrap()),
            headers,
            body,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Got {
        self.send("GET", path, &[], "").await
    }

    pub(crate) async fn register(&self, changes: &Value) -> Got {
        let mut body = json!({
            "client_name": "A test",
            "redirect_uris": ["http://127.0.0.1/callback"],
            "grant_types": ["authorization_code", "refresh_token", DEVICE],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        });
        for (name, value) in changes.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        self.send("POST", "/register", &[JSON], &body.to_string())
            .await
    }

    /// Registers a public client and returns its id.
    pub(crate) async fn public(&self) -> String {
        self.register(&json!({})).await.text("client_id")
    }

    pub(crate) async fn authorize(&self, client: &str, changes: &[(&str, &str)]) -> Got {
        let resource = self.resource();
        let challenge = hash(VERIFIER);
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", REDIRECT),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
            ("state", STATE),
            ("scope", "tools"),
            ("resource", resource.as_str()),
        ];
        change(&mut pairs, changes);
        self.get(&format!("/authorize?{}", form(&pairs))).await
    }

    pub(crate) async fn token(&self, headers: &[(&str, &str)], pairs: &[(&str, &str)]) -> Got {
        let headers = [&[FORM], headers].concat();
        self.send("POST", "/token", &headers, &form(pairs)).await
    }

    pub(crate) async fn exchange(&self, client: &str, code: &str, changes: &[(&str, &str)]) -> Got {
        let resource = self.resource();
        let mut pairs = vec![
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("code", code),
            ("code_verifier", VERIFIER),
            ("redirect_uri", REDIRECT),
            ("resource", resource.as_str()),
        ];
        change(&mut pairs, changes);
        self.token(&[], &pairs).await
    }

    pub(crate) async fn refresh(&self, client: &str, token: &str, changes: &[(&str, &str)]) -> Got {
        let resource = self.resource();
        let mut pairs = vec![
            ("grant_type", "refresh_token"),
            ("client_id", client),
            ("refresh_token", token),
            ("resource", resource.as_str()),
        ];
        change(&mut pairs, changes);
        self.token(&[], &pairs).await
    }

    /// Logs a public client in.
    pub(crate) async fn login(&self, client: &str, scope: &str) -> Got {
        let redirect = self.authorize(client, &[("scope", scope)]).await;
        let code = redirect.param("code").unwrap();
        self.exchange(client, &code, &[]).await
    }

    pub(crate) async fn form(&self, path: &str, pairs: &[(&str, &str)]) -> Got {
        self.send("POST", path, &[FORM], &form(pairs)).await
    }

    /// Calls a tool, with these headers beside the usual ones.
    pub(crate) async fn call(&self, tool: &str, headers: &[(&str, &str)]) -> Got {
        let arguments = match tool {
            "echo" => json!({"message": "hello"}),
            _ => json!({"a": 1, "b": 2}),
        };
        let call = Modern::call(tool, arguments);
        let mut all = vec![JSON, BOTH];
        let own = call.headers.iter();
        all.extend(own.map(|(name, value)| (name.as_str(), value.as_str())));
        all.extend(headers);
        self.send("POST", "/mcp", &all, &call.body.to_string())
            .await
    }

    pub(crate) async fn call_with(&self, token: &str) -> Got {
        let bearer = format!("Bearer {token}");
        self.call("echo", &[("authorization", &bearer)]).await
    }
}

fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&after[..size]);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    whole
}

/// Replaces parameters; one that becomes empty is left out.
fn change<'a>(pairs: &mut Vec<(&'a str, &'a str)>, changes: &[(&'a str, &'a str)]) {
    for (name, value) in changes {
        pairs.retain(|(pair, _)| pair != name);
        if !value.is_empty() {
            pairs.push((name, value));
        }
    }
}

/// A key that signs.
pub(crate) struct Key(EcdsaKeyPair);

impl Key {
    pub(crate) fn new() -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap())
    }

    pub(crate) fn public(&self) -> Value {
        let point = self.0.public_key().as_ref();
        let part = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({"kty": "EC", "crv": "P-256", "x": part(&point[1..33]), "y": part(&point[33..])})
    }

    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.unwrap()))
    }

    /// Makes a DPoP proof with these claims beside the usual ones.
    pub(crate) fn prove(&self, url: &str, more: &Value) -> String {
        let header = json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.public()});
        let id = hash(&format!("{more}{:?}", std::time::Instant::now()));
        let mut claims = json!({"htm": "POST", "htu": url, "iat": now(), "jti": id});
        for (name, value) in more.as_object().into_iter().flatten() {
            claims[name] = value.clone();
        }
        self.sign(&header, &claims)
    }
}

pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_secs()
}
