//! Ranges of IP addresses.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// A range of IP addresses, written `192.168.7.0/24`, `fe80::/10`, or as one address.
///
/// ```
/// use switchboard_core::spec::AddressRange;
///
/// let range: AddressRange = "169.254.7.0/24".parse()?;
/// assert!(range.contains([169, 254, 7, 9].into()));
/// assert!(!range.contains([169, 254, 8, 9].into()));
/// # Ok::<_, switchboard_core::spec::ParseAddressRangeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AddressRange {
    first: IpAddr,
    bits: u32,
}

/// A text that is not a range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseAddressRangeError {
    /// The part before the slash is not an address.
    #[error("it does not begin with an address")]
    Address,
    /// The part after the slash is not a valid number of bits for such an address.
    #[error("what is behind the slash is no number of bits from 0 to {most}")]
    Bits {
        /// The highest number of bits.
        most: u32,
    },
    /// The address is not the first of the range, so the intention is unclear.
    #[error("the range begins at another address: {first}")]
    Inside {
        /// The first address of the range.
        first: IpAddr,
    },
}

impl AddressRange {
    /// Returns true if the range contains an address. An IPv4-mapped IPv6 address counts as its IPv4 address.
    pub fn contains(self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.first.is_ipv4() && start(address, self.bits) == self.first
    }
}

/// The first address of the range with this prefix length that contains an address.
fn start(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - bits.min(32)).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - bits.min(128)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

impl FromStr for AddressRange {
    type Err = ParseAddressRangeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let written: IpAddr = address
            .parse()
            .map_err(|_| ParseAddressRangeError::Address)?;
        let most = if written.is_ipv4() { 32 } else { 128 };
        // Digits only: `parse` would also accept a sign.
        let is_number = |bits: &&str| bits.len() <= 3 && bits.bytes().all(|b| b.is_ascii_digit());
        let bits = match bits {
            None => most,
            Some(bits) => Some(bits)
                .filter(is_number)
                .and_then(|bits| bits.parse().ok())
                .filter(|bits| *bits <= most)
                .ok_or(ParseAddressRangeError::Bits { most })?,
        };
        // A range of IPv4-mapped addresses becomes the range of IPv4 addresses.
        let (first, bits) = match (written.to_canonical(), bits) {
            (IpAddr::V4(inner), 96..) if written.is_ipv6() => (IpAddr::V4(inner), bits - 96),
            _ => (written, bits),
        };
        match start(first, bits) {
            begin if begin == first => Ok(Self { first, bits }),
            first => Err(ParseAddressRangeError::Inside { first }),
        }
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> AddressRange {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_range_holds_its_two_ends_and_nothing_beside_them() {
        for (text, inside, outside) in [
            (
                "10.1.2.0/24",
                ["10.1.2.0", "10.1.2.255"],
                ["10.1.1.255", "10.1.3.0"],
            ),
            (
                "10.1.2.3",
                ["10.1.2.3", "::ffff:10.1.2.3"],
                ["10.1.2.2", "10.1.2.4"],
            ),
            (
                "fe80::/10",
                ["fe80::", "febf:ffff::1"],
                ["fe7f::", "fec0::"],
            ),
            ("::1", ["::1", "::1"], ["::2", "127.0.0.1"]),
            (
                "::ffff:10.0.0.0/104",
                ["10.0.0.0", "10.255.255.255"],
                ["11.0.0.0", "9.0.0.0"],
            ),
            (
                "0.0.0.0/0",
                ["0.0.0.0", "255.255.255.255"],
                ["::1", "fe80::1"],
            ),
        ] {
            let range = range(text);
            for address in inside {
                assert!(range.contains(address.parse().unwrap()), "{text} {address}");
            }
            for address in outside {
                assert!(
                    !range.contains(address.parse().unwrap()),
                    "{text} {address}"
                );
            }
        }
        assert_eq!(range("::/0").to_string(), "::/0");
        assert_eq!(range("10.0.0.1").to_string(), "10.0.0.1/32");
    }

    #[test]
    fn what_is_no_range_says_why() {
        for (text, why) in [
            ("", ParseAddressRangeError::Address),
            ("example.com", ParseAddressRangeError::Address),
            ("10.0.0.0/", ParseAddressRangeError::Bits { most: 32 }),
            ("10.0.0.0/33", ParseAddressRangeError::Bits { most: 32 }),
            ("10.0.0.0/+8", ParseAddressRangeError::Bits { most: 32 }),
            ("fe80::/129", ParseAddressRangeError::Bits { most: 128 }),
        ] {
            assert_eq!(text.parse::<AddressRange>(), Err(why), "{text}");
        }
        let inside = "169.254.7.9/24".parse::<AddressRange>().unwrap_err();
        assert_eq!(
            inside.to_string(),
            "the range begins at another address: 169.254.7.0"
        );
    }
}
