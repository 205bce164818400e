//! Two hundred ways to write an address that must not be reached, and names that change their minds.

use std::net::Ipv4Addr;
use std::sync::Mutex;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

/// Answers with one list after the other, the last one again and again.
struct Script(Mutex<Vec<Vec<IpAddr>>>);

impl Lookup for Script {
    fn lookup(&self, _: &str) -> Looking {
        let mut answers = self.0.lock().unwrap();
        let answer = match answers.len() {
            0 | 1 => answers.first().cloned().unwrap_or_default(),
            _ => answers.remove(0),
        };
        Box::pin(async move { Ok(answer) })
    }
}

fn ips(addresses: &[&str]) -> Vec<IpAddr> {
    addresses.iter().map(|text| text.parse().unwrap()).collect()
}

fn dial(reach: Reach, answers: &[&[&str]]) -> Dial {
    let answers = answers.iter().map(|answer| ips(answer)).collect();
    let script = Arc::new(Script(Mutex::new(answers)));
    Dial::with(script, reach, Arc::default())
}

async fn found(dial: &Dial, host: &str) -> Result<Vec<IpAddr>, Forbidden> {
    match dial.addresses(host).await {
        Ok(found) => Ok(found),
        Err(DialError::Forbidden(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

fn refused(host: &str, address: &str) -> Result<Vec<IpAddr>, Forbidden> {
    let address = address.parse().unwrap();
    Err(Forbidden::Address {
        host: host.to_owned(),
        address,
        class: Class::of(address),
    })
}

/// Every way to write an IPv4 address in a URL that we know of.
fn spellings(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let whole = u32::from(address);
    let (low24, low16) = (whole & 0x00ff_ffff, whole & 0xffff);
    let dotted = address.to_string();
    let wide = |text: &str| -> String {
        let wide = |c: char| char::from_u32(u32::from(c) + 0xfee0).unwrap();
        text.chars()
            .map(|c| if c.is_ascii_digit() { wide(c) } else { c })
            .collect()
    };
    let percent =
        |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02x}")).collect() };
    let (high, low) = (whole >> 16, whole & 0xffff);
    let (turned_high, turned_low) = (!whole >> 16, !whole & 0xffff);
    vec![
        dotted.clone(),
        format!("{dotted}."),
        format!("{whole}"),
        format!("{whole}."),
        format!("0x{whole:x}"),
        format!("0X{whole:08X}"),
        format!("0x00000000{whole:x}"),
        format!("0{whole:o}"),
        format!("000{whole:o}"),
        format!("{a}.{low24}"),
        format!("0x{a:x}.{low24}"),
        format!("0{a:o}.0x{low24:x}"),
        format!("{a}.{b}.{low16}"),
        format!("0x{a:x}.0{b:o}.{low16}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("00{a:o}.000{b:o}.{c}.0x{d:02x}"),
        wide(&dotted),
        dotted.replace('.', "\u{3002}"),
        dotted.replace('.', "\u{ff0e}"),
        percent(&dotted),
        dotted.replace('.', "%2e"),
        format!("[::ffff:{dotted}]"),
        format!("[::FFFF:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:ffff:{dotted}]"),
        format!("[::{dotted}]"),
        format!("[::ffff:0:{dotted}]"),
        format!("[64:ff9b::{dotted}]"),
        format!("[64:ff9b:1::{dotted}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2001:0:{high:x}:{low:x}::f7f7:f7f7]"),
        format!("[2001:0:808:808::{turned_high:x}:{turned_low:x}]"),
    ]
}

/// What nobody may reach, and what a server may not.
const NOBODY: &[&str] = &[
    "169.254.169.254",
    "169.254.170.2",
    "169.254.0.1",
    "224.0.0.251",
    "100.100.100.200",
    "168.63.129.16",
];
const NO_SERVER: &[&str] = &[
    "127.0.0.1",
    "127.127.127.127",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "192.0.0.8",
    "198.18.0.1",
    "198.51.100.7",
    "240.0.0.1",
    "255.255.255.255",
];

#[test]
fn no_spelling_of_an_address_gets_past() {
    let mut tried = 0;
    for address in NOBODY.iter().chain(NO_SERVER) {
        let address: Ipv4Addr = address.parse().unwrap();
        for host in spellings(address) {
            for scheme in ["http", "https"] {
                let text = format!("{scheme}://{host}:8080/x");
                let url = Url::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
                for reach in [Reach::Person, Reach::Server] {
                    let is_forbidden =
                        matches!(check_url(&url, reach), Err(Forbidden::Address { .. }));
                    let to_nobody = NOBODY.contains(&&*address.to_string());
                    let expected = to_nobody || reach == Reach::Server;
                    assert_eq!(is_forbidden, expected, "{text} named by {reach:?}");
                }
            }
            tried += 1;
        }
    }
    assert!(tried >= 200, "{tried}");
}

#[test]
fn other_addresses_that_nobody_may_reach_are_refused() {
    for host in [
        "0",
        "0.0.0.0",
        "0x0",
        "00",
        "0.1.2.3",
        "[::]",
        "[0:0:0:0:0:0:0:0]",
        "[fe80::1]",
        "[febf::1]",
        "[ff02::1]",
        "[fd00:ec2::254]",
        "[::ffff:0:0]",
        "[::ffff:a9fe:a9fe]",
    ] {
        let url = Url::parse(&format!("https://{host}/")).unwrap();
        let found = check_url(&url, Reach::Person);
        assert!(matches!(found, Err(Forbidden::Address { .. })), "{host}");
    }
    for host in [
        "metadata.google.internal",
        "METADATA.google.internal.",
        "metadata",
        "%6detadata.goog",
    ] {
        let url = Url::parse(&format!("https://{host}/")).unwrap();
        let found = check_url(&url, Reach::Person);
        assert!(
            matches!(found, Err(Forbidden::MetadataName { .. })),
            "{host}"
        );
    }
}

#[test]
fn a_server_names_urls_with_tls_only_unless_both_are_local() {
    let check = |text: &str, reach| check_url(&Url::parse(text).unwrap(), reach).map(drop);
    let insecure = |host: &str| {
        Err(Forbidden::Insecure {
            host: host.to_owned(),
        })
    };
    assert_eq!(check("http://example.com/", Reach::Person), Ok(()));
    assert_eq!(check("https://example.com/", Reach::Server), Ok(()));
    assert_eq!(
        check("http://example.com/", Reach::Server),
        insecure("example.com")
    );
    assert_eq!(
        check("http://93.184.216.34/", Reach::Server),
        insecure("93.184.216.34")
    );
    assert_eq!(
        check("http://localhost/", Reach::Server),
        insecure("localhost")
    );
    assert_eq!(check("http://localhost:1/", Reach::LocalServer), Ok(()));
    assert_eq!(check("http://127.0.0.1:1/", Reach::LocalServer), Ok(()));
    assert_eq!(check("http://[::1]/", Reach::LocalServer), Ok(()));
    assert_eq!(
        check("http://example.com/", Reach::LocalServer),
        insecure("example.com")
    );
    assert!(check("https://10.0.0.1/", Reach::LocalServer).is_err());
}

#[tokio::test]
async fn only_addresses_that_are_permitted_are_kept() {
    let mixed: &[&[&str]] = &[&[
        "169.254.169.254",
        "93.184.216.34",
        "10.0.0.1",
        "2606:4700::1111",
    ]];
    let public = Ok(ips(&["93.184.216.34", "2606:4700::1111"]));
    assert_eq!(
        found(&dial(Reach::Server, mixed), "a.example").await,
        public
    );
    // A public name with a private address beside it is a trick, too.
    assert_eq!(
        found(&dial(Reach::Person, mixed), "a.example").await,
        public
    );
    let private: &[&[&str]] = &[&["10.0.0.1", "127.0.0.1"]];
    let kept = found(&dial(Reach::Person, private), "a.example").await;
    assert_eq!(kept, Ok(ips(&["10.0.0.1", "127.0.0.1"])));
    let kept = found(&dial(Reach::Server, private), "a.example").await;
    assert_eq!(kept, refused("a.example", "10.0.0.1"));
    let kept = found(&dial(Reach::LocalServer, private), "a.example").await;
    assert_eq!(kept, Ok(ips(&["127.0.0.1"])));
}

#[tokio::test]
async fn a_name_that_was_public_may_not_turn() {
    for turned in [
        "127.0.0.1",
        "::1",
        "10.0.0.1",
        "::ffff:127.0.0.1",
        "100.64.0.1",
    ] {
        let dial = dial(
            Reach::Person,
            &[&["93.184.216.34"], &[turned], &["93.184.216.35"]],
        );
        assert_eq!(found(&dial, "a.example").await, Ok(ips(&["93.184.216.34"])));
        let address: IpAddr = turned.parse().unwrap();
        let flipped = Err(Forbidden::Flipped {
            host: "A.example.".to_owned(),
            address,
            class: Class::of(address),
        });
        assert_eq!(found(&dial, "A.example.").await, flipped);
        assert_eq!(found(&dial, "a.example").await, Ok(ips(&["93.184.216.35"])));
    }
    // Link-local is refused before it comes to that.
    let dial = dial(Reach::Person, &[&["93.184.216.34"], &["169.254.1.1"]]);
    assert!(found(&dial, "a.example").await.is_ok());
    assert_eq!(
        found(&dial, "a.example").await,
        refused("a.example", "169.254.1.1")
    );
}

#[tokio::test]
async fn a_private_name_may_stay_private_or_become_public() {
    let answers: &[&[&str]] = &[
        &["10.0.0.1"],
        &["127.0.0.1"],
        &["93.184.216.34"],
        &["10.0.0.1"],
    ];
    let dial = dial(Reach::Person, answers);
    for _ in 0..3 {
        assert!(found(&dial, "a.example").await.is_ok());
    }
    let flipped = found(&dial, "a.example").await;
    assert!(matches!(flipped, Err(Forbidden::Flipped { .. })));
}

#[tokio::test]
async fn the_name_of_this_machine_leads_nowhere_else() {
    let away = dial(
        Reach::Person,
        &[&["93.184.216.34", "127.0.0.1"], &["93.184.216.34"]],
    );
    assert_eq!(found(&away, "localhost").await, Ok(ips(&["127.0.0.1"])));
    let address = [93, 184, 216, 34].into();
    let host = "x.localhost".to_owned();
    assert_eq!(
        found(&away, "x.localhost").await,
        Err(Forbidden::NotLocal { host, address })
    );
    let local = dial(Reach::LocalServer, &[&["127.0.0.1", "::1"]]);
    assert_eq!(
        found(&local, "localhost").await,
        Ok(ips(&["127.0.0.1", "::1"]))
    );
}

#[tokio::test]
async fn a_metadata_name_is_refused_wherever_it_leads() {
    let dial = dial(Reach::Person, &[&["93.184.216.34"]]);
    let host = "metadata.google.internal".to_owned();
    let expected = Err(Forbidden::MetadataName { host });
    assert_eq!(found(&dial, "metadata.google.internal").await, expected);
}

#[tokio::test]
async fn a_name_without_an_address_says_so_and_so_does_one_that_fails() {
    let none = dial(Reach::Person, &[&[]]).addresses("a.example").await;
    assert!(matches!(none, Err(DialError::NoAddress { .. })));
    struct Broken;
    impl Lookup for Broken {
        fn lookup(&self, _: &str) -> Looking {
            Box::pin(async { Err(io::Error::other("no resolver")) })
        }
    }
    let dial = Dial::with(Arc::new(Broken), Reach::Person, Arc::default());
    let error = dial.addresses("a.example").await.unwrap_err();
    assert_eq!(error.to_string(), "could not look up a.example");
}

#[tokio::test]
async fn the_system_knows_this_machine() {
    let found = SystemLookup.lookup("localhost").await.unwrap();
    assert!(
        found
            .iter()
            .all(|address| Class::of(*address) == Class::Loopback)
    );
    assert!(!found.is_empty());
}

fn client(dial: Dial) -> reqwest::Client {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .dns_resolver(Arc::new(dial))
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_client_connects_to_what_is_let_through_and_learns_why_not() {
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let read = stream.read(&mut [0; 4096]).await.unwrap();
        let answer = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
        stream.write_all(answer).await.unwrap();
        read
    });
    let url = format!("http://server.test:{port}/");
    let answers: &[&[&str]] = &[&["127.0.0.1"], &["169.254.169.254"]];
    let client = client(dial(Reach::Person, answers));
    assert_eq!(client.get(&url).send().await.unwrap().status(), 204);
    assert!(serve.await.unwrap() > 0);
    let error = client.get(&url).send().await.unwrap_err();
    let cause = DialError::within(&error).expect("the refusal is at the bottom");
    let expected = "server.test leads to 169.254.169.254, a metadata service of a cloud";
    assert_eq!(cause.to_string(), expected);
}

#[test]
fn an_error_of_something_else_holds_none() {
    let other = io::Error::other("x");
    assert!(DialError::within(&other).is_none());
}
