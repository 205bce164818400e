//! Where requests never go: to another origin, whatever a server says, and to addresses that nobody
//! means to reach.
//!
//! A second server that remembers what it is asked stands for everywhere else.

use switchboard::protocol::Era;
use switchboard::session::{OpenError, Session};
use switchboard::transport::{FaultKind, Header, Http, HttpError, LegacySse};

use crate::support::http::{self, echo, fault, limits, options};
use crate::support::http_script::{Asked, Reply, Scripted};

const CANARY: &str = "Bearer canary";

fn carrying(url: &str) -> Http {
    let http = Http::new(url).unwrap().limits(&limits());
    let header = Header::parse(&format!("Authorization: {CANARY}")).unwrap();
    http.header(header).unwrap()
}

/// Redirects one kind of request, and is a good server otherwise.
async fn redirecting(what: &'static str, status: u16, location: String, era: Era) -> Scripted {
    Scripted::new(move |asked| {
        Some(if asked.what() == what {
            Reply::new(status).header("location", &location)
        } else {
            match era {
                Era::Legacy => asked.legacy().header("mcp-session-id", "secret-id"),
                Era::Modern => asked.modern(),
            }
        })
    })
    .await
}

/// Every way to name another origin that a client may fall for. The first part is where we are.
fn elsewheres(here: &str, there: &str) -> Vec<String> {
    let port = there.rsplit(':').next().unwrap();
    vec![
        format!("http://{there}/mcp"),
        format!("HTTP://{there}/mcp"),
        format!("//{there}/mcp"),
        format!("///{there}/mcp"),
        format!("\\\\{there}\\mcp"),
        format!("/\\{there}/mcp"),
        format!("http:\\\\{there}/mcp"),
        format!("http://{here}@{there}/mcp"),
        format!("http://{here}:x@{there}/mcp"),
        format!("http://{there}#@{here}/mcp"),
        format!("http://{there}?@{here}/mcp"),
        format!("http://{there}\\@{here}/mcp"),
        format!("http://{there}/\\@{here}/mcp"),
        format!("http://localhost:{port}/mcp"),
        format!("http://127.1:{port}/mcp"),
        format!("http://2130706433:{port}/mcp"),
        format!("http://0x7f000001:{port}/mcp"),
        format!("http://0177.0.0.1:{port}/mcp"),
        format!("http://[::ffff:127.0.0.1]:{port}/mcp"),
        format!("http://127.0.0.1.:{port}/mcp"),
        format!("http://\u{ff11}27.0.0.1:{port}/mcp"),
        format!("http://127.0.0.1%2f:{port}/mcp"),
        format!("  http://{there}/mcp  "),
        format!("http://{there}/mcp\t"),
        format!("ht\ttp://{there}/mcp"),
        format!("https://{there}/mcp"),
        format!("https://{here}/mcp"),
        format!("ws://{there}/mcp"),
        format!("ftp://{there}/mcp"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[fe80::1]/mcp".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        "http://0.0.0.0/mcp".to_owned(),
        "http://10.0.0.1/mcp".to_owned(),
        "file:///etc/passwd".to_owned(),
        "data:text/plain,hello".to_owned(),
        "javascript:alert(1)".to_owned(),
        "gopher://127.0.0.1/".to_owned(),
    ]
}

#[tokio::test]
async fn no_redirect_leads_to_another_origin() {
    let there = Scripted::recording().await;
    let mut tried = 0;
    for status in [300, 301, 302, 303, 304, 305, 307, 308] {
        for number in 0.. {
            let target = elsewheres("127.0.0.1:1", there.authority());
            let Some(location) = target.get(number).cloned() else {
                break;
            };
            let here = redirecting("tools/call", status, location.clone(), Era::Modern).await;
            let session = Session::connect(&carrying(here.url()), options(Era::Modern)).await;
            let error = echo(&session.unwrap()).await.unwrap_err();
            let what = fault(&error);
            let refused = matches!(what, Some((FaultKind::Redirect { status: found, .. }, _)) if *found == status);
            assert!(refused, "{status} {location:?}: {error:?}");
            assert_eq!(here.count("tools/call"), 1, "{location:?}");
            tried += 1;
        }
    }
    assert!(tried >= 300, "{tried}");
    assert_eq!(there.whats(), Vec::<String>::new());
}

#[tokio::test]
async fn neither_does_one_of_anything_else_that_is_asked() {
    let there = Scripted::recording().await;
    for what in [
        "initialize",
        "notifications/initialized",
        "GET",
        "DELETE",
        "tools/list",
        "server/discover",
    ] {
        for status in [301, 302, 303, 307, 308] {
            let era = match what {
                "server/discover" => Era::Modern,
                _ => Era::Legacy,
            };
            let here = redirecting(what, status, there.url().to_owned(), era).await;
            if let Ok(session) = Session::connect(&carrying(here.url()), options(era)).await {
                drop(session.list_tools().await);
                drop(echo(&session).await);
                session.close().await;
            }
            if what != "GET" {
                assert!(here.count(what) >= 1, "{what}");
            }
        }
    }
    assert_eq!(there.whats(), Vec::<String>::new());
}

#[tokio::test]
async fn a_redirect_within_the_origin_takes_headers_and_body_along() {
    for status in [307, 308] {
        for location in [
            "/other",
            "other",
            "?moved",
            "//HOST/other",
            // With the scheme of where we are, this is a path.
            "http:/other",
            "http://HOST/other",
        ] {
            let server = Scripted::new(move |asked: &Asked| {
                let host = asked.header("host").unwrap_or_default().to_owned();
                let moves = asked.what() == "tools/call" && asked.path == "/mcp";
                Some(match moves {
                    true => Reply::new(status).header("location", &location.replace("HOST", &host)),
                    false => asked.modern(),
                })
            })
            .await;
            let session = Session::connect(&carrying(server.url()), options(Era::Modern)).await;
            assert_eq!(echo(&session.unwrap()).await.unwrap(), "done", "{location}");
            let asked = server.asked();
            let [.., first, second] = asked.as_slice() else {
                panic!("{asked:?}");
            };
            assert_eq!(second.verb, "POST");
            assert_eq!(first.body, second.body);
            assert_eq!(second.header("authorization"), Some(CANARY));
            assert_eq!(second.header("mcp-method"), Some("tools/call"));
        }
    }
}

#[tokio::test]
async fn a_chain_of_redirects_ends_after_five() {
    for hops in [5_usize, 6] {
        let server = Scripted::new(move |asked: &Asked| {
            let hop: usize = asked.path.trim_start_matches("/hop").parse().unwrap_or(0);
            let moves = asked.what() == "tools/call" && hop < hops;
            Some(match moves {
                true => Reply::new(307).header("location", &format!("/hop{}", hop + 1)),
                false => asked.modern(),
            })
        })
        .await;
        let session = Session::connect(&carrying(server.url()), options(Era::Modern)).await;
        let called = echo(&session.unwrap()).await;
        assert_eq!(called.is_ok(), hops == 5, "{called:?}");
        assert_eq!(server.count("tools/call"), 6);
    }
}

#[tokio::test]
async fn the_older_transport_posts_to_its_own_origin_only() {
    let there = Scripted::recording().await;
    for number in 0.. {
        let Some(endpoint) = elsewheres("127.0.0.1:1", there.authority())
            .get(number)
            .cloned()
        else {
            break;
        };
        // Blanks around it are no part of an address in a field of an event.
        let named = endpoint.trim().replace('\t', "");
        let here = Scripted::new(move |asked| {
            Some(match asked.verb.as_str() {
                "GET" => Reply::stream(&format!("event: endpoint\ndata: {named}\n\n")).unfinished(),
                _ => Reply::new(405),
            })
        })
        .await;
        let header = Header::parse(&format!("Authorization: {CANARY}")).unwrap();
        let sse = LegacySse::new(here.url()).unwrap().limits(&limits());
        let sse = sse.header(header).unwrap();
        let begun = tokio::time::Instant::now();
        let error = Session::connect(&sse, options(Era::Legacy))
            .await
            .unwrap_err();
        let OpenError::Handshake { error, .. } = &error else {
            panic!("{endpoint:?}: {error:?}");
        };
        // It is found out at once, not when time is up.
        assert!(
            !error.is_timeout() && begun.elapsed() < http::SOON,
            "{endpoint:?}: {error:?}"
        );
        assert!(
            here.asked().iter().all(|asked| asked.verb == "GET"),
            "{endpoint:?}"
        );
    }
    assert_eq!(there.whats(), Vec::<String>::new());
}

#[tokio::test]
async fn the_older_transport_posts_wherever_its_origin_says() {
    for endpoint in [
        "/messages?id=1",
        "messages?id=1",
        "?id=1",
        "//HOST/messages",
        "http://HOST/messages",
    ] {
        let server = Scripted::new(move |asked: &Asked| {
            let host = asked.header("host").unwrap_or_default().to_owned();
            let endpoint = endpoint.replace("HOST", &host);
            Some(match asked.verb.as_str() {
                "GET" => {
                    Reply::stream(&format!("event: endpoint\ndata: {endpoint}\n\n")).unfinished()
                }
                _ => Reply::new(202),
            })
        })
        .await;
        let sse = LegacySse::new(server.url()).unwrap().limits(&limits());
        let brief = switchboard::Timeouts::all(switchboard::Deadline::within(
            std::time::Duration::from_millis(500),
        ));
        // It answers nothing, but it is asked.
        Session::connect(&sse, options(Era::Legacy).timeouts(brief))
            .await
            .unwrap_err();
        assert!(
            server.count("initialize") >= 1,
            "{endpoint}: {:?}",
            server.asked()
        );
    }
}

#[tokio::test]
async fn a_person_who_names_a_link_local_or_metadata_address_is_told_at_once() {
    for url in [
        "http://169.254.169.254/mcp",
        "http://169.254.0.1/mcp",
        "https://169.254.169.254/latest/meta-data/",
        "http://0xa9fea9fe/mcp",
        "http://2852039166/mcp",
        "http://0251.0376.0251.0376/mcp",
        "http://169.254.43518/mcp",
        "http://[fe80::1]/mcp",
        "http://[fe80::a9fe:a9fe]/mcp",
        "http://[::ffff:169.254.169.254]/mcp",
        "http://[::ffff:a9fe:a9fe]/mcp",
        "http://[64:ff9b::a9fe:a9fe]/mcp",
        "http://[2002:a9fe:a9fe::1]/mcp",
        "http://[fd00:ec2::254]/mcp",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://METADATA.google.internal./computeMetadata/v1/",
        "http://0.0.0.0/mcp",
        "http://[::]/mcp",
        "http://224.0.0.1/mcp",
    ] {
        let (http, sse) = (Http::new(url).err(), LegacySse::new(url).err());
        assert!(
            matches!(http, Some(HttpError::Forbidden(_))),
            "{url}: {http:?}"
        );
        assert!(
            matches!(sse, Some(HttpError::Forbidden(_))),
            "{url}: {sse:?}"
        );
    }
    for url in [
        "ftp://example.com/",
        "file:///etc/passwd",
        "not a url",
        "http://",
        "https:///mcp",
    ] {
        assert!(Http::new(url).is_err() || url == "https:///mcp", "{url}");
    }
    // Their own network is theirs to name.
    for url in [
        "http://127.0.0.1:1/mcp",
        "http://localhost/mcp",
        "http://10.1.2.3/mcp",
        "http://[::1]/mcp",
        "https://example.com/mcp",
    ] {
        Http::new(url).unwrap();
    }
}
