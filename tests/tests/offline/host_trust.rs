//! What came with a folder: nothing of it happens before the person has said yes to exactly that.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use switchboard::host::{Caller, Host};
use switchboard::talk::Unattended;
use switchboard::trust::{Store, Which};
use switchboard::{Error, ErrorKind};

use crate::host_support::cloned::{Cloned, Person, Watch, builder, host, tried};

/// Does with a server everything that a program can do, and gives what each came to.
async fn everything(host: &Host, name: &str) -> Vec<(&'static str, Option<Error>)> {
    let view = host.view(Caller::owner());
    let item = format!("{name}/x");
    let none = BTreeMap::<String, String>::new;
    vec![
        ("connect", host.connect(name).await.err()),
        ("check", host.check(name).await.err()),
        ("refresh", host.refresh(name).await.err()),
        ("restart", host.restart(name).await.err()),
        ("find", view.find(&item).await.err()),
        ("find_prompt", view.find_prompt(&item).await.err()),
        ("prompt", view.prompt(&item, none()).await.err()),
        (
            "prompt of the owner",
            host.prompt(&item, none()).await.err(),
        ),
        ("read", view.read(name, "file:///x").await.err()),
        (
            "read of the owner",
            host.read(name, "file:///x").await.err(),
        ),
        ("call of the owner", host.call(&item, json!({})).await.err()),
        ("call", view.call(&item, json!({})).await.err()),
    ]
}

/// Looks at everything that there is to see of a host without waiting.
fn look(host: &Host, names: &[String]) -> String {
    let view = host.view(Caller::owner());
    let mut seen = format!(
        "{host:?} {view:?} {:?} {:?}",
        host.servers(),
        host.config_problems()
    );
    seen += &format!("{:?} {:?}", host.catalog(), host.secrets());
    seen += &format!("{:?} {:?}", host.watch_catalog().borrow(), view.tools());
    let (prompts, resources) = (view.prompts(), view.resources());
    seen += &format!("{prompts:?} {resources:?} {:?}", view.templates());
    for name in names {
        let question = host.question(name).unwrap().unwrap();
        seen += &format!("{:?} {question:?}", host.server(name).unwrap());
        seen += &question.lines().join("\n");
        assert!(view.tool(&format!("{name}/x")).is_err());
        assert!(view.tool(&format!("mcp__{name}__x")).is_err());
    }
    seen
}

#[tokio::test]
async fn no_call_of_the_library_starts_dials_or_reads_what_is_not_approved() {
    let watch = Watch::new();
    let (cloned, others) = Cloned::trapped(&watch);
    let mut builder = builder(&cloned).operator(Unattended);
    for other in &others {
        builder = builder.config(other);
    }
    let host = builder.build().unwrap();
    let mut events = host.events();
    let names = host.servers().into_iter();
    let names: Vec<String> = names.map(|status| status.name.to_string()).collect();
    assert!(names.len() >= 25, "{names:?}");
    look(&host, &names);
    for name in &names {
        for (what, error) in everything(&host, name).await {
            let error = error.unwrap_or_else(|| panic!("{what} of {name}"));
            assert_eq!(error.kind(), ErrorKind::Untrusted, "{what} of {name}");
            assert_eq!(error.server().map(|known| known.as_str()), Some(&**name));
            assert!(!error.was_sent());
        }
    }
    for status in host.connect_all().await {
        let error = status.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::Untrusted, "{status:?}");
        assert_eq!(status.identity, None, "nothing of it was expanded");
    }
    // Names for models say no server: all of them are tried.
    let view = host.view(Caller::owner());
    view.find("mcp__plain__x").await.unwrap_err();
    view.find_prompt("mcp__plain__x").await.unwrap_err();
    look(&host, &names);
    for name in &names {
        host.disconnect(name).await.unwrap();
    }
    host.remove("plain").await.unwrap();
    host.shutdown().await;
    assert_eq!(cloned.canaries(), [""; 0]);
    watch.assert_quiet();
    assert!(events.try_recv().is_err(), "nothing has happened");
    assert!(
        Store::at(cloned.path("state/trust"))
            .list()
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn project_servers_of_a_host_without_an_operator_are_refused() {
    let watch = Watch::new();
    let (cloned, _) = Cloned::trapped(&watch);
    let builder = Host::builder().environment(&cloned.environment());
    let host = builder.discover_in(cloned.folder()).connect().await;
    let host = host.unwrap();
    let statuses = host.servers();
    assert!(!statuses.is_empty());
    for status in &statuses {
        assert_eq!(status.error().unwrap().kind(), ErrorKind::Untrusted);
    }
    let problems = host.problems();
    assert_eq!(problems.len(), statuses.len());
    assert!(problems.iter().all(|error| error.question().is_some()));
    assert_eq!(cloned.canaries(), [""; 0]);
    watch.assert_quiet();
}

#[tokio::test]
async fn a_yes_is_for_one_server_and_no_other() {
    let watch = Watch::new();
    let (cloned, others) = Cloned::trapped(&watch);
    for name in ["plain", "relative", "above-own", "own-path", "cursor-1"] {
        let person = Person::trusting(&[name]);
        let mut builder = builder(&cloned).operator(person.clone());
        for other in &others {
            builder = builder.config(other);
        }
        let host = builder.build().unwrap();
        for status in host.connect_all().await {
            let is_it = status.name.as_str() == name;
            let kind = status.error().unwrap().kind();
            // It says nothing, so that it is no server; but it was started.
            assert_eq!(kind == ErrorKind::Connect, is_it, "{status:?}");
        }
        assert_eq!(cloned.canaries(), [name]);
        cloned.clear();
        let list = Store::at(cloned.path("state/trust"));
        list.revoke(&Which::Server(name.parse().unwrap())).unwrap();
    }
    watch.assert_quiet();
}

fn with(entry: &Value, pointer: &str, value: Value) -> Value {
    let mut entry = entry.clone();
    let (object, key) = pointer.rsplit_once('/').unwrap();
    match (entry.pointer_mut(object).unwrap(), key.parse::<usize>()) {
        (Value::Array(items), Ok(at)) => items[at] = value,
        (object, _) => object[key] = value,
    }
    entry
}

#[tokio::test]
async fn any_changed_value_asks_again_and_says_what_changed() {
    let cloned = Cloned::new();
    let mut entry = cloned.touch("one");
    entry["env"] = json!({"MODE": "one", "OTHER": "x"});
    entry["cwd"] = json!(".");
    entry["timeout"] = json!("30s");
    cloned.write_one(&entry);
    let yes = Person::trusting(&["one"]);
    assert_eq!(tried(&cloned, &yes).await, (true, 1));
    assert_eq!(tried(&cloned, &Person::default()).await, (true, 0));
    let line = entry["args"][1].as_str().unwrap().to_owned();
    let mut more = entry.clone();
    more["args"].as_array_mut().unwrap().push(json!("x"));
    let mut less = entry.clone();
    less["env"].as_object_mut().unwrap().remove("OTHER");
    let no_folder = {
        let mut entry = entry.clone();
        entry.as_object_mut().unwrap().remove("cwd");
        entry
    };
    let changes: [(&str, Value); 13] = [
        (
            "/args/1",
            with(&entry, "/args/1", json!(format!("{line} "))),
        ),
        ("/args/2", more),
        ("/env/MODE", with(&entry, "/env/MODE", json!("two"))),
        ("/env/MODE", with(&entry, "/env/MODE", json!("${MODE}"))),
        (
            "/env/LD_PRELOAD",
            with(&entry, "/env/LD_PRELOAD", json!("x.so")),
        ),
        ("/env/OTHER", less),
        (
            "/env_passthrough/0",
            with(&entry, "/env_passthrough", json!(["OWN_TOKEN"])),
        ),
        ("/cwd", with(&entry, "/cwd", json!(".."))),
        ("/cwd", no_folder),
        ("/command", with(&entry, "/command", json!("/bin/sh"))),
        ("/timeout", with(&entry, "/timeout", json!("31s"))),
        ("/env_file", with(&entry, "/env_file", json!("x.env"))),
        ("/roots/0", with(&entry, "/roots", json!(["/"]))),
    ];
    for (pointer, changed) in changes {
        cloned.write_one(&changed);
        let no = Person::default();
        assert_eq!(tried(&cloned, &no).await, (false, 1), "{changed}");
        let question = &no.asked()[0];
        let pointers: Vec<&str> = question.changes.iter().map(|c| &*c.pointer).collect();
        assert!(pointers.contains(&pointer), "{pointer} {pointers:?}");
        let lines = question.lines().join("\n");
        assert!(lines.contains(pointer), "{lines}");
    }
    // The same under another name is another server.
    let text = json!({"mcpServers": {"two": entry}}).to_string();
    cloned.write(&cloned.folder().join(".mcp.json"), &text);
    let host = host(&cloned, &Person::default());
    let error = host.connect("two").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Untrusted);
    // As it was, it is as it was.
    cloned.write_one(&entry);
    assert_eq!(tried(&cloned, &Person::default()).await, (true, 0));
}

#[tokio::test]
async fn defaults_of_the_file_are_part_of_what_was_approved() {
    let cloned = Cloned::new();
    let file = cloned.folder().join(".mcp.json");
    let servers = json!({"one": cloned.touch("one")});
    cloned.write(&file, &json!({"mcpServers": servers}).to_string());
    assert_eq!(tried(&cloned, &Person::trusting(&["one"])).await, (true, 1));
    let defaults = json!({"env": {"LD_PRELOAD": "./evil.so"}});
    let text = json!({"defaults": defaults, "mcpServers": servers}).to_string();
    cloned.write(&file, &text);
    let no = Person::default();
    assert_eq!(tried(&cloned, &no).await, (false, 1));
    assert_eq!(no.asked()[0].hooks, ["LD_PRELOAD"]);
}

#[tokio::test]
async fn a_changed_header_or_address_asks_before_it_is_dialled() {
    let cloned = Cloned::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let entry = json!({"url": url, "headers": {"X-Team": "red"}});
    let store = || Store::at(cloned.path("state/trust"));
    cloned.write_one(&entry);
    let host = builder(&cloned).build().unwrap();
    let question = host.question("one").unwrap().unwrap();
    store().approve(&question.claim).unwrap();
    assert_eq!(host.question("one").unwrap(), None);
    for changed in [
        with(&entry, "/headers/X-Team", json!("blue")),
        with(&entry, "/headers/X-More", json!("red")),
        with(&entry, "/url", json!(format!("{url}?x"))),
        with(&entry, "/type", json!("sse")),
    ] {
        cloned.write_one(&changed);
        let no = Person::default();
        let host = builder(&cloned).operator(no.clone()).build().unwrap();
        let error = host.connect("one").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Untrusted, "{changed}");
        assert_eq!(no.asked().len(), 1);
    }
    assert!(listener.accept().is_err(), "nobody has come");
}

#[tokio::test]
async fn order_white_space_and_comments_do_not_ask_again() {
    let cloned = Cloned::new();
    let mut entry = cloned.touch("one");
    entry["env"] = json!({"A": "1", "B": "2"});
    cloned.write_one(&entry);
    assert_eq!(tried(&cloned, &Person::trusting(&["one"])).await, (true, 1));
    let (args, command) = (&entry["args"], &entry["command"]);
    for text in [
        format!(
            r#"{{"mcpServers":{{"one":{{"env":{{"B":"2","A":"1"}},"args":{args},"command":{command}}}}}}}"#
        ),
        format!(
            "// note\n{{ \"mcpServers\" :\n\n {{ \"other\": {{\"command\": \"x\"}},\n\t\"one\" : \
             {{ \"command\": {command}, // note\n \"args\": {args},\n \"env\": {{ \"A\": \
             \"\\u0031\", \"B\": \"2\", }}, }}, }} }}"
        ),
    ] {
        cloned.write(&cloned.folder().join(".mcp.json"), &text);
        assert_eq!(
            tried(&cloned, &Person::default()).await,
            (true, 0),
            "{text}"
        );
    }
}
