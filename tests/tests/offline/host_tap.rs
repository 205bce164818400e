//! What a tap tells of the wire: everything, in order, once, and no secrets.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use switchboard::host::{Caller, Host};
use switchboard::secret::Redactor;
use switchboard::session::{Session, SessionOptions};
use switchboard::spec::{Endpoint, Protocol, ServerSpec, TransportKind};
use switchboard::transport::{Memory, Message, Tap, TapLimits, Watched, Way, Wire};
use switchboard_testkit::http::{Answers, Http as TestServer, Server, Transport};
use switchboard_testkit::{Eras, Options};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::host_support::{With as _, call, faulty, name, scripted, testkit, usual};

const SECRET: &str = "correct-horse-battery-staple";

/// What really went over, by direction.
#[derive(Clone, Default)]
struct Really(Arc<Mutex<[Vec<String>; 2]>>);

impl Really {
    fn lines(&self) -> [Vec<String>; 2] {
        self.0.lock().unwrap().clone()
    }
}

/// Hands lines on and notes them first.
async fn forward(
    from: impl tokio::io::AsyncRead + Unpin,
    mut to: impl tokio::io::AsyncWrite + Unpin,
    really: Really,
    at: usize,
) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        really.0.lock().unwrap()[at].push(line.clone());
        if to.write_all(format!("{line}\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The bundled server, with somebody between who notes every line.
fn noted(faults: &[&str], eras: Eras) -> (Memory, Really) {
    let mut options = Options::default();
    options.eras = eras;
    options.chaos = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    let really = Really::default();
    let kept = really.clone();
    let memory = Memory::new("noted", move |input, output| {
        let (options, really) = (options.clone(), kept.clone());
        async move {
            let (to_server, served) = tokio::io::duplex(1024);
            let (serving, from_server) = tokio::io::duplex(1024);
            let there = async {
                forward(input, to_server, really.clone(), 0).await;
                // The server may still have something to say.
                std::future::pending::<()>().await;
            };
            let serve = switchboard_testkit::serve(served, serving, options);
            tokio::select! {
                () = there => {}
                _ = async { tokio::join!(serve, forward(from_server, output, really.clone(), 1)) } => {}
            }
        }
    });
    (memory, really)
}

/// All that was told and not read yet, and how much was missed.
fn told(wire: &mut Wire) -> (Vec<Message>, u64) {
    let (mut messages, mut all_missed) = (Vec::new(), 0);
    while let Some(passed) = wire.next_now() {
        match passed {
            Watched::Item(message) => messages.push(message),
            Watched::Missed(missed) => all_missed += missed,
        }
    }
    (messages, all_missed)
}

fn texts(messages: &[Message], way: Way) -> Vec<String> {
    let of_way = messages.iter().filter(|message| message.way == way);
    of_way.map(|message| message.text.clone()).collect()
}

/// Of each request whether it was told before its answer.
fn is_in_order(messages: &[Message]) -> bool {
    let id = |message: &Message| -> Option<Value> {
        let value: Value = serde_json::from_str(&message.text).ok()?;
        // Who cannot read a request answers to nobody.
        value.get("id").filter(|id| !id.is_null()).cloned()
    };
    messages.iter().enumerate().all(|(at, message)| {
        let before = &messages[..at];
        message.way != Way::Received
            || id(message).is_none_or(|answered| {
                let mut asked = before.iter().filter(|earlier| earlier.way == Way::Sent);
                asked.any(|asked| id(asked).as_ref() == Some(&answered))
            })
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn every_line_is_told_once_and_in_order_in_either_era() {
    for eras in [Eras::Legacy, Eras::Modern] {
        let (memory, really) = noted(&["log-flood=500@add"], eras);
        let (tap, mut wire) = Tap::new(&TapLimits::default());
        let host = Host::builder().tap(&tap).with("one", memory);
        let host = host.build().unwrap();
        host.connect("one").await.unwrap();
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..50 {
            let host = host.clone();
            calls.spawn(async move {
                let words = format!("number {number}");
                assert_eq!(
                    call(&host, "one/echo", json!({"message": words})).await,
                    words
                );
            });
        }
        calls.join_all().await;
        call(&host, "one/add", json!({"a": 1, "b": 2})).await;
        host.shutdown().await;
        let (messages, missed) = told(&mut wire);
        let [sent, received] = really.lines();
        assert_eq!(missed, 0);
        assert!(received.len() > 550, "{}", received.len());
        assert_eq!(texts(&messages, Way::Sent), sent);
        let heard = texts(&messages, Way::Received);
        // What a server says last may come when nobody reads any more.
        let read = received.len().saturating_sub(1).max(heard.len());
        assert_eq!(heard, received[..read]);
        assert!(is_in_order(&messages));
        assert!(messages.is_sorted_by_key(|message| message.at));
        assert!(messages.iter().all(|message| message.server == name("one")));
        drop((host, tap));
        assert_eq!(wire.next().await, None);
    }
}

#[tokio::test]
async fn what_nobody_reads_is_dropped_oldest_first_and_counted_to_the_last() {
    let (memory, really) = noted(&["log-flood=100000@echo"], Eras::Legacy);
    let mut bounds = TapLimits::default();
    bounds.messages = 100;
    let (tap, mut wire) = Tap::new(&bounds);
    let host = Host::builder().tap(&tap).with("one", memory);
    let host = host.build().unwrap();
    call(&host, "one/echo", json!({"message": "hello"})).await;
    host.shutdown().await;
    let (messages, missed) = told(&mut wire);
    let [sent, received] = really.lines();
    assert_eq!(messages.len(), 100);
    assert_eq!(missed, (sent.len() + received.len() - 100) as u64);
    assert!(missed > 99_000, "{missed}");
    let last = texts(&messages, Way::Received);
    assert_eq!(last, received[received.len() - last.len()..]);
}

#[tokio::test]
async fn a_message_at_the_limit_is_whole_and_a_longer_one_is_cut_and_measured() {
    let (tap, mut wire) = Tap::new(&{
        let mut bounds = TapLimits::default();
        bounds.text_bytes = 300;
        bounds
    });
    let lines = [299, 300, 301, 100_000].map(|size| format!("[\"{}\"]", "x".repeat(size - 4)));
    let said = lines.clone();
    let memory = Memory::new("long", move |_, mut output| {
        let said = said.clone();
        async move {
            for line in said {
                output
                    .write_all(format!("{line}\n").as_bytes())
                    .await
                    .unwrap();
            }
        }
    });
    let tapped = tap.on(&name("long"), memory, Redactor::new());
    let options = SessionOptions::default().protocol(Protocol::Legacy);
    Session::connect(&tapped, options).await.unwrap_err();
    let (messages, _) = told(&mut wire);
    let received = messages
        .iter()
        .filter(|message| message.way == Way::Received);
    let received: Vec<_> = received
        .map(|message| (message.text.clone(), message.cut_from))
        .collect();
    let cut = |line: &str| line[..300].to_owned();
    assert_eq!(
        received,
        [
            (lines[0].clone(), None),
            (lines[1].clone(), None),
            (cut(&lines[2]), Some(301)),
            (cut(&lines[3]), Some(100_000)),
        ]
    );
}

fn remote(server: &Server, transport: TransportKind) -> ServerSpec {
    let url = format!("{}?key={SECRET}", server.url());
    let spec = ServerSpec::http("far", &url).unwrap();
    let mut spec = spec.header("Authorization", format!("Bearer {SECRET}2"));
    if let Endpoint::Remote(remote) = &mut spec.endpoint {
        remote.transport = transport;
    }
    spec
}

async fn server(eras: Eras, answers: Answers, transport: Transport) -> Server {
    let mut options = Options::default();
    options.eras = eras;
    let server = TestServer::new(options).answers(answers);
    server.transport(transport).serve().await.unwrap()
}

#[tokio::test]
async fn bodies_and_events_are_told_over_http_and_no_secret_of_the_address_or_the_headers() {
    for (eras, answers, transport, kind) in [
        (
            Eras::Legacy,
            Answers::Json,
            Transport::Streamable,
            TransportKind::Http,
        ),
        (
            Eras::Legacy,
            Answers::Sse,
            Transport::Streamable,
            TransportKind::Http,
        ),
        (
            Eras::Modern,
            Answers::Json,
            Transport::Streamable,
            TransportKind::Http,
        ),
        (
            Eras::Modern,
            Answers::Sse,
            Transport::Streamable,
            TransportKind::Http,
        ),
        (
            Eras::Legacy,
            Answers::Auto,
            Transport::Sse,
            TransportKind::Sse,
        ),
        // The server knows nothing but the older one: the other way is tapped as well.
        (
            Eras::Legacy,
            Answers::Auto,
            Transport::Sse,
            TransportKind::Http,
        ),
    ] {
        let server = server(eras, answers, transport).await;
        let (tap, mut wire) = Tap::new(&TapLimits::default());
        let host = Host::builder().tap(&tap).server(remote(&server, kind));
        let host = host.build().unwrap();
        let words = format!("is it {SECRET}2?");
        call(&host, "far/echo", json!({ "message": words })).await;
        host.shutdown().await;
        let (messages, missed) = told(&mut wire);
        assert_eq!(missed, 0);
        let shown = format!("{messages:?}");
        assert!(!shown.contains("horse"), "{shown}");
        assert!(!shown.to_lowercase().contains("bearer"), "{shown}");
        // What the server got is what was told that it was sent.
        let got = server.requests();
        let mut got: Vec<(String, String)> = got
            .iter()
            .map(|request| {
                let body = String::from_utf8(request.body.clone()).unwrap();
                let body = body.replace(&format!("{SECRET}2"), "***");
                (request.method.clone(), body)
            })
            .collect();
        let sent = messages.iter().filter(|message| message.way == Way::Sent);
        let mut sent: Vec<(String, String)> = sent
            .map(|message| {
                (
                    message.http.unwrap().method.to_owned(),
                    message.text.clone(),
                )
            })
            .collect();
        got.sort();
        sent.sort();
        assert_eq!(sent, got);
        assert!(is_in_order(&messages), "{shown}");
        let statuses = messages
            .iter()
            .filter(|message| message.way == Way::Received)
            .map(|message| message.http.unwrap().status.unwrap());
        assert!(statuses.clone().any(|status| status == 200), "{shown}");
        let answers = texts(&messages, Way::Received);
        let echoed = answers.iter().filter(|text| text.contains("is it ***?"));
        assert_eq!(echoed.count(), 1, "{shown}");
        if transport == Transport::Sse {
            assert!(
                answers.iter().any(|text| text == "/messages?***"),
                "{shown}"
            );
        }
    }
}

#[tokio::test]
async fn what_a_server_that_refuses_says_is_told_too() {
    let mut options = Options::default();
    options.chaos = vec!["status=418@echo".parse().unwrap()];
    let server = TestServer::new(options).serve().await.unwrap();
    let (tap, mut wire) = Tap::new(&TapLimits::default());
    let spec = remote(&server, TransportKind::Http);
    let host = Host::builder().tap(&tap).server(spec).build().unwrap();
    let echo = host.view(Caller::owner()).find("far/echo").await.unwrap();
    echo.call(json!({"message": "hi"})).await.unwrap_err();
    let (messages, _) = told(&mut wire);
    let statuses: Vec<_> = messages
        .iter()
        .filter_map(|message| message.http.unwrap().status)
        .collect();
    assert!(statuses.contains(&418), "{messages:?}");
}

#[tokio::test]
async fn a_wire_that_is_dropped_stops_nobody() {
    let (tap, wire) = Tap::new(&TapLimits::default());
    drop(wire);
    let host = Host::builder().tap(&tap);
    let host = host
        .with("one", testkit(Options::default()))
        .build()
        .unwrap();
    assert_eq!(
        call(&host, "one/echo", json!({"message": "hi"})).await,
        "hi"
    );
}

#[tokio::test]
async fn servers_are_told_apart_and_noise_is_told_too() {
    let (tap, mut wire) = Tap::new(&TapLimits::default());
    let (good, _) = scripted(|method, _| Some(usual(method)));
    let host = Host::builder()
        .tap(&tap)
        .with("good", good)
        .with("bad", faulty(&["noise-before=3"]));
    let host = host.build().unwrap();
    host.connect_all().await;
    let (messages, _) = told(&mut wire);
    for server in ["good", "bad"] {
        let of_it = messages.iter().filter(|one| one.server == name(server));
        let of_it: Vec<_> = of_it.cloned().collect();
        assert!(!texts(&of_it, Way::Sent).is_empty());
        let received = texts(&of_it, Way::Received);
        let is_noise = |text: &&String| !text.starts_with('{');
        let noise = received.iter().filter(is_noise).count();
        assert_eq!(noise, if server == "bad" { 3 } else { 0 }, "{received:?}");
    }
}

#[tokio::test]
async fn secrets_that_only_the_program_knows_are_kept_out_too() {
    let (tap, mut wire) = Tap::new(&TapLimits::default());
    let known: Redactor = [SECRET].into_iter().collect();
    let host = Host::builder().tap(&tap).secrets(&known);
    let host = host.with("one", testkit(Options::default()));
    let host = host.build().unwrap();
    let words = format!("is it {SECRET}?");
    assert_eq!(
        call(&host, "one/echo", json!({ "message": words })).await,
        words
    );
    let (messages, _) = told(&mut wire);
    let shown = format!("{messages:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    assert_eq!(shown.matches("is it ***?").count(), 2, "{shown}");
}
