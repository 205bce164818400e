//! Servers whose lists change while somebody is connected: subscriptions and how they end, in the
//! modern era; what is said unasked, in the legacy one. Over pipes and over HTTP.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard::protocol::{
    Era, FromRaw, Listen, ListenParams, ListenResult, Raw, RequestId, ResourceParams,
    ResourceUpdatedParams, Subscribe, SubscriptionFilter, SubscriptionsAcknowledgedParams, meta,
};
use switchboard::session::{CloseCause, Session};
use switchboard::transport::{FaultKind, Memory};
use switchboard::{CallError, CallOptions, Deadline};
use switchboard_testkit::Options;
use switchboard_testkit::http::{Http, Server, Transport};
use tokio::task::JoinHandle;

use crate::support;
use crate::support::http::{self, call, options, requests_of};

/// A session with a server that can change, over pipes or over HTTP.
struct Pair {
    session: Session,
    server: Option<Server>,
}

fn growing() -> Options {
    Options {
        growing: true,
        ..Options::default()
    }
}

fn pipes(options: Options) -> Memory {
    Memory::new("testkit", move |input, output| {
        let options = options.clone();
        async move {
            let served = switchboard_testkit::serve(input, output, options);
            served.await.unwrap();
        }
    })
}

async fn over_pipes(era: Era) -> Pair {
    let server = pipes(growing());
    let session = Session::connect(&server, options(era));
    Pair {
        session: session.await.unwrap(),
        server: None,
    }
}

async fn over_http(era: Era) -> Pair {
    let server = Http::new(growing()).serve().await.unwrap();
    Pair {
        session: http::connect(&server, era).await,
        server: Some(server),
    }
}

/// The same over both.
async fn both(era: Era) -> [Pair; 2] {
    [over_pipes(era).await, over_http(era).await]
}

impl Pair {
    async fn call(&self, tool: &str, arguments: Value) -> String {
        call(&self.session, tool, arguments).await.unwrap()
    }

    /// The next announcement, which has to be this one.
    async fn announced(&self, method: &str) -> Raw {
        let announcement = self.session.announcement().await.unwrap();
        assert_eq!(announcement.method, method);
        announcement.params.unwrap_or_else(Raw::empty_object)
    }

    async fn updated(&self) -> String {
        let params = self.announced("notifications/resources/updated").await;
        let params = ResourceUpdatedParams::from_raw(&params).unwrap();
        params.uri().to_owned()
    }

    /// Listens, for as long as there is anything to hear, and waits until the server agrees.
    async fn listen(&self, wishes: SubscriptionFilter) -> Listening {
        let session = self.session.clone();
        let params = ListenParams {
            notifications: wishes,
        };
        let task = tokio::spawn(async move {
            let options = CallOptions::default().deadline(Deadline::within(Duration::MAX));
            session.request::<Listen>(&params, options).await
        });
        let method = "notifications/subscriptions/acknowledged";
        let params = self.announced(method).await;
        let params = SubscriptionsAcknowledgedParams::from_raw(&params).unwrap();
        Listening {
            id: params.subscription_id().unwrap(),
            granted: params.notifications().clone(),
            task,
        }
    }

    /// Waits until that many subscriptions are open.
    async fn until_listening(&self, count: &str) {
        while self.call("listening", json!({})).await != count {
            tokio::task::yield_now().await;
        }
    }

    /// Listens, has the server end it, and returns what becomes of the request.
    async fn ended(&self, how: &str) -> (RequestId, Result<ListenResult, CallError>) {
        let listening = self.listen(tools()).await;
        self.call("end_listening", json!({"how": how})).await;
        let ended = tokio::time::timeout(http::SOON, listening.task).await;
        (listening.id, ended.unwrap().unwrap())
    }

    async fn offers(&self, name: &str) -> bool {
        let tools = self.session.list_tools().await.unwrap();
        tools.items.iter().any(|tool| tool.name() == name)
    }
}

struct Listening {
    id: RequestId,
    granted: SubscriptionFilter,
    task: JoinHandle<Result<ListenResult, CallError>>,
}

fn tools() -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: true,
        ..SubscriptionFilter::default()
    }
}

fn everything() -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: true,
        prompts_list_changed: true,
        resources_list_changed: true,
        resource_subscriptions: vec!["file:///data".to_owned()],
        ..SubscriptionFilter::default()
    }
}

#[tokio::test]
async fn who_listens_is_told_of_every_kind_of_change() {
    for pair in both(Era::Modern).await {
        let mut changes = pair.session.changes();
        let listening = pair.listen(everything()).await;
        assert_eq!(listening.granted, everything());
        let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let new = json!({"name": "new", "description": "New.", "schema": schema});
        pair.call("add_tool", new).await;
        changes.wait_for(|seen| seen.tools == 1).await.unwrap();
        assert!(pair.offers("new").await);
        assert_eq!(pair.call("new", json!({"a": 1})).await, "new: {\"a\":1}");
        let changed = json!({"name": "new", "description": "Newer."});
        pair.call("change_tool", changed).await;
        changes.wait_for(|seen| seen.tools == 2).await.unwrap();
        let listed = pair.session.list_tools().await.unwrap();
        let new = listed.items.iter().find(|tool| tool.name() == "new");
        assert_eq!(new.unwrap().description(), Some("Newer."));
        pair.call("remove_tool", json!({"name": "new"})).await;
        changes.wait_for(|seen| seen.tools == 3).await.unwrap();
        assert!(!pair.offers("new").await);
        pair.call("remove_prompt", json!({"name": "greeting"}))
            .await;
        changes.wait_for(|seen| seen.prompts == 1).await.unwrap();
        let new = json!({"uri": "file:///new", "text": "one"});
        pair.call("add_resource", new).await;
        changes.wait_for(|seen| seen.resources == 1).await.unwrap();
        assert!(!listening.task.is_finished());
    }
}

#[tokio::test]
async fn a_resource_and_what_is_below_it_are_told_of_by_their_own_names() {
    for pair in both(Era::Modern).await {
        let _listening = pair.listen(everything()).await;
        for uri in ["file:///database", "file:///data", "file:///data/users.csv"] {
            let touched = json!({"uri": uri, "text": "id,name\n"});
            pair.call("touch_resource", touched).await;
        }
        assert_eq!(pair.updated().await, "file:///data");
        assert_eq!(pair.updated().await, "file:///data/users.csv");
        let read = pair
            .session
            .read_resource("file:///data/users.csv", CallOptions::default());
        assert_eq!(read.await.unwrap().contents()[0].text(), Some("id,name\n"));
    }
}

#[tokio::test]
async fn each_of_several_subscriptions_is_told_what_it_asked_for() {
    for pair in both(Era::Modern).await {
        let mut changes = pair.session.changes();
        let first = pair.listen(tools()).await;
        let second = pair.listen(everything()).await;
        assert_ne!(first.id, second.id);
        pair.call("add_tool", json!({"name": "new"})).await;
        changes.wait_for(|seen| seen.tools == 2).await.unwrap();
        let mut told = Vec::new();
        for _ in 0..2 {
            let params = pair.announced("notifications/tools/list_changed").await;
            told.push(meta::subscription_id(&params).unwrap());
        }
        assert!(told.contains(&first.id) && told.contains(&second.id));
        pair.call("add_prompt", json!({"name": "new"})).await;
        let params = pair.announced("notifications/prompts/list_changed").await;
        assert_eq!(meta::subscription_id(&params), Some(second.id));
        pair.until_listening("2").await;
    }
}

#[tokio::test]
async fn a_subscription_that_is_dropped_is_cancelled_on_the_wire() {
    for pair in both(Era::Modern).await {
        let kept = pair.listen(tools()).await;
        let dropped = pair.listen(tools()).await;
        pair.until_listening("2").await;
        dropped.task.abort();
        pair.until_listening("1").await;
        if let Some(server) = &pair.server {
            server.until(|counts| counts.cancelled == 1).await;
            assert!(requests_of(server, "notifications/cancelled").is_empty());
        }
        let mut changes = pair.session.changes();
        pair.call("add_tool", json!({"name": "new"})).await;
        changes.wait_for(|seen| seen.tools == 1).await.unwrap();
        assert!(!kept.task.is_finished());
    }
}

#[tokio::test]
async fn over_pipes_the_cancellation_names_the_subscription() {
    let (session, mut server) = support::modern(support::Wire::hold).await;
    let params = ListenParams {
        notifications: tools(),
    };
    let listener = session.clone();
    let listen = tokio::spawn(async move {
        let options = CallOptions::default();
        listener.request::<Listen>(&params, options).await
    });
    let asked = server.heard().await;
    assert_eq!(asked["method"], "subscriptions/listen");
    let wishes = &asked["params"]["notifications"];
    assert_eq!(*wishes, json!({"toolsListChanged": true}));
    listen.abort();
    let cancelled = server.heard().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], asked["id"]);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_without_a_deadline_outlives_a_month_of_silence() {
    let pair = over_pipes(Era::Modern).await;
    let mut changes = pair.session.changes();
    let listening = pair.listen(tools()).await;
    tokio::time::sleep(Duration::from_secs(31 * 24 * 3600)).await;
    assert!(!listening.task.is_finished());
    pair.call("add_tool", json!({"name": "new"})).await;
    changes.wait_for(|seen| seen.tools == 1).await.unwrap();
}

#[tokio::test]
async fn a_subscription_can_end_with_a_result() {
    for pair in both(Era::Modern).await {
        let (id, ended) = pair.ended("result").await;
        assert_eq!(ended.unwrap().subscription_id(), Some(id));
        pair.until_listening("0").await;
    }
}

#[tokio::test]
async fn a_subscription_can_end_with_an_error() {
    for pair in both(Era::Modern).await {
        let (_, ended) = pair.ended("error").await;
        assert_eq!(ended.unwrap_err().rpc().unwrap().code(), -32603);
        pair.until_listening("0").await;
    }
}

#[tokio::test]
async fn a_subscription_can_end_by_the_servers_cancellation() {
    for pair in both(Era::Modern).await {
        let error = pair.ended("cancelled").await.1.unwrap_err();
        assert!(matches!(error, CallError::Cancelled { .. }), "{error:?}");
        pair.until_listening("0").await;
    }
}

#[tokio::test]
async fn a_server_can_cancel_nothing_but_subscriptions() {
    let (session, _server) = support::modern(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        let params = json!({"requestId": request["id"]});
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        wire.send(&cancel).await;
        wire.answer(&request, &support::text("all the same")).await;
        wire.hold().await;
    })
    .await;
    let called = session.call_tool("any", None, CallOptions::default()).await;
    assert_eq!(called.unwrap().content()[0].as_text(), Some("all the same"));
}

#[tokio::test]
async fn a_subscription_can_end_with_its_connection() {
    let pair = over_pipes(Era::Modern).await;
    let error = pair.ended("cut").await.1.unwrap_err();
    let reason = error.close_reason().unwrap();
    assert_eq!(reason.cause, CloseCause::OutputClosed);
}

/// Whoever listens has to catch up with what it missed: the session does not begin anew unasked.
#[tokio::test]
async fn a_subscription_can_end_with_its_stream() {
    let pair = over_http(Era::Modern).await;
    let error = pair.ended("cut").await.1.unwrap_err();
    let kind = &error.fault().unwrap().kind;
    assert!(matches!(kind, FaultKind::NoAnswer { .. }), "{error:?}");
    let server = pair.server.as_ref().unwrap();
    assert_eq!(requests_of(server, "subscriptions/listen").len(), 1);
    let again = pair.listen(tools()).await;
    assert_eq!(again.granted, tools());
}

#[tokio::test]
async fn a_legacy_client_is_told_of_changes_unasked() {
    for pair in both(Era::Legacy).await {
        let mut changes = pair.session.changes();
        pair.call("add_tool", json!({"name": "new"})).await;
        changes.wait_for(|seen| seen.tools == 1).await.unwrap();
        assert!(pair.offers("new").await);
        pair.call("add_prompt", json!({"name": "new"})).await;
        changes.wait_for(|seen| seen.prompts == 1).await.unwrap();
        pair.call("add_resource", json!({"uri": "file:///new"}))
            .await;
        changes.wait_for(|seen| seen.resources == 1).await.unwrap();
    }
}

#[tokio::test]
async fn a_legacy_client_is_told_of_the_resources_that_it_subscribed_to() {
    for pair in both(Era::Legacy).await {
        let params = ResourceParams {
            uri: "file:///data".to_owned(),
        };
        let options = CallOptions::default();
        let subscribed = pair.session.request::<Subscribe>(&params, options).await;
        subscribed.unwrap();
        for uri in ["file:///readme.txt", "file:///data/users.csv"] {
            pair.call("touch_resource", json!({"uri": uri})).await;
        }
        assert_eq!(pair.updated().await, "file:///data/users.csv");
    }
}

#[tokio::test]
async fn clients_of_either_era_hear_of_what_another_one_changed() {
    let modern = over_http(Era::Modern).await;
    let server = modern.server.as_ref().unwrap();
    let legacy = http::connect(server, Era::Legacy).await;
    let (mut of_modern, mut of_legacy) = (modern.session.changes(), legacy.changes());
    let _listening = modern.listen(tools()).await;
    let new = json!({"name": "new"});
    call(&legacy, "add_tool", new.clone()).await.unwrap();
    of_modern.wait_for(|seen| seen.tools == 1).await.unwrap();
    of_legacy.wait_for(|seen| seen.tools == 1).await.unwrap();
    modern.call("remove_tool", new).await;
    of_modern.wait_for(|seen| seen.tools == 2).await.unwrap();
    of_legacy.wait_for(|seen| seen.tools == 2).await.unwrap();
}

#[tokio::test]
async fn the_oldest_transport_over_http_tells_of_changes_too() {
    let server = Http::new(growing()).transport(Transport::Sse);
    let server = server.serve().await.unwrap();
    let session = http::connect(&server, Era::Legacy).await;
    let mut changes = session.changes();
    let new = json!({"name": "new"});
    call(&session, "add_tool", new).await.unwrap();
    changes.wait_for(|seen| seen.tools == 1).await.unwrap();
}
