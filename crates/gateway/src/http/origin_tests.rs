use super::*;

fn allow_list(auth: HttpAuth, change: impl FnOnce(&mut HttpOptions)) -> AllowList {
    let mut options = HttpOptions::new(auth).unwrap();
    change(&mut options);
    AllowList::new(&options).unwrap()
}

fn near() -> Option<Peer> {
    Some(Peer::Tcp {
        remote: "127.0.0.1:40000".parse().unwrap(),
        local: "127.0.0.1:8808".parse().unwrap(),
    })
}

fn far() -> Option<Peer> {
    Some(Peer::Tcp {
        remote: "192.0.2.7:40000".parse().unwrap(),
        local: "192.0.2.1:8808".parse().unwrap(),
    })
}

fn check(
    list: &AllowList,
    peer: Option<Peer>,
    host: &str,
    origin: Option<&str>,
) -> Result<bool, OriginRefusal> {
    let mut headers = HeaderMap::new();
    headers.insert(HOST, host.parse().unwrap());
    if let Some(origin) = origin {
        headers.insert(ORIGIN, origin.parse().unwrap());
    }
    let uri = Uri::from_static("/mcp");
    list.check(&headers, &uri, peer).map(|page| page.is_some())
}

#[test]
fn loopback_names_are_served_to_loopback_alone() {
    let list = allow_list(HttpAuth::None, |_| {});
    for host in [
        "localhost",
        "LOCALHOST:8808",
        "127.0.0.1:1",
        "127.1.2.3",
        "[::1]:80",
    ] {
        assert_eq!(check(&list, near(), host, None), Ok(false), "{host}");
        let refused = Err(OriginRefusal::ForeignHost);
        assert_eq!(check(&list, far(), host, None), refused, "{host}");
    }
}

#[test]
fn other_names_are_served_only_if_they_are_listed() {
    let foreign = Err(OriginRefusal::ForeignHost);
    let list = allow_list(HttpAuth::None, |options| {
        options.allow_hosts = vec!["box.example".to_owned(), "tight.example:81".to_owned()];
        options.public_url = Some("https://public.example/mcp".to_owned());
    });
    for host in [
        "evil.example",
        "localhost.evil.example",
        "box.example.evil",
        "tight.example",
    ] {
        assert_eq!(check(&list, near(), host, None), foreign, "{host}");
    }
    for host in [
        "box.example:9",
        "Box.Example",
        "tight.example:81",
        "public.example",
    ] {
        assert_eq!(check(&list, far(), host, None), Ok(false), "{host}");
    }
    assert_eq!(check(&list, far(), "192.0.2.1:8808", None), Ok(false));
    assert_eq!(check(&list, far(), "192.0.2.2:8808", None), foreign);
}

#[test]
fn a_host_that_is_not_one_is_refused() {
    let list = allow_list(HttpAuth::None, |_| {});
    for host in [
        "",
        "a@localhost",
        "localhost/x",
        "localhost:x",
        "[::1",
        "[::1]x",
        "localhost:99999",
    ] {
        let refused = check(&list, near(), host, None);
        assert_eq!(refused, Err(OriginRefusal::BadHost), "{host}");
    }
}

#[test]
fn a_page_is_served_from_its_own_host_and_from_listed_origins() {
    let list = allow_list(HttpAuth::None, |options| {
        options.allow_origins = vec!["https://App.Example/".to_owned()];
    });
    let page = |origin| check(&list, near(), "localhost:8808", Some(origin));
    assert_eq!(page("http://localhost:8808"), Ok(true));
    assert_eq!(page("https://app.example"), Ok(true));
    let foreign = [
        "null",
        "http://evil.example",
        "http://app.example",
        "https://app.example:444",
        "http://localhost:3000",
        "file://",
        "http://localhost:8808/x",
    ];
    for origin in foreign {
        assert_eq!(page(origin), Err(OriginRefusal::ForeignOrigin), "{origin}");
    }
}

#[test]
fn with_a_token_all_pages_on_loopback_may_ask() {
    let token = super::super::auth::Token::new("0123456789abcdef").unwrap();
    let list = allow_list(HttpAuth::Token(token), |_| {});
    let page = |peer, host, origin| check(&list, peer, host, Some(origin));
    assert_eq!(
        page(near(), "localhost:8808", "http://127.0.0.1:3000"),
        Ok(true)
    );
    let foreign = Err(OriginRefusal::ForeignOrigin);
    assert_eq!(
        page(near(), "localhost:8808", "http://evil.example"),
        foreign
    );
    assert_eq!(
        page(far(), "192.0.2.1:8808", "http://localhost:3000"),
        foreign
    );
}

#[test]
fn options_that_are_no_hosts_or_origins_are_errors() {
    let broken: [fn(&mut HttpOptions); 4] = [
        |options| options.allow_hosts = vec!["http://x".to_owned()],
        |options| options.allow_origins = vec!["x.example".to_owned()],
        |options| options.public_url = Some("ftp://x".to_owned()),
        |options| options.public_url = Some("/mcp".to_owned()),
    ];
    for change in broken {
        let mut options = HttpOptions::new(HttpAuth::None).unwrap();
        change(&mut options);
        assert!(AllowList::new(&options).is_err());
    }
}
