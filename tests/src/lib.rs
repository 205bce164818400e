//! What the integration tests in `tests/` share: where partners are and what they offer, the
//! client that the conformance suite starts, what hosts that are flooded do, and the rules of the
//! architecture.
//!
//! A partner is somebody else's implementation of the protocol. Those from npm and PyPI are
//! installed by `cargo xtask partners`; those made of `rmcp` are binaries of this package, built
//! with its feature `partners`.

pub mod architecture;
pub mod browser;
pub mod conformance;
pub mod flood;
pub mod handlers;
pub mod in_process;
pub mod issuers;
pub mod offer;
pub mod partners;
#[cfg(feature = "partners")]
pub mod rmcp_client;
#[cfg(feature = "partners")]
pub mod rmcp_server;
#[cfg(feature = "partners")]
pub mod rmcp_talker;
pub mod running;
pub mod talk;

/// Set by `cargo xtask check --full`: floods, soaks and matrices have their large sizes.
const SOAK: &str = "SWITCHBOARD_SOAK";

/// Returns the size of a test: the usual one, or that of a soak. A variable tells and not a feature, so that
/// nothing is compiled again for a soak.
pub fn soak_size<T>(usual: T, soak: T) -> T {
    if std::env::var_os(SOAK).is_some() {
        soak
    } else {
        usual
    }
}
