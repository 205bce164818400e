//! Grants as texts.

use super::*;

/// What a grant is refused for, and at which character.
fn refused(text: &str) -> (usize, &'static str) {
    let error = Grant::parse(text).unwrap_err();
    let place = format!("at character {}", error.at());
    assert!(error.to_string().ends_with(&place), "{error}");
    (error.at(), error.why())
}

#[test]
fn a_bad_grant_says_what_is_wrong_and_where() {
    for (text, at, why) in [
        ("", 1, "begin with `mcp:`"),
        ("github:x", 1, "begin with `mcp:`"),
        ("MCP:s:x", 1, "begin with `mcp:`"),
        ("mcp:", 5, "server is missing"),
        ("mcp::x", 5, "server is missing"),
        ("mcp:s", 6, "tool is missing"),
        (r"mcp:s\:x", 9, "tool is missing"),
        ("mcp:é/x:y", 6, "slash or a space"),
        ("mcp: s:y", 5, "slash or a space"),
        ("mcp:s:", 7, "name is missing"),
        ("mcp:s:resource/", 16, "name is missing"),
        ("mcp:s:resources/x", 7, "`resource/` is meant"),
        ("mcp:s:prompts/x", 7, "`prompt/` is meant"),
        ("mcp:s:tools/x", 7, "`tool/` is meant"),
        ("mcp:s: x", 7, "space around"),
        ("mcp:s:x ", 8, "space around"),
        ("mcp:s:prompt/ x", 14, "space around"),
        ("mcp:s:x\n", 8, "control character"),
    ] {
        let found = refused(text);
        assert_eq!(found.0, at, "{text:?}: {}", found.1);
        assert!(found.1.contains(why), "{text:?}: {}", found.1);
    }
    assert_eq!(
        Grants::parse(["mcp:s:x", "mcp:s"]).unwrap_err().to_string(),
        "grant 2: bad grant \"mcp:s\": the tool is missing: `mcp:SERVER:TOOL`, or `mcp:SERVER:*` for \
         all, at character 6"
    );
}

#[test]
fn the_verb_execute_may_follow_an_item() {
    let server = ServerName::parse("files").unwrap();
    let tool = |name| Target::Tool {
        server: &server,
        name,
    };
    for text in [
        "mcp:files:read execute",
        "mcp:files:read:execute",
        "mcp:files:tool/read execute",
        "mcp:files:*:execute",
    ] {
        let grant = Grant::parse(text).unwrap();
        assert!(grant.covers(&tool("read")), "{text}");
        assert_eq!(grant.to_string(), text);
    }
    let resource = Grant::parse("mcp:files:resource/urn:execute execute").unwrap();
    let uri = "urn:execute";
    assert!(resource.covers(&Target::Resource {
        server: &server,
        uri
    }));
    // Tools that are really called that.
    for name in [
        "read:execute",
        "read execute",
        "execute",
        "re execute execute",
    ] {
        let grant = Grant::tool(&server, name);
        assert!(grant.covers(&tool(name)) && !grant.covers(&tool("read")));
        assert_eq!(grant.as_str().parse(), Ok(grant));
    }
    for bad in [
        "mcp:files: execute",
        "mcp:files:read write ",
        "mcp:files::execute",
    ] {
        assert!(Grant::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_grant_prints_as_it_was_written() {
    for text in [
        "mcp:*:*",
        "mcp:github:get_*",
        "mcp:s:resource/file:///a b/*?x=1",
        "mcp:s:prompt/x",
        "mcp:s:tool/prompt/x",
        r"mcp:a\:b:x:y",
    ] {
        let grant = Grant::parse(text).unwrap();
        assert_eq!(grant.to_string(), text);
        assert_eq!(text.parse(), Ok(grant));
    }
    assert_eq!(Grants::none().to_string(), "nothing");
}

#[test]
fn a_star_for_the_server_stays_in_the_server() {
    let (s, ab) = (server("s"), server("a:b"));
    let tool = |server, name| Target::Tool { server, name };
    let covers = |text: &str, target| Grant::parse(text).unwrap().covers(&target);
    assert!(!covers("mcp:*:x", tool(&s, "y:x")));
    assert!(covers("mcp:*:x", tool(&ab, "x")));
    assert!(covers("mcp:a*:x", tool(&ab, "x")));
    assert!(covers(r"mcp:a\:b:x", tool(&ab, "x")));
    // A colon without a backslash ends the server: this is the tool `b:x` of `a`.
    assert!(!covers("mcp:a:b:x", tool(&ab, "x")));
    assert!(covers("mcp:a:b:x", tool(&server("a"), "b:x")));
}

#[test]
fn a_grant_is_for_one_kind() {
    let s = server("s");
    for (text, expected) in [
        ("mcp:s:*", [true, false, false, false]),
        ("mcp:s:tool/*", [true, false, false, false]),
        ("mcp:s:resource/*", [false, true, true, false]),
        ("mcp:s:prompt/*", [false, false, false, true]),
        ("mcp:t:*", [false; 4]),
    ] {
        let grant = Grant::parse(text).unwrap();
        assert_eq!(
            things(&s).map(|thing| grant.covers(&thing)),
            expected,
            "{text}"
        );
    }
}

#[test]
fn grants_of_one_thing_take_any_name_to_the_letter() {
    for name in [
        "x",
        "a*b",
        "a?b",
        "a:b",
        r"a\b",
        r"a\*",
        "prompt/x",
        "resources/x",
        "tool/x",
        "resource/",
    ] {
        for s in ["s", "a:b", "*"].map(server) {
            for grant in [
                Grant::tool(&s, name),
                Grant::resource(&s, name),
                Grant::prompt(&s, name),
            ] {
                let again = Grant::parse(grant.as_str()).unwrap();
                assert_eq!(again, grant);
                assert!(grant.item().matches(name));
                assert!(grant.server().matches(s.as_str()));
                assert!(!grant.item().matches("aXb"), "{grant}");
                assert!(!grant.server().matches("other"), "{grant}");
            }
        }
    }
}

#[test]
fn everything_is_all_kinds_of_all_servers() {
    let all = Grants::everything();
    for s in ["s", "a:b"].map(server) {
        assert!(things(&s).iter().all(|thing| all.covering(thing).is_some()));
    }
}
