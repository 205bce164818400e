//! Results that are odd but valid: clients get the same bytes through the gateway as without it.

use std::process::Command;

use serde_json::json;
use switchboard_testkit::shapes;
use switchboard_wire::Era;

use crate::front::{Front, Http, OWN};
use crate::wire::Wire;

/// The bundled server with all shapes, in one era alone.
fn server(era: Era) -> [&'static str; 3] {
    let era = match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    };
    ["--shapes", "--era", era]
}

/// Compares all results of two connections, and with what the server is to send.
fn compare(era: Era, mut direct: Wire, mut through: Wire) {
    let shapes = match era {
        Era::Legacy => shapes::legacy(),
        Era::Modern => shapes::modern(),
    };
    assert!(shapes.len() > 200);
    // As clients do. The gateway knows the tools of a new server from then on.
    through.ask("tools/list", json!({}));
    for (number, shape) in (1..).zip(shapes) {
        let number = json!({"number": number});
        let expected = direct.call("shape", &number);
        assert!(expected == *shape, "{number}: {shape:.200}");
        let got = through.call("shape", &number);
        assert!(got == expected, "{number}: {expected:.200}\n{got:.200}");
    }
}

fn over_stdio(era: Era) {
    let direct = Wire::stdio(Command::new(OWN).arg("test-server").args(server(era)), era);
    let front = Front::to_test_server(&server(era));
    let through = Wire::stdio(&mut front.command(&["--server", "demo"]), era);
    compare(era, direct, through);
}

fn over_http(era: Era) {
    let server = Http::test_server(&server(era));
    let front = Front::new(&json!({"demo": {"type": "http", "url": server.url}}));
    let gateway = front.http();
    let direct = Wire::http(&server.url, era);
    compare(era, direct, Wire::http(&gateway.server("demo"), era));
}

#[test]
fn legacy_results_over_stdio_arrive_byte_for_byte() {
    over_stdio(Era::Legacy);
}

#[test]
fn modern_results_over_stdio_arrive_byte_for_byte() {
    over_stdio(Era::Modern);
}

#[test]
fn legacy_results_over_http_arrive_byte_for_byte() {
    over_http(Era::Legacy);
}

#[test]
fn modern_results_over_http_arrive_byte_for_byte() {
    over_http(Era::Modern);
}
