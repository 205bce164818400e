//! The registry alone: no lists are read, no policy is asked, nothing is called.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::ErrorKind;
use crate::host::member::revision;
use crate::host::test_support::{Script, member, name};
use crate::spec::{Origin, ServerSpec};

/// A registry with one server, and the number of connections that were handed on.
fn registry(member: Member) -> (Registry, Arc<AtomicUsize>) {
    let handed_on = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&handed_on);
    let on_connected: OnConnected = Arc::new(move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let members = BTreeMap::from([(member.name.clone(), Arc::new(member))]);
    let (events, asking) = (EventSender::new(16), Arc::default());
    let registry = Registry::new(Arc::default(), members, events, asking, on_connected);
    (registry, handed_on)
}

#[tokio::test]
async fn a_new_connection_is_handed_on_once_and_none_is_made_twice() {
    let script = Script::answering(0);
    let (registry, handed_on) = registry(member("a", &script));
    let member = registry.find("a").unwrap();
    let first = registry.connect(&member, Want::Use).await.unwrap();
    registry.connect(&member, Want::Outright).await.unwrap();
    assert_eq!(handed_on.load(Ordering::Relaxed), 1);
    first.close().await;
    registry.connect(&member, Want::Use).await.unwrap();
    assert_eq!(handed_on.load(Ordering::Relaxed), 2);
    // Lists are for others to read.
    assert_eq!(script.count("tools/list"), 0);
}

#[tokio::test]
async fn a_server_that_is_switched_off_is_refused_and_says_why() {
    let mut spec = ServerSpec::stdio("a", "no-such-program").unwrap();
    spec.is_enabled = false;
    let source = Source::Spec(Box::new(spec));
    let off = Member::new(name("a"), Origin::program(), source, &Arc::default());
    let (registry, handed_on) = registry(off);
    let member = registry.find("a").unwrap();
    let error = registry.connect(&member, Want::Use).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(member.facts().refused.is_some());
    assert_eq!(handed_on.load(Ordering::Relaxed), 0);
}

#[test]
fn no_two_servers_have_one_name_until_the_first_is_removed() {
    let script = Script::answering(0);
    let (registry, _) = registry(member("a", &script));
    registry.add(member("a", &script), |_| ()).err().unwrap();
    let first = registry.find("a").unwrap();
    let before = revision();
    assert!(registry.remove(&first, |_| ()));
    assert!(first.gone.is_cancelled() && !first.is_unchanged_since(before));
    assert!(registry.member(&name("a")).is_none());
    registry.add(member("a", &script), |_| ()).unwrap();
    // It has its successor's name, and is not it.
    assert!(!registry.remove(&first, |_| ()));
    assert!(registry.member(&name("a")).is_some());
}

#[tokio::test]
async fn nothing_is_connected_to_after_the_registry_was_shut_down() {
    let script = Script::answering(0);
    let (registry, handed_on) = registry(member("a", &script));
    let member = registry.find("a").unwrap();
    let session = registry.connect(&member, Want::Use).await.unwrap();
    registry.shutdown().await;
    assert!(session.close_reason().is_some());
    registry.connect(&member, Want::Outright).await.unwrap_err();
    assert_eq!(handed_on.load(Ordering::Relaxed), 1);
}

#[cfg(feature = "config")]
#[tokio::test]
async fn the_operator_is_asked_for_the_inputs_that_an_entry_uses() {
    use std::path::Path;
    use std::sync::Mutex;

    use crate::config::Config;
    use crate::host::Host;
    use crate::secret::Secret;
    use crate::spec::Layer;

    let own = r#"{
        "inputs": [
            {"id": "token", "type": "promptString", "description": "A token", "password": true},
            {"id": "unused", "type": "promptString", "description": "Another"}
        ],
        "servers": {"a": {"command": "sh", "env": {"TOKEN": "${input:token}"}}}
    }"#;
    let config = Config::read(own, Path::new("/home/me/mcp.json"), Layer::User);
    let asked: Arc<Mutex<Vec<(String, String)>>> = Arc::default();
    let noted = Arc::clone(&asked);
    let host = Host::builder()
        .config(&config)
        .on_input(move |prompt| {
            let question = (prompt.server.to_string(), prompt.input.id);
            noted.lock().unwrap().push(question);
            async { Some(Secret::new("t0ken".to_owned())) }
        })
        .build()
        .unwrap();
    let registry = &host.0.registry;
    let entry = &config.entries()[0];
    let answers = registry.ask_inputs(entry).await;
    assert_eq!(
        *asked.lock().unwrap(),
        [("a".to_owned(), "token".to_owned())]
    );
    assert!(
        registry
            .expanded(entry, Approved::default(), &answers)
            .is_ok()
    );
    // Without an answer, the report says which input it is.
    let silent = Host::builder().config(&config).build().unwrap();
    let registry = &silent.0.registry;
    let answers = registry.ask_inputs(entry).await;
    let error = registry
        .expanded(entry, Approved::default(), &answers)
        .unwrap_err();
    assert!(error.to_string().contains("token"), "{error}");
}
