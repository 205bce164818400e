//! Addresses at both ends of every range, and one beyond.

use super::*;

fn class(address: &str) -> Class {
    Class::of(address.parse().unwrap())
}

/// Ranges with their first and last address; what is beside them is checked by the next table.
const RANGES: &[(&str, &str, Class)] = &[
    ("0.0.0.0", "0.255.255.255", Class::Unspecified),
    ("1.0.0.0", "9.255.255.255", Class::Global),
    ("10.0.0.0", "10.255.255.255", Class::Private),
    ("11.0.0.0", "100.63.255.255", Class::Global),
    ("100.64.0.0", "100.127.255.255", Class::Shared),
    ("100.128.0.0", "126.255.255.255", Class::Global),
    ("127.0.0.0", "127.255.255.255", Class::Loopback),
    ("128.0.0.0", "169.253.255.255", Class::Global),
    ("169.254.0.0", "169.254.255.255", Class::LinkLocal),
    ("169.255.0.0", "172.15.255.255", Class::Global),
    ("172.16.0.0", "172.31.255.255", Class::Private),
    ("172.32.0.0", "191.255.255.255", Class::Global),
    ("192.0.0.0", "192.0.0.255", Class::Reserved),
    ("192.0.1.0", "192.0.1.255", Class::Global),
    ("192.0.2.0", "192.0.2.255", Class::Documentation),
    ("192.0.3.0", "192.88.98.255", Class::Global),
    ("192.88.99.0", "192.88.99.255", Class::Reserved),
    ("192.88.100.0", "192.167.255.255", Class::Global),
    ("192.168.0.0", "192.168.255.255", Class::Private),
    ("192.169.0.0", "198.17.255.255", Class::Global),
    ("198.18.0.0", "198.19.255.255", Class::Benchmark),
    ("198.20.0.0", "198.51.99.255", Class::Global),
    ("198.51.100.0", "198.51.100.255", Class::Documentation),
    ("198.51.101.0", "203.0.112.255", Class::Global),
    ("203.0.113.0", "203.0.113.255", Class::Documentation),
    ("203.0.114.0", "223.255.255.255", Class::Global),
    ("224.0.0.0", "239.255.255.255", Class::Multicast),
    ("240.0.0.0", "255.255.255.255", Class::Reserved),
];

#[test]
fn every_range_has_its_class_at_both_ends_and_no_gap_follows() {
    let mut next = Some(Ipv4Addr::UNSPECIFIED);
    for (first, last, expected) in RANGES {
        assert_eq!(Some(first.parse().unwrap()), next, "a gap before {first}");
        assert_eq!(class(first), *expected, "{first}");
        assert_eq!(class(last), *expected, "{last}");
        let last: Ipv4Addr = last.parse().unwrap();
        next = u32::from(last).checked_add(1).map(Ipv4Addr::from);
    }
    assert_eq!(next, None);
}

#[test]
fn metadata_services_are_known_by_address() {
    for address in [
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    ] {
        assert_eq!(class(address), Class::Metadata, "{address}");
    }
}

#[test]
fn addresses_of_ipv6_have_their_class() {
    for (address, expected) in [
        ("::", Class::Unspecified),
        ("::1", Class::Loopback),
        ("100::1", Class::Reserved),
        ("1fff:ffff::1", Class::Reserved),
        ("2000::", Class::Global),
        ("2001:2::1", Class::Benchmark),
        ("2001:2:1::1", Class::Reserved),
        ("2001:20::1", Class::Reserved),
        ("2001:1ff::1", Class::Reserved),
        ("2001:200::1", Class::Global),
        ("2001:db7:ffff::1", Class::Global),
        ("2001:db8::1", Class::Documentation),
        ("2001:db8:ffff::1", Class::Documentation),
        ("2001:db9::1", Class::Global),
        ("2606:4700::1111", Class::Global),
        ("3ffe::1", Class::Global),
        ("3fff::1", Class::Documentation),
        ("3fff:fff:ffff::1", Class::Documentation),
        ("3fff:1000::1", Class::Global),
        ("4000::", Class::Reserved),
        ("5f00::1", Class::Reserved),
        ("fbff::1", Class::Reserved),
        ("fc00::", Class::Private),
        ("fd00:ec2::253", Class::Private),
        ("fdff:ffff::1", Class::Private),
        ("fe00::1", Class::Reserved),
        ("fe80::1", Class::LinkLocal),
        ("febf:ffff::1", Class::LinkLocal),
        ("fec0::1", Class::Private),
        ("feff::1", Class::Private),
        ("ff00::", Class::Multicast),
        ("ff02::1", Class::Multicast),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Class::Multicast),
    ] {
        assert_eq!(class(address), expected, "{address}");
    }
}

/// Everything that an IPv4 address can be dressed up as, and whether it is used every day.
fn dressed(inner: Ipv4Addr) -> Vec<(Ipv6Addr, bool)> {
    let [a, b, c, d] = inner.octets();
    let bits = u32::from(inner);
    let at = |high: u128, shift: u32| Ipv6Addr::from(high | (u128::from(bits) << shift));
    let six_to_four = at(0x2002 << 112, 80);
    let teredo_server = at((0x2001 << 112) | 0xf7f7_f7f7, 64);
    let teredo_client = (0x2001_u128 << 112) | (0x0808_0808 << 64) | u128::from(!bits);
    let local = |tail: [u8; 10]| {
        let mut octets = [0; 16];
        octets[..6].copy_from_slice(&[0, 0x64, 0xff, 0x9b, 0, 1]);
        octets[6..].copy_from_slice(&tail);
        Ipv6Addr::from(octets)
    };
    vec![
        (inner.to_ipv6_mapped(), true),
        (at((0x64 << 112) | (0xff9b << 96), 0), true),
        (at(0, 0), false),
        (at(0xffff << 48, 0), false),
        (six_to_four, false),
        (teredo_server, false),
        (Ipv6Addr::from(teredo_client), false),
        (local([a, b, 0, c, d, 0, 0, 0, 0, 0]), false),
        (local([9, a, 0, b, c, d, 0, 0, 0, 0]), false),
        (local([9, 9, 0, a, b, c, d, 0, 0, 0]), false),
        (local([9, 9, 0, 0, 0, 0, a, b, c, d]), false),
    ]
}

#[test]
fn an_embedded_address_is_what_it_embeds() {
    for inner in [
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "169.254.1.1",
        "224.0.0.1",
        "168.63.129.16",
        "100.100.100.200",
    ] {
        let inner: Ipv4Addr = inner.parse().unwrap();
        for (address, _) in dressed(inner) {
            // Zeros beside it may be worse than what is embedded, never milder.
            let found = Class::of(address.into());
            assert!(found >= of_v4(inner), "{inner} as {address}: {found}");
        }
    }
    for inner in [
        "10.1.2.3",
        "192.168.1.1",
        "172.16.0.1",
        "100.64.0.1",
        "240.0.0.1",
    ] {
        let inner: Ipv4Addr = inner.parse().unwrap();
        for (address, _) in dressed(inner) {
            assert!(Class::of(address.into()) >= of_v4(inner), "{address}");
        }
    }
    assert_eq!(class("64:ff9b:1::93.184.216.34"), Class::Private);
    assert_eq!(class("::ffff:127.0.0.1"), Class::Loopback);
    assert_eq!(class("64:ff9b::10.0.0.1"), Class::Private);
    assert_eq!(class("::127.0.0.1"), Class::Loopback);
    assert_eq!(class("::ffff:0:127.0.0.1"), Class::Loopback);
    assert_eq!(class("2002:7f00:1::"), Class::Loopback);
    assert_eq!(class("2001:0:808:808::80ff:fffe"), Class::Loopback);
}

#[test]
fn only_the_bridges_of_every_day_lead_to_the_public_internet() {
    for (address, every_day) in dressed(Ipv4Addr::new(93, 184, 216, 34)) {
        let is_global = Class::of(address.into()) == Class::Global;
        assert_eq!(is_global, every_day, "{address}");
    }
}
