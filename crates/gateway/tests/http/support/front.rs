//! A host with recording servers, and a gateway in front of it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use switchboard::Host;
use switchboard::catalog::ExposedNames;
use switchboard::policy::{AgentPolicy, Level};
use switchboard_gateway::http::{HttpAuth, HttpListener, HttpOptions, HttpService, Token};
use switchboard_gateway::{Gateway, GatewayOptions};
use switchboard_testkit::{HeaderTools, Options};
use switchboard_tests::in_process::{With as _, observed};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{Answer, Ask, Connection, within};

/// The token of every test.
pub(crate) const TOKEN: &str = "test-token-0123456789abcdef";

/// Messages that reached a server.
#[derive(Clone, Default)]
pub(crate) struct Record(Arc<Mutex<Vec<Value>>>);

impl Record {
    fn add(&self, message: Value) {
        self.0.lock().unwrap().push(message);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn count(&self, method: &str) -> usize {
        let all = self.0.lock().unwrap();
        all.iter()
            .filter(|message| message["method"] == method)
            .count()
    }

    pub(crate) fn since(&self, start: usize) -> Vec<Value> {
        self.0.lock().unwrap()[start..].to_vec()
    }
}

/// A gateway that listens on loopback.
pub(crate) struct Front {
    pub(crate) address: SocketAddr,
    pub(crate) service: HttpService,
    pub(crate) gateway: Gateway,
    pub(crate) host: Host,
    pub(crate) record: Record,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
}

impl Front {
    pub(crate) async fn connect(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// Sends one request on a connection of its own.
    pub(crate) async fn ask(&self, ask: &Ask) -> Answer {
        self.connect().await.ask(ask).await
    }

    /// Opens a session of the legacy era; returns its id.
    pub(crate) async fn session(&self, version: &str) -> String {
        let answer = self.ask(&Ask::initialize(version)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["result"]["protocolVersion"], version);
        let id = answer.session().unwrap().to_owned();
        let ready = serde_json::json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let answer = self.ask(&Ask::post(&ready).session(&id)).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        id
    }

    /// Begins to drain.
    pub(crate) fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    /// Waits until serving has ended.
    pub(crate) async fn stopped(&mut self) {
        let serving = self.serving.take().unwrap();
        within("the gateway to end", serving).await.unwrap();
    }
}

/// The options that tests have unless they say otherwise.
pub(crate) fn options() -> HttpOptions {
    HttpOptions::new(HttpAuth::Token(Token::new(TOKEN).unwrap())).unwrap()
}

/// A gateway with one server, `demo`, which is connected.
pub(crate) async fn front() -> Front {
    front_with(|_, _| {}).await
}

pub(crate) async fn front_with(
    change: impl FnOnce(&mut HttpOptions, &mut GatewayOptions),
) -> Front {
    let record = Record::default();
    let mut demo = Options::default();
    demo.talking = true;
    demo.header_tools = HeaderTools::Good;
    let demo = {
        let record = record.clone();
        observed(demo, move |message| record.add(message))
    };
    let host = Host::builder()
        .exposed_names(ExposedNames::unprefixed())
        .with("demo", demo)
        .agent("gateway", AgentPolicy::everything(Level::Yolo))
        .build()
        .unwrap();
    let status = host.connect("demo").await.unwrap();
    assert!(status.is_ready(), "{status:?}");
    let (mut http, mut gateway) = (options(), GatewayOptions::default());
    change(&mut http, &mut gateway);
    let gateway = Gateway::new(host.clone(), gateway).unwrap();
    let service = gateway.http(http).unwrap();
    let listener = HttpListener::tcp("127.0.0.1:0".parse().unwrap())
        .await
        .unwrap();
    let address = listener.address().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = {
        let service = service.clone();
        tokio::spawn(async move {
            // Dropping the sender stops it too.
            let stopped = async { drop(stopped.await) };
            service.serve(listener, stopped).await.unwrap();
        })
    };
    Front {
        address,
        service,
        gateway,
        host,
        record,
        stop: Some(stop),
        serving: Some(serving),
    }
}
