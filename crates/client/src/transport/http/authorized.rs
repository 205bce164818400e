//! Requests with the headers of an [`Authorize`] hook, repeated as it decides.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderName};

use super::body;
use super::fetch::{Failed, Request, Response};
use super::inner::Inner;
use crate::auth::{AuthError, Authorize, Authorizing, Challenge, Decision};
use crate::auth::{RequestAuthorization, RequestRefusal, RequestTarget};
use crate::transport::{Fault, FaultKind, Sent};

/// Maximum length read of a refusal, so that its connection can be reused.
const REST_BYTES: usize = 64 * 1024;
/// Maximum time for that.
const REST: Duration = Duration::from_secs(2);
/// Maximum number of repetitions of one request, whatever the hook decides.
const REPEATS: u32 = 4;

/// The authorization state of one request.
#[derive(Default)]
pub(super) struct Authorized {
    used: RequestAuthorization,
    /// The number of repetitions after a 401, and after a 403.
    repeated: [u32; 2],
}

impl Authorized {
    /// Adds the authorization headers to a request.
    ///
    /// # Errors
    /// Fails when there is no token and the hook knows that the server demands one.
    pub(super) async fn prepare(
        &mut self,
        inner: &Inner,
        hook: &dyn Authorize,
        mut request: Request,
    ) -> Result<Request, Fault> {
        let target = RequestTarget::new(request.method.as_str(), &request.url);
        let authorization = match hook.authorize(&target) {
            Authorizing::Ready(ready) => ready,
            Authorizing::Later(later) => later.await,
        };
        self.used = authorization.map_err(|error| fault(inner, error, Sent::Never, None))?;
        if let Some(value) = &self.used.authorization {
            request.headers.insert(AUTHORIZATION, value.clone());
        }
        if let Some(value) = &self.used.proof {
            let name = HeaderName::from_static("dpop");
            request.headers.insert(name, value.clone());
        }
        Ok(request)
    }

    /// Passes an answer to the hook; returns `None` if the request is to be repeated.
    ///
    /// # Errors
    /// Fails when the hook gives up.
    pub(super) async fn review(
        &mut self,
        inner: &Inner,
        hook: &dyn Authorize,
        mut response: Response,
    ) -> Result<Option<Response>, Fault> {
        let nonce = response.header("dpop-nonce").map(str::to_owned);
        let at = match response.status {
            401 => 0,
            403 => 1,
            _ => {
                if let Some(nonce) = &nonce {
                    hook.note_nonce(nonce);
                }
                return Ok(Some(response));
            }
        };
        let lines = response.headers.get_all("www-authenticate").iter();
        let lines: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
        let repeated = self.repeated.get(at).copied().unwrap_or(REPEATS);
        let mut refusal = RequestRefusal::new(
            response.status,
            Challenge::parse_all(lines.iter().copied()),
            &self.used,
        );
        refusal.nonce = nonce;
        refusal.repeated = repeated;
        // The hook may renew a token here; the next `prepare` uses it.
        let decision = hook.on_refusal(refusal).await;
        match decision {
            Decision::Retry if self.repeated.iter().sum::<u32>() < REPEATS => {
                if let Some(count) = self.repeated.get_mut(at) {
                    *count += 1;
                }
                // Read the rest before repeating: an unread body would close the connection.
                let rest = body::beginning(&mut *response.body, REST_BYTES);
                tokio::time::timeout(REST, rest).await.ok();
                Ok(None)
            }
            Decision::GiveUp(error) => {
                let challenge = (!lines.is_empty()).then(|| lines.join(", "));
                Err(fault(inner, error, Sent::Answered, challenge))
            }
            Decision::Retry | Decision::Pass => Ok(Some(response)),
        }
    }
}

fn fault(inner: &Inner, error: AuthError, sent: Sent, challenge: Option<String>) -> Fault {
    let error = Box::new(error);
    inner.fault(Failed {
        kind: FaultKind::Authorization { error, challenge },
        sent,
    })
}
