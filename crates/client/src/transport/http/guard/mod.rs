//! The guard: rules for the addresses that a request may go to.
//!
//! A URL that the person wrote may lead to their own machine or network; a URL that a server named
//! may not, and neither may lead to a cloud's metadata service. The address that is really
//! connected to counts: names are checked each time they are resolved, and a name that was public
//! once cannot become private later.
//!
//! [`Class`] classifies an address, [`permit`] decides by class, [`permit_address`] adds the
//! addresses that the person allowed, [`Origin`] compares places, and `seen` remembers public
//! names.

mod address;
mod origin;
mod public_names;

use std::net::IpAddr;

use switchboard_core::spec::AddressRange;

#[cfg(feature = "auth")]
pub(crate) use super::dial::check_url_allowing;
pub use super::dial::{DialError, check_url};
pub use address::Class;
pub use origin::{Elsewhere, Origin};
pub(crate) use origin::{is_loopback_name, is_metadata_name, redirect, same_origin};
pub(crate) use public_names::PublicNames;

/// The party that named a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reach {
    /// The person, in their configuration or on the command line. Also a server, for URLs at its
    /// own origin.
    Person,
    /// A server.
    Server,
    /// A server that itself runs on this machine, which may name other places on it.
    LocalServer,
}

/// The reason that a request may not go somewhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Forbidden {
    /// The URL is not http or https.
    #[error("{scheme} is neither http nor https")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The URL names no host.
    #[error("the URL has no host")]
    NoHost,
    /// The URL has a user name or a password in it.
    #[error("a URL with a user name or a password in it is not used; send them in a header")]
    Userinfo,
    /// A server named a URL without TLS.
    #[error("a server named {host} without TLS")]
    Insecure {
        /// The host.
        host: String,
    },
    /// The name belongs to a cloud's metadata service.
    #[error("{host} is a metadata service of a cloud")]
    MetadataName {
        /// The name.
        host: String,
    },
    /// The address may not be connected to.
    #[error("{host} leads to {address}, {class}")]
    Address {
        /// The host, as the URL has it.
        host: String,
        /// The address.
        address: IpAddr,
        /// The class of the address.
        class: Class,
    },
    /// A name that was public resolves to an address that is not.
    #[error("{host} was a public name and now leads to {address}, {class}")]
    Flipped {
        /// The name.
        host: String,
        /// The address.
        address: IpAddr,
        /// The class of the address.
        class: Class,
    },
    /// A name of this machine resolves to another one.
    #[error("{host} leads to {address}, which is not this machine")]
    NotLocal {
        /// The name.
        host: String,
        /// The address.
        address: IpAddr,
    },
}

/// Returns true if addresses of this class may be connected to, for a URL that `reach` named.
pub fn permit(reach: Reach, class: Class) -> bool {
    match (reach, class) {
        (_, Class::Global) => true,
        (
            Reach::Person,
            Class::Metadata | Class::LinkLocal | Class::Unspecified | Class::Multicast,
        ) => false,
        (Reach::Person, _) | (Reach::LocalServer, Class::Loopback) => true,
        (Reach::Server | Reach::LocalServer, _) => false,
    }
}

/// Returns true if an address may be connected to, including those that the person allowed.
///
/// The person's ranges count for URLs that the person wrote, never for those that a server names.
/// Metadata services cannot be allowed: no MCP server is there.
pub fn permit_address(reach: Reach, address: IpAddr, allowed: &[AddressRange]) -> bool {
    let class = Class::of(address);
    let is_allowed = || allowed.iter().any(|range| range.contains(address));
    let may_be_allowed = reach == Reach::Person && class != Class::Metadata;
    permit(reach, class) || (may_be_allowed && is_allowed())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Class; 12] = [
        Class::Global,
        Class::Transition,
        Class::Documentation,
        Class::Benchmark,
        Class::Reserved,
        Class::Shared,
        Class::Private,
        Class::Loopback,
        Class::Multicast,
        Class::Unspecified,
        Class::LinkLocal,
        Class::Metadata,
    ];

    fn permitted(reach: Reach) -> Vec<Class> {
        let permitted = |class: &Class| permit(reach, *class);
        ALL.into_iter().filter(permitted).collect()
    }

    #[test]
    fn a_person_reaches_their_own_network_and_no_link() {
        let expected: Vec<Class> = ALL.into_iter().take(8).collect();
        assert_eq!(permitted(Reach::Person), expected);
    }

    #[test]
    fn a_server_names_public_places_and_a_local_one_this_machine_too() {
        assert_eq!(permitted(Reach::Server), [Class::Global]);
        assert_eq!(
            permitted(Reach::LocalServer),
            [Class::Global, Class::Loopback]
        );
    }

    #[test]
    fn what_a_person_allows_is_for_their_own_urls_and_never_a_metadata_service() {
        let allowed = ["169.254.0.0/16", "fe80::/10", "0.0.0.0"];
        let allowed = allowed.map(|range| range.parse().unwrap());
        let may = |reach, address: &str, allowed: &[AddressRange]| {
            permit_address(reach, address.parse().unwrap(), allowed)
        };
        for address in ["169.254.7.9", "fe80::1", "0.0.0.0", "::ffff:169.254.7.9"] {
            assert!(!may(Reach::Person, address, &[]), "{address}");
            assert!(may(Reach::Person, address, &allowed), "{address}");
            for reach in [Reach::Server, Reach::LocalServer] {
                assert!(!may(reach, address, &allowed), "{address}");
            }
        }
        for address in ["169.254.169.254", "169.254.170.2", "::ffff:169.254.169.254"] {
            assert!(!may(Reach::Person, address, &allowed), "{address}");
        }
        assert!(!may(Reach::Person, "224.0.0.1", &allowed));
        assert!(!may(
            Reach::Server,
            "10.0.0.1",
            &["10.0.0.0/8".parse().unwrap()]
        ));
    }

    #[test]
    fn a_refusal_says_what_was_found() {
        let error = Forbidden::Address {
            host: "example.com".to_owned(),
            address: [169, 254, 169, 254].into(),
            class: Class::Metadata,
        };
        assert_eq!(
            error.to_string(),
            "example.com leads to 169.254.169.254, a metadata service of a cloud"
        );
    }
}
