use hyper::header::HeaderValue;

use super::*;
use crate::message::ClientMessage;

fn request(params: &str, method: &str) -> ClientRequest {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    match ClientMessage::parse(&text, 64) {
        Ok(ClientMessage::Request(request)) => request,
        other => panic!("not a request: {other:?}"),
    }
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name = HeaderName::from_static(name);
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers
}

const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");
const CALL: (&str, &str) = ("mcp-method", "tools/call");

/// Checks a request by both ways of reading it, which must agree.
fn check(headers: &HeaderMap, request: &ClientRequest) -> Result<(), Mismatch> {
    let params = Params::read(request.params.clone()).unwrap();
    let ways = [Said::of(&request.method, &params), Said::search(request)];
    let [read, searched] =
        ways.map(|said| check_request(headers, &request.method, said.name.as_deref(), VERSION.1));
    assert_eq!(read, searched);
    read
}

#[test]
fn headers_that_repeat_the_body_pass() {
    let plain = request(r#"{"name":"a b"}"#, "tools/call");
    let all = headers(&[VERSION, CALL, ("mcp-name", "a b")]);
    assert_eq!(check(&all, &plain), Ok(()));
    let odd = request(r#"{"uri":"file:///\u00e9"}"#, "resources/read");
    let read = ("mcp-method", "resources/read");
    let all = headers(&[VERSION, read, ("mcp-name", "=?base64?ZmlsZTovLy/DqQ==?=")]);
    assert_eq!(check(&all, &odd), Ok(()));
    let list = request("{}", "tools/list");
    let all = headers(&[VERSION, ("mcp-method", "tools/list")]);
    assert_eq!(check(&all, &list), Ok(()));
}

#[test]
fn headers_that_are_missing_repeated_or_different_are_named() {
    let call = request(r#"{"name":"echo"}"#, "tools/call");
    let name = ("mcp-name", "echo");
    let cases: &[(&[(&'static str, &str)], &str)] = &[
        (&[CALL, name], "mcp-protocol-version"),
        (
            &[("mcp-protocol-version", "2025-11-25"), CALL, name],
            "mcp-protocol-version",
        ),
        (&[VERSION, name], "mcp-method"),
        (&[VERSION, ("mcp-method", "Tools/Call"), name], "mcp-method"),
        (&[VERSION, CALL, CALL, name], "mcp-method"),
        (&[VERSION, CALL], "mcp-name"),
        (&[VERSION, CALL, ("mcp-name", "ech")], "mcp-name"),
        (&[VERSION, CALL, ("mcp-name", "echoé")], "mcp-name"),
        (
            &[VERSION, CALL, ("mcp-name", "=?base64?ZWNobw?=")],
            "mcp-name",
        ),
        (&[VERSION, CALL, name, name], "mcp-name"),
    ];
    for (pairs, wrong) in cases {
        let mismatch = check(&headers(pairs), &call).unwrap_err();
        assert_eq!(mismatch.header, *wrong, "{pairs:?}");
    }
}

#[test]
fn marked_arguments_are_found_wherever_properties_lead() {
    let schema = r#"{"type":"object","properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "deep":{"type":"object","properties":{"n":{"type":"integer","\u0078-mcp-header":"N"}}},
        "bad":{"type":"string","x-mcp-header":"no header"}},
        "items":{"properties":{"x":{"x-mcp-header":"X"}}}}"#;
    let marks = find_marks(&Raw::parse(schema).unwrap());
    let names: Vec<&str> = marks.iter().map(|mark| mark.header.as_str()).collect();
    assert_eq!(names, ["mcp-param-region", "mcp-param-n"]);
    assert_eq!(marks[1].path, ["deep", "n"]);
    assert_eq!(
        find_marks(&Raw::parse(r#"{"properties":{"a":{}}}"#).unwrap()),
        []
    );
}

#[test]
fn marked_arguments_must_be_what_their_headers_say() {
    let schema = r#"{"properties":{"r":{"x-mcp-header":"R"},"o":{"properties":{"n":{"x-mcp-header":"N"}}}}}"#;
    let marks = find_marks(&Raw::parse(schema).unwrap());
    let check = |arguments: &str, pairs: &[(&'static str, &str)]| {
        let params = format!(r#"{{"name":"t","arguments":{arguments}}}"#);
        let request = request(&params, "tools/call");
        check_arguments(
            &headers(pairs),
            &marks,
            Said::search(&request).arguments.as_ref(),
        )
        .is_ok()
    };
    let (r, n) = (("mcp-param-r", "eu"), ("mcp-param-n", "7"));
    for number in ["7", "7.0", "70e-1"] {
        let arguments = format!(r#"{{"r":"eu","o":{{"n":{number}}}}}"#);
        assert!(check(&arguments, &[r, n]), "{number}");
        assert!(!check(&arguments, &[r]), "{number}");
    }
    assert!(check(r#"{"r":true}"#, &[("mcp-param-r", "true")]));
    assert!(!check(r#"{"r":"us"}"#, &[r]));
    assert!(
        !check(r#"{"r":"eu"}"#, &[r, n]),
        "a header without its argument"
    );
    assert!(check(r#"{"r":null,"o":null}"#, &[]));
    assert!(!check(r#"{"r":null}"#, &[r]));
    assert!(check("{}", &[]));
    assert!(!check("{}", &[n]));
}
