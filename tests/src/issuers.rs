//! Test servers behind a strict issuer of the testkit.

use switchboard_testkit::http::{Http, Server};
use switchboard_testkit::issuer::{Issuer, IssuerOptions};

/// Starts a server behind an issuer with these settings: `NAME=VALUE`, or `fault NAME`.
///
/// # Panics
/// If a setting or fault is unknown, or no port can be listened on.
pub async fn start(settings: &[&str]) -> (Issuer, Server) {
    start_with(IssuerOptions::default(), settings).await
}

/// Starts the same with options that are not settings.
///
/// # Panics
/// As [`start`] does.
#[allow(clippy::unwrap_used, reason = "for tests, which end with the panic")]
pub async fn start_with(mut options: IssuerOptions, settings: &[&str]) -> (Issuer, Server) {
    for setting in settings {
        match setting.strip_prefix("fault ") {
            Some(fault) => options.faults.push(fault.parse().unwrap()),
            None => options.set(setting).unwrap(),
        }
    }
    let issuer = Issuer::new(options).unwrap();
    let running = Http::default().oauth(issuer.clone()).serve().await;
    (issuer, running.unwrap())
}
