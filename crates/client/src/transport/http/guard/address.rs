//! Classification of IP addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The class of an IP address, the most harmless first.
///
/// An IPv6 address that embeds an IPv4 address has the class of the latter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Class {
    /// The public internet.
    Global,
    /// 6to4, Teredo and other rarely used bridges that lead to public addresses.
    Transition,
    /// Reserved for documentation.
    Documentation,
    /// Reserved for benchmarks.
    Benchmark,
    /// Reserved for other uses, or unassigned.
    Reserved,
    /// Between a provider and its customers (100.64/10).
    Shared,
    /// A private network.
    Private,
    /// This machine.
    Loopback,
    /// A multicast group.
    Multicast,
    /// The unspecified address, which most systems treat as this machine.
    Unspecified,
    /// Valid on this link only; clouds keep their metadata services there.
    LinkLocal,
    /// A metadata service, where a cloud gives a machine its credentials.
    Metadata,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "a public address",
            Self::Transition => "an address of an IPv6 bridge",
            Self::Documentation => "an address for documentation",
            Self::Benchmark => "an address for benchmarks",
            Self::Reserved => "a reserved address",
            Self::Shared => "a shared address of a provider",
            Self::Private => "a private address",
            Self::Loopback => "a loopback address",
            Self::Multicast => "a multicast address",
            Self::Unspecified => "the unspecified address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "a metadata service of a cloud",
        })
    }
}

impl Class {
    /// Classifies an address.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }
}

fn of_v4(address: Ipv4Addr) -> Class {
    match address.octets() {
        // AWS, Azure and most others; AWS for containers; Alibaba; Oracle; Azure's own server, which
        // has a public address.
        [169, 254, 169, 254]
        | [169, 254, 170, 2 | 23]
        | [100, 100, 100, 200]
        | [192, 0, 0, 192]
        | [168, 63, 129, 16] => Class::Metadata,
        [0, ..] => Class::Unspecified,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Class::Private,
        [100, 64..=127, ..] => Class::Shared,
        [127, ..] => Class::Loopback,
        [169, 254, ..] => Class::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Class::Documentation,
        [192, 0, 0, _] | [192, 88, 99, _] => Class::Reserved,
        [198, 18..=19, ..] => Class::Benchmark,
        [224..=239, ..] => Class::Multicast,
        [240..=255, ..] => Class::Reserved,
        _ => Class::Global,
    }
}

fn of_v6(address: Ipv6Addr) -> Class {
    let [a, b, c, d, e, f, g, h] = address.segments();
    match [a, b, c, d, e, f, g, h] {
        [0, 0, 0, 0, 0, 0, 0, 0] => Class::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Class::Loopback,
        // AWS and Google.
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254 | 0x23] | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254] => {
            Class::Metadata
        }
        // Mapped, and what a resolver makes of IPv4 in a network that has IPv6 alone: these are
        // used every day.
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => of_v4(embedded(g, h)),
        // Compatible, and translated.
        [0, 0, 0, 0, 0, 0, ..] | [0, 0, 0, 0, 0xffff, 0, ..] => bridge(&[embedded(g, h)]),
        // The private sibling of 64:ff9b::/96. Where the address is in it depends on the network:
        // RFC 6052 has four places, around bits that are zero. Zeros are what is not used.
        [0x64, 0xff9b, 1, ..] => {
            let inner = [
                embedded(d, shifted(e, f)),
                embedded((d << 8) | (e & 0xff), f),
                embedded(shifted(e, f), shifted(f, g)),
                embedded(g, h),
            ];
            let worst = inner.map(of_v4).into_iter();
            let worst = worst.filter(|class| *class != Class::Unspecified).max();
            worst.unwrap_or(Class::Private).max(Class::Private)
        }
        // 6to4.
        [0x2002, ..] => bridge(&[embedded(b, c)]),
        // Teredo: its server, and the client with its bits turned around.
        [0x2001, 0, ..] => bridge(&[embedded(c, d), embedded(!g, !h)]),
        [0x2001, 2, 0, ..] => Class::Benchmark,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Class::Documentation,
        // The rest of 2001::/23, for protocols.
        [0x2001, 0..=0x1ff, ..] => Class::Reserved,
        [0x2000..=0x3fff, ..] => Class::Global,
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Class::Private,
        [0xfe80..=0xfebf, ..] => Class::LinkLocal,
        [0xff00..=0xffff, ..] => Class::Multicast,
        // Unassigned.
        _ => Class::Reserved,
    }
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}

/// The 16 bits that begin in the middle of `left`.
fn shifted(left: u16, right: u16) -> u16 {
    (left << 8) | (right >> 8)
}

/// The class of a bridge, by the addresses that it may lead to.
fn bridge(inner: &[Ipv4Addr]) -> Class {
    let worst = inner.iter().map(|address| of_v4(*address)).max();
    worst.unwrap_or(Class::Reserved).max(Class::Transition)
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
