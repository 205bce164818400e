//! `switchboard serve` between clients and servers that others wrote, over stdio and HTTP, in both eras.

mod python;
mod rmcp;
mod servers;

use serde_json::json;
use switchboard_tests::partners::Launch;

use crate::front::{Front, Http, OWN};

/// The eras of a client, with the version of each.
const LEGACY: (&str, &str) = ("legacy", "2025-11-25");
const MODERN: (&str, &str) = ("modern", "2026-07-28");

/// A gateway to the bundled server over HTTP in one era, which is called `demo`.
fn front_of(era: &str) -> (Http, Front) {
    let server = Http::test_server(&["--talking", "--era", era]);
    let front = Front::new(&json!({"demo": {"type": "http", "url": server.url}}));
    (server, front)
}

/// The gateway as the config of a client starts it.
fn launch(front: &Front, args: &[&str]) -> Launch {
    let launch = Launch::program(OWN).arg("serve");
    let launch = args.iter().fold(launch, |launch, arg| launch.arg(*arg));
    let variables = front.env().into_iter();
    variables.fold(launch, |launch, (name, value)| launch.env(name, value))
}
