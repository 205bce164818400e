//! Reports of logins and renewals, for a program that shows or records them.

use crate::auth_error::{AuthError, NeedsLogin};

/// Hears of the logins and renewals of one server.
///
/// It must not wait: a request does. Nothing that it is given has a secret in it.
#[doc(hidden)]
pub trait ObserveLogins: Send + Sync {
    /// A request failed because a person has to log in. The same need is reported once.
    fn login_needed(&self, needed: &NeedsLogin);

    /// There is a new token, without a person.
    fn token_renewed(&self, issuer: &str);

    /// A login was begun and did not succeed.
    fn login_failed(&self, error: &AuthError);
}
