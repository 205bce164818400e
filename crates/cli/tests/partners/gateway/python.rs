//! The clients of the Python SDKs, and fastmcp's.

use switchboard_tests::partners;

use super::{LEGACY, MODERN, everywhere};

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
