//! Offers of hosts with servers in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard::policy::{AgentPolicy, Grants, Level};
use switchboard::protocol::{FromRaw as _, Tool};
use switchboard::spec::{Protocol, Settings};
use switchboard::transport::Memory;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::*;
use crate::options::Profile;

/// A legacy server with these lists, which can be changed while it runs.
#[derive(Clone, Default)]
struct Listing {
    lists: Arc<Mutex<BTreeMap<&'static str, Vec<Value>>>>,
    instructions: Option<&'static str>,
    /// Requests that came.
    asked: Arc<AtomicUsize>,
}

impl Listing {
    fn with(self, list: &'static str, items: Vec<Value>) -> Self {
        self.lists.lock().unwrap().insert(list, items);
        self
    }

    fn saying(self, instructions: &'static str) -> Self {
        let instructions = Some(instructions);
        Self {
            instructions,
            ..self
        }
    }

    fn transport(&self) -> Memory {
        let listing = self.clone();
        Memory::new("listing", move |input, mut output| {
            let listing = listing.clone();
            async move {
                let mut lines = BufReader::new(input).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let asked: Value = serde_json::from_str(&line).unwrap();
                    if let Some(id) = asked.get("id") {
                        let result = listing.answer(asked["method"].as_str().unwrap());
                        let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
                        let written = output.write_all(format!("{answer}\n").as_bytes()).await;
                        if written.is_err() {
                            return;
                        }
                    }
                }
            }
        })
    }

    fn answer(&self, method: &str) -> Value {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let list = |name: &str| {
            let lists = self.lists.lock().unwrap();
            json!({ name: lists.get(name).cloned().unwrap_or_default() })
        };
        match method {
            "initialize" => json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}, "prompts": {}, "resources": {"subscribe": true}},
                "serverInfo": {"name": "listing", "version": "1"},
                "instructions": self.instructions,
            }),
            "tools/list" => list("tools"),
            "prompts/list" => list("prompts"),
            "resources/list" => list("resources"),
            "resources/templates/list" => list("resourceTemplates"),
            _ => json!({}),
        }
    }
}

fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

fn resource(uri: &str) -> Value {
    json!({"uri": uri, "name": uri})
}

fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.protocol = Protocol::Legacy;
    settings
}

fn agent() -> ClientIdentity {
    ClientIdentity::local(Caller::agent("gateway").unwrap())
}

/// A host of these servers, connected, whose agent `gateway` may use everything.
async fn host(servers: &[(&str, Listing)]) -> Host {
    let everything = AgentPolicy::new(Level::Yolo).grants(Grants::everything());
    let mut builder = Host::builder().agent("gateway", everything);
    for (server, listing) in servers {
        builder = builder.transport(name(server), listing.transport(), settings());
    }
    let host = builder.build().unwrap();
    for status in host.connect_all().await {
        assert!(status.is_ready(), "{:?}", status.state);
    }
    host
}

fn offers(host: &Host, options: &GatewayOptions) -> Offers {
    Offers::new(host, options).unwrap()
}

fn offer(host: &Host, scope: &Scope) -> Arc<Offer> {
    let offers = offers(host, &GatewayOptions::default());
    offers.current(&agent(), scope).unwrap()
}

fn names(offer: &Offer, list: List) -> Vec<String> {
    let page = offer.page(list, None).unwrap();
    let member = match list {
        List::Tools | List::Prompts => "name",
        List::Resources => "uri",
        List::Templates => "uriTemplate",
    };
    let items = page.items.items().into_iter();
    items
        .map(|item| item.member(member).unwrap().as_text().unwrap())
        .collect()
}

#[tokio::test]
async fn definitions_go_out_as_written_but_for_their_names() {
    let odd = r#"{"x-first":1.10,"name":"say","inputSchema":{"type":"object","z":1e400,"a":{}},"_meta":{"k":[ ]}}"#;
    let odd = Tool::from_raw(&Raw::parse(odd).unwrap()).unwrap();
    let everything = AgentPolicy::new(Level::Yolo).grants(Grants::everything());
    let host = Host::builder().agent("gateway", everything);
    let host = host.offline(name("a"), vec![odd.clone()]).build().unwrap();
    let all = offer(&host, &Scope::All).page(List::Tools, None).unwrap();
    let exposed = host.tools().first().unwrap().name().to_owned();
    let expected = odd
        .raw()
        .as_str()
        .replace("\"say\"", &format!("\"{exposed}\""));
    assert_eq!(all.items.as_str(), format!("[{expected}]"));
    let one = offer(&host, &Scope::Server(name("a")));
    let items = one.page(List::Tools, None).unwrap().items;
    assert_eq!(items.as_str(), format!("[{}]", odd.raw().as_str()));
    assert_eq!(one.tool("say").unwrap().raw_name(), "say");
    assert!(one.tool(&exposed).is_none());
}

#[tokio::test]
async fn an_offer_has_what_its_caller_may_use_and_no_more() {
    let reader = AgentPolicy::new(Level::Yolo).grants(Grants::parse(["mcp:a:read*"]).unwrap());
    let host = Host::builder().agent("reader", reader);
    let tools = |names: &[&str]| -> Vec<Tool> {
        let tools = names.iter().map(|name| Raw::of(&tool(name)).unwrap());
        tools.map(|raw| Tool::from_raw(&raw).unwrap()).collect()
    };
    let host = host.offline(name("a"), tools(&["read_all", "write"]));
    let host = host
        .offline(name("b"), tools(&["read_all"]))
        .build()
        .unwrap();
    let offers = offers(&host, &GatewayOptions::default());
    let reader = ClientIdentity::local(Caller::agent("reader").unwrap());
    let all = offers.current(&reader, &Scope::All).unwrap();
    assert_eq!(names(&all, List::Tools), ["mcp__a__read_all"]);
    assert_eq!(all.servers().collect::<Vec<_>>(), [&name("a")]);
    assert!(offers.current(&reader, &Scope::Server(name("b"))).is_none());
    assert!(
        offers
            .current(&reader, &Scope::Profile("none".into()))
            .is_none()
    );
    let stranger = ClientIdentity::local(Caller::agent("stranger").unwrap());
    let nothing = offers.current(&stranger, &Scope::All).unwrap();
    assert_eq!(names(&nothing, List::Tools), Vec::<String>::new());
}

#[tokio::test]
async fn an_offer_is_made_again_when_the_policy_changes() {
    let listing = Listing::default().with("tools", vec![tool("one"), tool("two")]);
    let host = host(&[("a", listing)]).await;
    let offers = offers(&host, &GatewayOptions::default());
    let mut watch = offers.watch();
    let before = offers.current(&agent(), &Scope::All).unwrap();
    let again = offers.current(&agent(), &Scope::All).unwrap();
    assert!(Arc::ptr_eq(&before.content, &again.content));
    watch.mark_unchanged();
    let one = AgentPolicy::new(Level::Yolo).grants(Grants::parse(["mcp:a:one"]).unwrap());
    let policy = switchboard::Policy::none().agent(agent().caller().id().clone(), one);
    host.set_policy(policy);
    watch.changed().await.unwrap();
    let after = offers.current(&agent(), &Scope::All).unwrap();
    assert_eq!(names(&after, List::Tools), ["mcp__a__one"]);
    assert_ne!(before.stamp(List::Tools), after.stamp(List::Tools));
    assert_eq!(before.stamp(List::Prompts), after.stamp(List::Prompts));
    host.shutdown().await;
}

#[tokio::test]
async fn an_approval_of_changed_definitions_shows_in_the_next_offer() {
    let listing = Listing::default().with("tools", vec![tool("one")]);
    let host = host(&[("a", listing.clone())]).await;
    let offers = offers(&host, &GatewayOptions::default());
    let now = || offers.current(&agent(), &Scope::All).unwrap();
    assert_eq!(names(&now(), List::Tools), ["mcp__a__one"]);
    assert_eq!(now().left_out(), []);
    let changed = json!({"name": "one", "description": "other", "inputSchema": {"type": "object"}});
    drop(listing.with("tools", vec![changed]));
    host.refresh("a").await.unwrap();
    assert_eq!(names(&now(), List::Tools), Vec::<String>::new());
    let left_out = now().left_out();
    let expected = LeftOut {
        server: name("a"),
        reason: LeftOutReason::Changed,
        command: Some("switchboard pins approve a".to_owned()),
    };
    assert_eq!(left_out, [expected]);
    let drifts = host.drifts("a").unwrap();
    host.approve_drifts("a", &drifts).unwrap();
    assert_eq!(names(&now(), List::Tools), ["mcp__a__one"]);
    host.shutdown().await;
}

#[tokio::test]
async fn colliding_resources_are_namespaced_and_read_back() {
    let page = json!({"name": "show", "inputSchema": {"type": "object"},
        "_meta": {"ui": {"resourceUri": "ui://page"}}});
    let resources = |own| vec![resource("f://both"), resource(own), resource("ui://page")];
    let templates = vec![json!({"uriTemplate": "log://{day}", "name": "log"})];
    let listing = |own| {
        let listing = Listing::default().with("resources", resources(own));
        let listing = listing.with("resourceTemplates", templates.clone());
        listing.with("tools", vec![page.clone()])
    };
    let servers = [
        ("a", listing("f://a")),
        ("b", listing("f://b")),
        ("c", Listing::default()),
    ];
    let host = host(&servers).await;
    let all = offer(&host, &Scope::All);
    let expected = [
        "f://a",
        "f://b",
        "switchboard://a/f%3A%2F%2Fboth",
        "switchboard://b/f%3A%2F%2Fboth",
        "ui://a/page",
        "ui://b/page",
    ];
    assert_eq!(names(&all, List::Resources), expected);
    let templates = [
        "switchboard://a/=log://{day}",
        "switchboard://b/=log://{day}",
    ];
    assert_eq!(names(&all, List::Templates), templates);
    let found = |uri: &str| all.resource(uri).map(|it| (it.server.to_string(), it.uri));
    let expect = |server: &str, uri: &str| Some((server.to_owned(), uri.to_owned()));
    assert_eq!(found("ui://b/page"), expect("b", "ui://page"));
    assert_eq!(
        found("switchboard://a/f%3A%2F%2Fboth"),
        expect("a", "f://both")
    );
    assert_eq!(
        found("switchboard://b/=log://today"),
        expect("b", "log://today")
    );
    assert_eq!(found("log://today"), None);
    let template = all.template("switchboard://b/=log://{day}").unwrap();
    assert_eq!(
        (template.server.as_str(), &*template.uri),
        ("b", "log://{day}")
    );
    // The definition of a tool names its page as clients read it.
    let tools = all.page(List::Tools, None).unwrap().items;
    let pages = tools.items().into_iter().map(|tool| {
        let ui = tool.member("_meta").unwrap().member("ui").unwrap();
        ui.member("resourceUri").unwrap().as_text().unwrap()
    });
    assert_eq!(pages.collect::<Vec<_>>(), ["ui://a/page", "ui://b/page"]);
    // At its own address a server has its own addresses.
    let one = offer(&host, &Scope::Server(name("b")));
    assert_eq!(
        names(&one, List::Resources),
        ["f://b", "f://both", "ui://page"]
    );
    assert_eq!(one.outward_uri(&name("b"), "f://both"), "f://both");
    host.shutdown().await;
}

#[tokio::test]
async fn addresses_are_kept_from_the_first_list_on_and_not_before() {
    let listing = Listing::default().with("resources", vec![resource("f://x")]);
    let everything = AgentPolicy::everything(Level::Yolo);
    let mut builder = Host::builder().agent("gateway", everything);
    for server in ["a", "b"] {
        builder = builder.transport(name(server), listing.transport(), settings());
    }
    let host = builder.build().unwrap();
    host.connect("b").await.unwrap();
    let offers = offers(&host, &GatewayOptions::default());
    let now = || offers.current(&agent(), &Scope::All).unwrap();
    // An offer that no client has seen: the server that comes next decides with it.
    assert_eq!(now().resource("f://x").unwrap().server, name("b"));
    host.connect("a").await.unwrap();
    let both = ["switchboard://a/f%3A%2F%2Fx", "switchboard://b/f%3A%2F%2Fx"];
    assert_eq!(names(&now(), List::Resources), both);
    host.remove("a").await.unwrap();
    assert_eq!(names(&now(), List::Resources), [both[1]]);
    host.shutdown().await;
}

#[tokio::test]
async fn links_in_results_lead_back_to_the_server_that_sent_them() {
    let servers = ["a", "b"].map(|server| {
        let listing = Listing::default().with("resources", vec![resource("f://both")]);
        (server, listing)
    });
    let alone = Listing::default().with("resources", vec![resource("g://alone")]);
    let servers = [servers.to_vec(), vec![("c", alone)]].concat();
    let host = host(&servers).await;
    let all = offer(&host, &Scope::All);
    let link = |uri: &str| {
        let text = format!(r#"{{ "content":[{{"type":"resource_link","uri":"{uri}"}}] }}"#);
        Raw::parse(&text).unwrap()
    };
    let links = |raw: &Raw| {
        let block = raw.member("content").unwrap().items().remove(0);
        block.member("uri").unwrap().as_text().unwrap()
    };
    for uri in ["f://both", "f://unlisted", "switchboard://b/x", "g://alone"] {
        let sent = all.rewrite_result(&name("b"), link(uri));
        let back = all.resource(&links(&sent)).unwrap();
        assert_eq!((back.server.as_str(), &*back.uri), ("b", uri));
    }
    // Nothing of the third server has another address: its results are the same text.
    let result = link("f://unlisted");
    let same = all.rewrite_result(&name("c"), result.clone());
    assert!(std::ptr::eq(same.as_str(), result.as_str()));
    host.shutdown().await;
}

#[tokio::test]
async fn a_profile_narrows_servers_and_tools() {
    let listing = || {
        let listing = Listing::default().with("tools", vec![tool("get"), tool("put")]);
        listing.with("prompts", vec![json!({"name": "ask"})])
    };
    let host = host(&[("a", listing()), ("b", listing())]).await;
    let profile = Profile {
        servers: Some(vec![name("a"), name("later")]),
        without_tools: vec!["*/put".to_owned()],
        ..Profile::default()
    };
    let mut options = GatewayOptions::default();
    options.profiles.insert("work".to_owned(), profile);
    let offers = offers(&host, &options);
    let work = offers
        .current(&agent(), &Scope::Profile("work".into()))
        .unwrap();
    assert_eq!(names(&work, List::Tools), ["mcp__a__get"]);
    assert_eq!(names(&work, List::Prompts), ["mcp__a__ask"]);
    let prompt = work.prompt("mcp__a__ask").unwrap();
    assert_eq!((&*prompt.name, &*prompt.call_name), ("ask", "a/ask"));
    assert!(work.tool("mcp__a__put").is_none() && work.tool("mcp__b__get").is_none());
    host.shutdown().await;
}

#[tokio::test]
async fn instructions_and_capabilities_are_those_of_the_servers() {
    let speaking = Listing::default().with("tools", vec![tool("t")]);
    let servers = [
        ("a", speaking.clone().saying("Say a.")),
        ("b", Listing::default().saying("Say b.")),
        ("c", speaking),
    ];
    let host = host(&servers).await;
    let all = offer(&host, &Scope::All);
    assert_eq!(all.instructions(), Some("# a\n\nSay a.\n\n# b\n\nSay b."));
    let one = offer(&host, &Scope::Server(name("a")));
    assert_eq!(one.instructions(), Some("Say a."));
    let capabilities: Value = one.capabilities().decode().unwrap();
    let expected = json!({
        "tools": {"listChanged": true},
        "prompts": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
    });
    assert_eq!(capabilities, expected);
    host.shutdown().await;
}

#[tokio::test]
async fn a_cursor_is_refused_elsewhere_and_by_another_client() {
    let tools = (0..30).map(|at| tool(&format!("t{at:02}"))).collect();
    let host = host(&[("a", Listing::default().with("tools", tools))]).await;
    let mut options = GatewayOptions::default();
    options.limits.page_items = 10;
    let offers = offers(&host, &options);
    let all = offers.current(&agent(), &Scope::All).unwrap();
    let next = all.page(List::Tools, None).unwrap().next.unwrap();
    let second = all.page(List::Tools, Some(&next)).unwrap();
    assert_eq!(second.items.items().len(), 10);
    let third = all.page(List::Tools, second.next.as_deref()).unwrap();
    assert_eq!((third.items.items().len(), third.next), (10, None));
    let other = ClientIdentity::remote(agent().caller().clone(), "other");
    let other = offers.current(&other, &Scope::All).unwrap();
    let one = offers.current(&agent(), &Scope::Server(name("a"))).unwrap();
    for bad in ["", "x", &next[1..], &format!("{next}=")] {
        assert_eq!(all.page(List::Tools, Some(bad)).unwrap_err(), BadCursor);
    }
    assert!(all.page(List::Prompts, Some(&next)).is_err());
    assert!(other.page(List::Tools, Some(&next)).is_err());
    assert!(one.page(List::Tools, Some(&next)).is_err());
    host.shutdown().await;
}

#[tokio::test]
async fn offers_that_were_not_used_for_longest_are_dropped() {
    let host = host(&[("a", Listing::default().with("tools", vec![tool("t")]))]).await;
    let mut options = GatewayOptions::default();
    options.limits.offers = 2;
    let offers = offers(&host, &options);
    let scopes = [Scope::All, Scope::Server(name("a"))];
    for scope in &scopes {
        offers.current(&agent(), scope).unwrap();
    }
    for unknown in 0..10 {
        let scope = Scope::Server(name(&format!("unknown{unknown}")));
        assert!(offers.current(&agent(), &scope).is_none());
    }
    let run = ClientIdentity::local(agent().caller().clone().run("task", "docs"));
    offers.current(&run, &Scope::All).unwrap();
    let kept: BTreeSet<bool> = (offers.slots().keys())
        .map(|(caller, scope)| *scope == Scope::All && caller == agent().caller())
        .collect();
    // The oldest is gone; the two that were used last stay.
    assert_eq!((offers.slots().len(), kept), (2, BTreeSet::from([false])));
    host.shutdown().await;
}

#[tokio::test]
async fn a_thousand_tools_of_twenty_servers_are_listed_at_once() {
    let description = "x".repeat(300);
    let servers: Vec<(String, Listing)> = (0..20)
        .map(|server| {
            let tools = (0..50).map(|at| {
                let mut tool = tool(&format!("tool_{at}"));
                tool["description"] = json!(description);
                tool
            });
            let listing = Listing::default().with("tools", tools.collect());
            (format!("server{server}"), listing)
        })
        .collect();
    let named: Vec<_> = servers
        .iter()
        .map(|(name, it)| (name.as_str(), it.clone()))
        .collect();
    let host = host(&named).await;
    let offers = offers(&host, &GatewayOptions::default());
    assert_eq!(
        names(&offers.current(&agent(), &Scope::All).unwrap(), List::Tools).len(),
        1000
    );
    let asked = || -> usize {
        let counts = servers
            .iter()
            .map(|(_, it)| it.asked.load(Ordering::Relaxed));
        counts.sum()
    };
    let before = asked();
    // The best of some: other programs run on the machine too.
    let best = (0..20).map(|_| {
        let began = Instant::now();
        let offer = offers.current(&agent(), &Scope::All).unwrap();
        let page = offer.page(List::Tools, None).unwrap();
        assert!(page.items.len_bytes() > 300_000 && page.next.is_none());
        began.elapsed()
    });
    let best = best.min().unwrap();
    assert!(best <= Duration::from_millis(2), "{best:?}");
    assert_eq!(asked(), before);
    host.shutdown().await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_there_throughout_is_listed_exactly_once(
        stays in prop::collection::btree_set(0_u16..300, 1..60),
        others in prop::collection::vec(prop::collection::btree_set(0_u16..300, 0..60), 1..12),
        size in 1_usize..12,
    ) {
        let prepared = |others: &BTreeSet<u16>| {
            let names = stays.union(others).map(|at| format!("t{at:03}"));
            let items = names.map(|name| (Arc::from(name.as_str()), format!("\"{name}\"")));
            list::PreparedList::new(items.collect(), size)
        };
        let (seal, scope) = (Seal::new(1 << 16).unwrap(), Scope::All);
        let (mut seen, mut cursor) = (BTreeMap::<String, usize>::new(), None::<String>);
        // The list is another one for each page.
        for list in others.iter().cycle().map(prepared) {
            let after = cursor.map(|cursor| {
                cursor::open(&seal, "p", List::Tools, &scope, &cursor).unwrap()
            });
            let (page, next) = list.page(after.as_deref());
            for item in page.items() {
                *seen.entry(item.as_text().unwrap()).or_default() += 1;
            }
            cursor = next.map(|key| cursor::seal(&seal, "p", List::Tools, &scope, key));
            if cursor.is_none() {
                break;
            }
        }
        for at in &stays {
            prop_assert_eq!(seen.get(&format!("t{at:03}")), Some(&1));
        }
        prop_assert!(seen.values().all(|times| *times == 1));
    }
}
