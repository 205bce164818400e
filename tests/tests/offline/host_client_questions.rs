//! Questions, progress and log messages of servers that clients share: each reaches the client whose
//! call it belongs to, or no client.

use std::sync::{Arc, Mutex};

use serde_json::json;
use switchboard::CallOptions;
use switchboard::host::{
    Caller, ClientConnections, ClientOptions, ClientSink, Host, Logs, Said, Sharing, View,
};
use switchboard::protocol::{ClientCapabilities, InputRequest, LogLevel, Raw};
use switchboard::session::{
    CallNotice, CallQueueLimits, Callbacks, Respond, Responding, call_queue,
};
use switchboard::spec::{Protocol, ServerName, ServerSpec};
use switchboard::transport::Watched;
use switchboard_testkit::Options;
use switchboard_testkit::http::Http as TestServer;
use tokio::sync::Barrier;
use tokio::time::timeout;

use crate::host_support::PATIENCE;
use crate::host_support::asker::{Named, asker, builder, forms};
use crate::support::http_script::{Asked, Reply, Scripted};

fn view(host: &Host, client: &ClientConnections) -> View {
    host.view(Caller::owner()).with_connections(client)
}

async fn call(view: &View, tool: &str) -> String {
    let call = view.call(tool, json!({})).into_future();
    timeout(PATIENCE, call).await.unwrap().unwrap().text()
}

/// Waits until the server has received a message with that method, or an answer if there is none.
async fn received(heard: &mut tokio::sync::mpsc::UnboundedReceiver<serde_json::Value>, tool: &str) {
    loop {
        let message = timeout(PATIENCE, heard.recv()).await.unwrap().unwrap();
        if message["params"]["name"] == tool || message["method"] == tool {
            return;
        }
    }
}

#[tokio::test]
async fn a_question_goes_to_the_client_that_calls_and_then_each_has_its_own() {
    let (memory, connections, _) = asker();
    let host = builder(memory).build().unwrap();
    let (ada, bob) = (Named::new("ada"), Named::new("bob"));
    let [of_ada, of_bob] = [&ada, &bob].map(|client| client.connect(&host));
    let (ada_view, bob_view) = (view(&host, &of_ada), view(&host, &of_bob));
    assert_eq!(call(&ada_view, "one/who").await, "1");
    assert_eq!(call(&bob_view, "one/who").await, "1");
    let answer = call(&ada_view, "one/ask").await;
    assert_eq!(answer, r#"{"action":"accept","content":{"name":"ada"}}"#);
    assert_eq!((ada.asked().len(), bob.asked().len()), (1, 0));
    // From now on nobody shares it.
    assert_eq!(call(&bob_view, "one/who").await, "2");
    let answer = call(&bob_view, "one/ask").await;
    assert_eq!(answer, r#"{"action":"accept","content":{"name":"bob"}}"#);
    assert_eq!(call(&ada_view, "one/who").await, "3");
    assert_eq!((ada.asked().len(), bob.asked().len()), (1, 1));
    assert_eq!(connections.started(), 3);
}

#[tokio::test]
async fn a_question_amid_calls_of_two_clients_reaches_neither() {
    let (memory, _, mut heard) = asker();
    let host = builder(memory).build().unwrap();
    let (ada, bob) = (Named::new("ada"), Named::new("bob"));
    let [of_ada, of_bob] = [&ada, &bob].map(|client| client.connect(&host));
    let (ada_view, bob_view) = (view(&host, &of_ada), view(&host, &of_bob));
    let held = tokio::spawn({
        let view = bob_view.clone();
        async move { call(&view, "one/hold").await }
    });
    received(&mut heard, "hold").await;
    let answer = call(&ada_view, "one/ask").await;
    assert!(
        answer.contains("it is not known which client is asked"),
        "{answer}"
    );
    assert!(ada.asked().is_empty() && bob.asked().is_empty());
    // The shared connection goes on for what is in flight there.
    assert_eq!(
        host.call("one/release", json!({})).await.unwrap().text(),
        "released"
    );
    assert_eq!(held.await.unwrap(), "held");
    assert_eq!(call(&ada_view, "one/who").await, "2");
}

#[tokio::test]
async fn after_a_call_was_given_up_a_question_reaches_no_client() {
    let (memory, _, mut heard) = asker();
    let host = builder(memory).build().unwrap();
    let (ada, bob) = (Named::new("ada"), Named::new("bob"));
    let [of_ada, of_bob] = [&ada, &bob].map(|client| client.connect(&host));
    let view_of_bob = view(&host, &of_bob);
    {
        let mut held = std::pin::pin!(view_of_bob.call("one/hold", json!({})).into_future());
        tokio::select! {
            _ = &mut held => panic!("it was not released"),
            () = received(&mut heard, "hold") => {}
        }
    }
    received(&mut heard, "notifications/cancelled").await;
    let answer = call(&view(&host, &of_ada), "one/ask").await;
    assert!(
        answer.contains("it is not known which client is asked"),
        "{answer}"
    );
    assert!(ada.asked().is_empty() && bob.asked().is_empty());
}

#[tokio::test]
async fn a_question_that_is_open_ends_with_its_call() {
    let (memory, _, mut heard) = asker();
    let host = builder(memory).build().unwrap();
    let mut ada = Named::new("ada");
    ada.is_silent = true;
    let client = ada.connect(&host);
    {
        let view = view(&host, &client);
        let mut asking = std::pin::pin!(view.call("one/ask", json!({})).into_future());
        tokio::select! {
            _ = &mut asking => panic!("it was not answered"),
            () = received(&mut heard, "ask") => {}
        }
        // The question is in the client's hands before the call ends.
        while ada.asked().is_empty() {
            tokio::select! {
                _ = &mut asking => panic!("it was not answered"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    timeout(PATIENCE, ada.dropped.notified()).await.unwrap();
    loop {
        let message = timeout(PATIENCE, heard.recv()).await.unwrap().unwrap();
        if message["id"] == "q" {
            assert_eq!(message["error"]["message"], "the call is over");
            break;
        }
    }
}

#[tokio::test]
async fn a_client_is_not_asked_what_it_did_not_declare() {
    let (memory, _, _) = asker();
    let host = builder(memory).build().unwrap();
    let client = host.client_connections(ClientOptions::default());
    let answer = call(&view(&host, &client), "one/ask").await;
    assert!(answer.contains("not available here"), "{answer}");
}

/// Answers with the address that it is sent to, once both clients were asked.
struct Visitor(Arc<Barrier>, Arc<Mutex<Vec<String>>>);

impl Respond for Visitor {
    fn capabilities(&self) -> ClientCapabilities {
        forms()
    }

    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a> {
        Box::pin(async move {
            if let InputRequest::Elicit(question) = request {
                let url = question.url().unwrap_or_default().to_owned();
                self.1.lock().unwrap().push(url);
            }
            self.0.wait().await;
            Ok(Raw::parse(r#"{"action":"accept"}"#).unwrap())
        })
    }
}

#[tokio::test]
async fn over_http_the_stream_of_a_call_tells_whose_question_it_is() {
    let mut options = Options::default();
    options.talking = true;
    let server = TestServer::new(options).serve().await.unwrap();
    let spec = ServerSpec::http("one", &server.url()).unwrap();
    let host = Host::builder().server(spec).protocol(Protocol::Legacy);
    let host = host.client_capabilities(forms()).build().unwrap();
    host.set_sharing("one", Sharing::Shared).unwrap();
    host.connect("one").await.unwrap();
    let barrier = Arc::new(Barrier::new(2));
    let visit = async |name: &str| {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let mut options = ClientOptions::default();
        options.respond = Arc::new(Visitor(Arc::clone(&barrier), Arc::clone(&seen)));
        let client = host.client_connections(options);
        let url = format!("https://example.com/{name}");
        let view = view(&host, &client);
        let called = view.call("one/visit", json!({"url": url})).into_future();
        let result = timeout(PATIENCE, called).await.unwrap().unwrap();
        assert!(!result.is_error(), "{}", result.text());
        assert_eq!(client.open(), 0);
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen, [url]);
    };
    tokio::join!(visit("ada"), visit("bob"));
}

#[tokio::test]
async fn every_progress_of_a_call_reaches_its_sink_as_it_was_written() {
    let (memory, _, _) = asker();
    let host = builder(memory).build().unwrap();
    let (queue, mut reader) = call_queue(CallQueueLimits::default());
    let mut options = CallOptions::default();
    options.callbacks = Some(Arc::new(Callbacks::default().sink(queue)));
    let report = host.call("one/report", json!({})).options(options);
    assert_eq!(report.await.unwrap().text(), "reported");
    let mut steps = Vec::new();
    while let Some(CallNotice::Progress(params)) = reader.next_now() {
        assert!(params.as_str().starts_with(r#"{"progress":"#));
        steps.push(params.member("progress").unwrap().as_str().to_owned());
    }
    assert_eq!(
        (steps, reader.shed()),
        (["1.0", "2", "2", "3.50"].map(str::to_owned).to_vec(), 0)
    );
}

async fn next_message(logs: &mut Logs) -> (Raw, bool) {
    loop {
        let log = timeout(PATIENCE, logs.next()).await.unwrap().unwrap();
        if let Watched::Item(log) = log
            && let Said::Message { data, .. } = log.said
        {
            return (data, log.is_relayed);
        }
    }
}

#[tokio::test]
async fn a_log_on_the_stream_of_a_call_reaches_its_sink_and_the_owner() {
    let server = Scripted::new(|asked: &Asked| {
        if asked.what() != "tools/call" {
            return Some(asked.modern());
        }
        let id = asked.json()["id"].clone();
        let level = &asked.json()["params"]["_meta"]["io.modelcontextprotocol/logLevel"];
        let log = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":1.50,"level":{level}}}}}"#
        );
        let result = json!({"resultType": "complete", "content": []});
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
        Some(Reply::stream(&format!("data: {log}\n\ndata: {answer}\n\n")))
    })
    .await;
    let http = switchboard::transport::Http::new(server.url()).unwrap();
    let server = switchboard::Server::new(
        ServerName::parse("one").unwrap(),
        http,
        switchboard::SessionOptions::default().protocol(Protocol::Modern),
    );
    let (queue, mut reader) = call_queue(CallQueueLimits::default());
    let mut options = CallOptions::default();
    options.log_level = Some(LogLevel::Notice);
    options.meta = Some(
        Raw::parse(r#"{"traceparent":"00-1","io.modelcontextprotocol/logLevel":"debug"}"#).unwrap(),
    );
    options.callbacks = Some(Arc::new(Callbacks::default().sink(queue)));
    server.call_tool("do", None, options).await.unwrap();
    let params = Raw::parse(r#"{"data":1.50,"level":"notice"}"#).unwrap();
    assert_eq!(reader.next().await, Some(CallNotice::Log(params)));
    assert_eq!(reader.next().await, None);
}

/// Keeps what a client's own connections log.
#[derive(Default)]
struct Kept(Mutex<Vec<String>>);

impl ClientSink for Kept {
    fn log(&self, server: &ServerName, params: &Raw) {
        let data = params.member("data").unwrap();
        self.0
            .lock()
            .unwrap()
            .push(format!("{server}: {}", data.as_str()));
    }
}

#[tokio::test]
async fn logs_of_an_own_connection_go_to_its_client_and_are_marked_for_the_owner() {
    let (memory, _, _) = asker();
    let host = builder(memory).build().unwrap();
    host.set_sharing("one", Sharing::PerClient).unwrap();
    let mut logs = host.logs();
    let kept = Arc::new(Kept::default());
    let mut options = ClientOptions::default();
    options.log_sink = Some(Arc::clone(&kept) as Arc<dyn ClientSink>);
    let client = host.client_connections(options);
    call(&view(&host, &client), "one/report").await;
    let (data, is_relayed) = next_message(&mut logs).await;
    assert_eq!((data.as_str(), is_relayed), ("2", true));
    assert_eq!(*kept.0.lock().unwrap(), ["one: 2"]);
    assert_eq!(
        host.call("one/report", json!({})).await.unwrap().text(),
        "reported"
    );
    let (data, is_relayed) = next_message(&mut logs).await;
    assert_eq!((data.as_str(), is_relayed), ("1", false));
}
