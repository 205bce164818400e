//! Who a client over HTTP is.

use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use ring::rand::{SecureRandom as _, SystemRandom};

use super::options::HttpAuth;
use crate::caller::ClientIdentity;
use crate::error::GatewayError;

/// Bytes of a token that we make.
const TOKEN_BYTES: usize = 32;
/// The challenge for a request without a token.
const CHALLENGE: &str = "Bearer realm=\"switchboard\"";
/// The challenge for a request with a wrong one.
const INVALID: &str = "Bearer realm=\"switchboard\", error=\"invalid_token\"";

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Peer {
    /// A TCP connection.
    Tcp {
        /// The client's address.
        remote: SocketAddr,
        /// The address that it connected to.
        local: SocketAddr,
    },
    /// A Unix socket of the same user: the kernel has said so.
    SameUser,
}

/// The parts of a request that say who sent it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Credentials<'a> {
    /// All headers.
    pub headers: &'a HeaderMap,
    /// The path of the URL, which may name a profile or a server.
    pub path: &'a str,
    /// The other end of the connection, if the program told it.
    pub peer: Option<Peer>,
}

/// A refusal to serve a client.
#[derive(Debug, Clone)]
pub struct AuthRefusal {
    /// 401 for a missing or wrong credential, 403 for one that is not enough.
    pub status: StatusCode,
    /// The value of `WWW-Authenticate`.
    pub challenge: Option<HeaderValue>,
    /// The reason, for the client.
    pub why: String,
}

/// The future of an [`Authenticate`].
pub type AuthFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ClientIdentity, AuthRefusal>> + Send + 'a>>;

/// Decides who a client is. It is asked once for each request, before the body is read.
pub trait Authenticate: Send + Sync + 'static {
    /// Names the client, or refuses it.
    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> AuthFuture<'a>;
}

/// A bearer token.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl Token {
    /// Takes a token's text.
    ///
    /// # Errors
    /// Fails for a token of fewer than 16 characters, or with characters that no header can carry.
    pub fn new(text: &str) -> Result<Self, GatewayError> {
        let is_usable = text.len() >= 16 && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_usable {
            return Err(GatewayError::Option {
                option: "token",
                why: "a token has at least 16 letters, digits and signs, and no spaces".to_owned(),
            });
        }
        Ok(Self(text.into()))
    }

    /// Makes the text of a new token: 256 random bits in URL-safe base64.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub fn generate() -> Result<String, GatewayError> {
        let mut bytes = [0; TOKEN_BYTES];
        let random = SystemRandom::new().fill(&mut bytes);
        random.map_err(|_| std::io::Error::other("the system gave no random numbers"))?;
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Compares all bytes, whatever differs: the time says nothing about the token but its length, which
    /// is the same for all that we make.
    fn matches(&self, text: &[u8]) -> bool {
        let pairs = self.0.bytes().zip(text);
        let difference = pairs.fold(0, |all, (ours, theirs)| all | (ours ^ theirs));
        text.len() == self.0.len() && difference == 0
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        self.matches(other.0.as_bytes())
    }
}

impl Eq for Token {}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Names the client of a request, or refuses it.
pub(super) async fn identify(
    auth: &HttpAuth,
    usual: &ClientIdentity,
    credentials: Credentials<'_>,
) -> Result<ClientIdentity, AuthRefusal> {
    // The kernel has checked the user already: a token would prove nothing more.
    if credentials.peer == Some(Peer::SameUser) {
        return Ok(usual.clone());
    }
    let all = match auth {
        HttpAuth::Any(all) => all.as_slice(),
        one => std::slice::from_ref(one),
    };
    // The last refusal counts.
    let mut refusal = unauthorized(CHALLENGE, "no credential is accepted here");
    for auth in all {
        // Tokens are checked here, without a future of their own: they are the usual case.
        let checked = match auth {
            HttpAuth::None => Ok(usual.clone()),
            HttpAuth::Token(token) => by_token(credentials, |text| {
                token.matches(text).then(|| usual.clone())
            }),
            HttpAuth::Named(tokens) => {
                by_token(credentials, |text| tokens.find(text, usual.caller().id()))
            }
            HttpAuth::OAuth(oauth) => {
                let text = bearer(credentials.headers);
                oauth.identify(text, usual.caller().id()).await
            }
            HttpAuth::Custom(rule) => rule.authenticate(credentials).await,
            HttpAuth::Any(_) => Box::pin(identify(auth, usual, credentials)).await,
        };
        match checked {
            Ok(identity) => return Ok(identity),
            Err(refused) => refusal = refused,
        }
    }
    Err(refusal)
}

fn by_token(
    credentials: Credentials<'_>,
    find: impl FnOnce(&[u8]) -> Option<ClientIdentity>,
) -> Result<ClientIdentity, AuthRefusal> {
    let Some(text) = bearer(credentials.headers) else {
        let why = "a token is needed: Authorization: Bearer TOKEN";
        return Err(unauthorized(CHALLENGE, why));
    };
    find(text).ok_or_else(|| unauthorized(INVALID, "the token is wrong"))
}

/// The refusal of a request whose credential does not count any more.
pub(super) fn no_longer_valid(auth: &HttpAuth) -> AuthRefusal {
    if let Some(oauth) = auth.oauth() {
        return oauth.no_longer_valid();
    }
    unauthorized(INVALID, "the credential does not count any more")
}

fn unauthorized(challenge: &'static str, why: &str) -> AuthRefusal {
    AuthRefusal {
        status: StatusCode::UNAUTHORIZED,
        challenge: Some(HeaderValue::from_static(challenge)),
        why: why.to_owned(),
    }
}

/// The token of a request; `None` without exactly one `Authorization: Bearer`.
pub fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    // With two values a proxy may have checked the other one, so neither counts.
    let (Some(value), None) = (values.next(), values.next()) else {
        return None;
    };
    let (scheme, token) = value.as_bytes().split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_matches_itself_alone() {
        let text = Token::generate().unwrap();
        assert_eq!(text.len(), 43);
        let token = Token::new(&text).unwrap();
        assert!(token.matches(text.as_bytes()));
        for wrong in ["", &text[1..], &format!("{text}x"), &text.to_lowercase()] {
            assert!(!token.matches(wrong.as_bytes()), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token(..)");
    }

    #[test]
    fn short_tokens_and_tokens_with_spaces_are_refused() {
        assert!(Token::new("0123456789abcde").is_err());
        assert!(Token::new("0123456789abcdef").is_ok());
        assert!(Token::new("0123456789 abcdef").is_err());
    }

    #[test]
    fn two_authorization_headers_are_no_token() {
        let mut headers = HeaderMap::new();
        headers.append(AUTHORIZATION, HeaderValue::from_static("bEARER abc"));
        assert_eq!(bearer(&headers), Some(&b"abc"[..]));
        headers.append(AUTHORIZATION, HeaderValue::from_static("Bearer abd"));
        assert_eq!(bearer(&headers), None);
    }
}
