//! Spellings of one origin, and ways out of it.

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn origin(text: &str) -> Origin {
    Origin::of(&url(text)).unwrap()
}

#[test]
fn spellings_of_one_origin_are_equal() {
    for (one, other) in [
        ("https://example.com/a", "https://EXAMPLE.com:443/b?c#d"),
        ("http://example.com", "http://example.com:80"),
        ("https://example.com", "https://example.com."),
        ("http://127.0.0.1:8080", "http://0x7f.1:8080"),
        ("http://127.0.0.1", "http://2130706433/"),
        ("http://[::1]:3000", "http://[0:0:0:0:0:0:0:1]:3000"),
        (
            "https://b\u{fc}cher.example",
            "https://xn--bcher-kva.example",
        ),
        ("https://B\u{dc}CHER.example", "https://b\u{fc}cher.example"),
        ("https://ex%61mple.com", "https://example.com"),
        ("https://example\u{3002}com", "https://example.com"),
    ] {
        assert_eq!(origin(one), origin(other), "{one} {other}");
    }
}

#[test]
fn other_origins_are_not() {
    let here = origin("https://example.com/mcp");
    for other in [
        "http://example.com/mcp",
        "https://example.com:8443/mcp",
        "https://www.example.com/mcp",
        "https://example.com.evil.example/mcp",
        "https://example.co/mcp",
        "https://ex\u{e4}mple.com/mcp",
        "http://example.com:443/mcp",
    ] {
        assert_ne!(here, origin(other), "{other}");
    }
    assert_ne!(origin("http://127.0.0.1"), origin("http://localhost"));
    assert_ne!(
        origin("http://127.0.0.1"),
        origin("http://[::ffff:127.0.0.1]")
    );
}

#[test]
fn only_urls_that_requests_go_to_have_one() {
    let refused = |text: &str| Origin::of(&url(text)).unwrap_err();
    for text in [
        "ftp://a/",
        "file:///x",
        "data:,x",
        "ws://a/",
        "javascript:1",
        "unix:/x",
    ] {
        assert!(matches!(refused(text), Forbidden::Scheme { .. }), "{text}");
    }
    for text in ["http://u@a/", "https://u:p@a/", "https://:p@a/"] {
        assert_eq!(refused(text), Forbidden::Userinfo, "{text}");
    }
    assert_eq!(refused("http://./"), Forbidden::NoHost);
}

#[test]
fn an_origin_is_shown_without_its_usual_port() {
    for (text, shown) in [
        ("https://Example.com:443/x?y", "https://example.com"),
        ("http://example.com:8080", "http://example.com:8080"),
        ("http://[::1]:80/", "http://[::1]"),
        ("http://example.com:443/", "http://example.com:443"),
    ] {
        assert_eq!(origin(text).to_string(), shown);
    }
}

#[test]
fn this_machine_is_known_by_name_and_by_address() {
    for text in [
        "http://localhost",
        "http://LOCALHOST.",
        "http://x.localhost",
        "http://127.9.9.9",
        "http://[::1]",
        "http://[::ffff:127.0.0.1]",
    ] {
        assert!(origin(text).is_loopback(), "{text}");
    }
    for text in [
        "http://localhost.example",
        "http://notlocalhost",
        "http://10.0.0.1",
        "http://a",
    ] {
        assert!(!origin(text).is_loopback(), "{text}");
    }
}

#[test]
fn metadata_services_are_known_by_name() {
    for name in [
        "metadata.google.internal",
        "Metadata.Google.Internal.",
        "x.metadata.google.internal",
        "metadata",
        "METADATA.",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.goog",
        "metadata.azure.internal",
        "metadata.tencentyun.com",
    ] {
        assert!(is_metadata_name(name), "{name}");
    }
    for name in [
        "metadata.example.com",
        "my-metadata",
        "notmetadata.goog",
        "x.metadata",
        "goog",
        "",
    ] {
        assert!(!is_metadata_name(name), "{name}");
    }
}

#[test]
fn who_named_a_url_depends_on_where_it_leads() {
    let public = origin("https://example.com/mcp");
    assert_eq!(
        public.reach(&url("https://example.com:443/x")),
        Reach::Person
    );
    assert_eq!(public.reach(&url("http://example.com/x")), Reach::Server);
    assert_eq!(public.reach(&url("http://localhost/")), Reach::Server);
    let local = origin("http://localhost:3000");
    assert_eq!(
        local.reach(&url("http://localhost:3001/")),
        Reach::LocalServer
    );
}

#[test]
fn a_redirect_within_the_origin_is_followed() {
    let from = url("https://example.com/a/mcp?x=1");
    for (location, to) in [
        ("/b", "https://example.com/b"),
        ("b/", "https://example.com/a/b/"),
        ("?y=2", "https://example.com/a/mcp?y=2"),
        ("https://example.com./b#frag", "https://example.com./b"),
        ("HTTPS://EXAMPLE.COM:443/b", "https://example.com/b"),
        ("//example.com/b", "https://example.com/b"),
        ("", "https://example.com/a/mcp?x=1"),
    ] {
        for status in [307, 308] {
            let found = redirect(&from, status, location, 0).unwrap();
            assert_eq!(found.as_str(), to, "{location}");
        }
    }
}

#[test]
fn a_redirect_out_of_the_origin_is_refused() {
    let from = url("https://example.com/mcp");
    for location in [
        "http://example.com/mcp",
        "https://example.com:8443/mcp",
        "//evil.example/x",
        "\\\\evil.example/x",
        "/\\evil.example/x",
        "https:\\\\evil.example",
        "https://example.com.evil.example/",
        "https://127.0.0.1/",
        "http://169.254.169.254/",
        "https://[::1]/",
        "\t//evil.example",
        "//evil.example\\@example.com/",
        "https:/evil.example/x/../..//",
        "https://example.com\u{ff0e}evil.example",
    ] {
        match redirect(&from, 307, location, 0) {
            Err(Elsewhere::OtherOrigin { from, to }) => {
                assert_eq!(from.to_string(), "https://example.com", "{location}");
                assert_ne!(from, to);
            }
            // Without an authority of its own it stays at ours.
            Ok(to) => assert_eq!(to.host_str(), Some("example.com"), "{location}"),
            Err(other) => panic!("{location}: {other}"),
        }
    }
    for location in ["https://u@example.com/", "https://u:p@example.com/"] {
        let refused = Err(Elsewhere::Forbidden(Forbidden::Userinfo));
        assert_eq!(redirect(&from, 307, location, 0), refused);
    }
    for location in [
        "file:///etc/passwd",
        "javascript:1",
        "data:,x",
        "ftp://example.com/",
    ] {
        let found = redirect(&from, 307, location, 0);
        let is_scheme = matches!(found, Err(Elsewhere::Forbidden(Forbidden::Scheme { .. })));
        assert!(is_scheme, "{location}");
    }
    assert_eq!(
        redirect(&from, 307, "https://[::g]/", 0),
        Err(Elsewhere::NotUrl)
    );
}

#[test]
fn a_redirect_that_changes_the_request_is_refused() {
    let from = url("https://example.com/mcp");
    for status in [300, 301, 302, 303, 304, 305, 306, 309, 200] {
        let found = redirect(&from, status, "/mcp", 0);
        assert_eq!(found, Err(Elsewhere::Changes { status }));
    }
}

#[test]
fn five_redirects_are_followed_and_no_sixth() {
    let from = url("https://example.com/mcp");
    assert!(redirect(&from, 307, "/b", MAX_REDIRECTS - 1).is_ok());
    let too_many = Err(Elsewhere::TooMany { max: MAX_REDIRECTS });
    assert_eq!(redirect(&from, 307, "/b", MAX_REDIRECTS), too_many);
}

#[test]
fn a_reference_may_be_as_long_as_the_limit() {
    let from = url("https://example.com/mcp");
    assert!(same_origin(&from, &"x".repeat(REFERENCE_BYTES)).is_ok());
    let found = same_origin(&from, &"x".repeat(REFERENCE_BYTES + 1));
    assert!(matches!(found, Err(Elsewhere::TooLong { .. })));
}
