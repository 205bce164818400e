//! The clients of the Python SDKs, and fastmcp's.

use switchboard_tests::partners;

use super::{LEGACY, MODERN, everywhere, front_of, uses};

#[test]
fn python_mcp_2_3_uses_a_server_in_the_legacy_era() {
    everywhere(LEGACY, |target, prefix| {
        partners::python_v2_gateway_client("legacy", target).arg(prefix)
    });
}

#[test]
fn python_mcp_2_3_uses_a_server_in_the_modern_era() {
    everywhere(MODERN, |target, prefix| {
        partners::python_v2_gateway_client("auto", target).arg(prefix)
    });
}

#[test]
fn python_mcp_1_30_uses_a_server_in_the_legacy_era() {
    everywhere(LEGACY, |target, prefix| {
        partners::python_v1_gateway_client(target).arg(prefix)
    });
}

#[test]
fn fastmcp_uses_a_server_in_the_legacy_era() {
    everywhere(LEGACY, |target, prefix| {
        partners::fastmcp_gateway_client("legacy", target).arg(prefix)
    });
}

#[test]
fn fastmcp_uses_a_server_in_the_modern_era() {
    everywhere(MODERN, |target, prefix| {
        partners::fastmcp_gateway_client("auto", target).arg(prefix)
    });
}

#[test]
fn python_mcp_1_30_uses_the_transport_of_2024_11_05() {
    let (era, version) = LEGACY;
    let (_server, front) = front_of(era);
    let gateway = front.http_with(&["--http", "127.0.0.1:0", "--no-auth", "--legacy-sse"]);
    let url = gateway.url.replace("/mcp", "/sse");
    let client = partners::python_v1_gateway_client(&url).arg("demo__");
    uses(&front, &client, version, "demo__");
}
