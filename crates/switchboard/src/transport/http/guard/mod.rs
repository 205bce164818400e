//! Where a request may go.
//!
//! A URL that a person wrote may lead to their own machine or network; a URL that a server named
//! may not, and neither may lead to the places where clouds keep credentials. What counts is the
//! address that is really connected to: names are judged again each time they are looked up, and a
//! name that was public once does not become private later.
//!
//! [`Class`] says what an address is, [`permit`] whether it may be connected to, [`Origin`] what is
//! the same place, and `seen` remembers which names were public.

mod address;
mod origin;
mod seen;

use std::net::IpAddr;

pub use super::dial::{DialError, check_url};
pub use address::Class;
pub use origin::{Elsewhere, Origin};
pub(crate) use origin::{is_loopback_name, is_metadata_name, redirect, same_origin};
pub(crate) use seen::Seen;

/// Who named a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reach {
    /// A person, in their configuration or on their command line. What a server names at the very
    /// same origin counts as this too.
    Person,
    /// A server.
    Server,
    /// A server that is itself on this machine, where it may name others.
    LocalServer,
}

/// Why a request may not go somewhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Forbidden {
    /// The URL is not http or https.
    #[error("{scheme} is neither http nor https")]
    Scheme {
        /// What it is.
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
    /// The name stands for a place where a cloud keeps credentials.
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
        /// What it is.
        class: Class,
    },
    /// A name that was public leads to somewhere that is not.
    #[error("{host} was a public name and now leads to {address}, {class}")]
    Flipped {
        /// The name.
        host: String,
        /// The address.
        address: IpAddr,
        /// What it is.
        class: Class,
    },
    /// The name of this machine leads to another one.
    #[error("{host} leads to {address}, which is not this machine")]
    NotLocal {
        /// The name.
        host: String,
        /// The address.
        address: IpAddr,
    },
}

/// Tells whether an address of this kind may be connected to, for a URL that `reach` named.
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
