//! Headers that a person may write and those that they may not; session ids likewise.

use super::*;

fn error(text: &str) -> HeaderError {
    Header::parse(text).unwrap_err()
}

#[test]
fn a_header_is_a_name_and_a_value() {
    for (text, name, value) in [
        ("Authorization: Bearer x", "authorization", "Bearer x"),
        ("X-Api-Key:k", "x-api-key", "k"),
        ("x: \t a:b  c \t", "x", "a:b  c"),
        ("x:", "x", ""),
        ("x: a\tb", "x", "a\tb"),
        ("x: sch\u{f6}n", "x", "sch\u{f6}n"),
        ("Cookie: a=b", "cookie", "a=b"),
        ("x-mcp-y: 1", "x-mcp-y", "1"),
    ] {
        let header = Header::parse(text).unwrap();
        assert_eq!((header.name(), &**header.value().expose()), (name, value));
    }
}

#[test]
fn what_is_no_header_is_refused_without_being_quoted() {
    for text in ["canary", "", "Bearer canary"] {
        assert_eq!(error(text), HeaderError::NoColon, "{text}");
    }
    for text in [
        ": canary",
        " canary: x",
        "canary : x",
        "can\u{e4}ry: x",
        "a\0: canary",
        "(: x",
    ] {
        assert_eq!(error(text), HeaderError::BadName, "{text}");
    }
    for byte in (0..=0x1f_u8).chain([0x7f]).filter(|byte| *byte != b'\t') {
        let text = format!("x: canary{}canary", char::from(byte));
        let error = error(&text);
        let name = "x".to_owned();
        assert_eq!(error, HeaderError::BadValue { name }, "{byte}");
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}

#[test]
fn a_line_end_cannot_be_smuggled_in_at_either_end() {
    for text in ["x: a\r\ny: b", "x: a\n", "x: \ra", "x\r\ny: a"] {
        assert!(Header::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn headers_that_are_not_the_person_s_are_refused_by_name() {
    for (name, why) in [
        ("Accept", HeaderOwner::Protocol),
        ("content-TYPE", HeaderOwner::Protocol),
        ("Last-Event-ID", HeaderOwner::Protocol),
        ("MCP-Protocol-Version", HeaderOwner::Protocol),
        ("Mcp-Session-Id", HeaderOwner::Protocol),
        ("mcp-method", HeaderOwner::Protocol),
        ("Mcp-Param-Region", HeaderOwner::Protocol),
        ("Content-Length", HeaderOwner::Connection),
        ("Host", HeaderOwner::Connection),
        ("Connection", HeaderOwner::Connection),
        ("Transfer-Encoding", HeaderOwner::Connection),
        ("Accept-Encoding", HeaderOwner::Connection),
        ("TE", HeaderOwner::Connection),
        ("Upgrade", HeaderOwner::Connection),
    ] {
        let name_lower = name.to_ascii_lowercase();
        let expected = HeaderError::Owned {
            name: name_lower,
            why,
        };
        assert_eq!(error(&format!("{name}: x")), expected);
    }
    assert_eq!(
        error("Accept: x").to_string(),
        "header accept is set by the protocol and cannot be changed"
    );
}

#[test]
fn a_header_may_be_as_long_as_the_limit() {
    let of = |bytes: usize| Header::new("x", "v".repeat(bytes - 1));
    assert!(of(HEADER_BYTES - 1).is_ok());
    assert!(of(HEADER_BYTES).is_ok());
    let error = of(HEADER_BYTES + 1).unwrap_err();
    assert_eq!(error.to_string(), "header x is longer than 8192 bytes");
    let error = Header::new(&"n".repeat(HEADER_BYTES), "v").unwrap_err();
    assert!(error.to_string().len() < 200, "{error}");
}

#[test]
fn there_may_be_as_many_as_the_limit() {
    let mut headers = Headers::default();
    for n in 0..HEADERS {
        headers
            .push(Header::new(&format!("x-{n}"), "v").unwrap())
            .unwrap();
    }
    let one_more = Header::new("x", "v").unwrap();
    assert_eq!(
        headers.push(one_more),
        Err(HeaderError::TooMany { max: HEADERS })
    );
    assert_eq!(headers.iter().count(), HEADERS);
}

#[test]
fn values_are_sent_and_never_shown() {
    let mut headers = Headers::default();
    headers
        .push(Header::parse("X-Key: canary").unwrap())
        .unwrap();
    headers
        .push(Header::parse("x-key: sch\u{f6}n canary").unwrap())
        .unwrap();
    assert_eq!(format!("{headers:?}"), "Headers([x-key: ***, x-key: ***])");
    let mut map = HeaderMap::new();
    headers.append_to(&mut map);
    let sent: Vec<_> = map
        .get_all("X-Key")
        .iter()
        .map(HeaderValue::as_bytes)
        .collect();
    assert_eq!(sent, [&b"canary"[..], "sch\u{f6}n canary".as_bytes()]);
    assert!(!format!("{map:?}").contains("canary"));
}

#[test]
fn every_value_that_is_taken_can_be_sent() {
    for c in (0..=0x17f_u32).filter_map(char::from_u32) {
        let Ok(header) = Header::new("x", format!("a{c}b")) else {
            continue;
        };
        let mut headers = Headers::default();
        headers.push(header).unwrap();
        let mut map = HeaderMap::new();
        headers.append_to(&mut map);
        assert_eq!(map.len(), 1, "{c:?}");
    }
}

#[test]
fn a_session_id_is_visible_ascii() {
    let parse = |bytes: &[u8]| SessionId::parse(bytes, 8192, IdRule::Visible);
    let all: Vec<u8> = (0x21..=0x7e).collect();
    let id = parse(&all).unwrap();
    assert_eq!(id.expose().as_bytes(), all);
    assert_eq!(id.to_header().unwrap().as_bytes(), all);
    for byte in (0..=0x20).chain(0x7f..=0xff_u8) {
        let error = parse(&[b'a', byte]).unwrap_err();
        assert_eq!(error, SessionIdError::BadByte { at: 1 }, "{byte}");
    }
    assert_eq!(parse(b""), Err(SessionIdError::Empty));
}

#[test]
fn a_strict_session_id_is_letters_digits_dash_and_underscore() {
    let strict = |bytes: &[u8]| SessionId::parse(bytes, 8192, IdRule::Strict);
    assert!(strict(b"aZ09-_").is_ok());
    // A JSON web token is one by the usual rule only.
    assert_eq!(strict(b"a.b"), Err(SessionIdError::BadByte { at: 1 }));
    assert!(SessionId::parse(b"a.b", 8192, IdRule::Visible).is_ok());
    assert!(strict(&[b'a'; 256]).is_ok());
    let (bytes, max_bytes) = (257, 256);
    assert_eq!(
        strict(&[b'a'; 257]),
        Err(SessionIdError::TooLong { bytes, max_bytes })
    );
}

#[test]
fn a_session_id_may_be_as_long_as_the_limit_and_is_never_shown() {
    let parse = |bytes: usize| SessionId::parse(&b"i".repeat(bytes), 100, IdRule::Visible);
    assert!(parse(99).is_ok());
    assert_eq!(format!("{:?}", parse(100)), "Ok(SessionId(***))");
    let (bytes, max_bytes) = (101, 100);
    assert_eq!(
        parse(101),
        Err(SessionIdError::TooLong { bytes, max_bytes })
    );
}
