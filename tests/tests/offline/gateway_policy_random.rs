//! Random policies through the gateway: what is listed is what may be used, and what is denied reaches no server.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use switchboard::catalog::ExposedNames;
use switchboard::policy::{Decision, UseApproval};
use switchboard_gateway::{ClientIdentity, Gateway, GatewayOptions};

use super::gateway_client::Client;
use crate::host_support::agents::{CANARY, RESOURCES, SERVERS, Use, host};
use crate::host_support::dice::Dice;
use crate::host_support::recorder::{Recorder, Seen};

const SEEDS: u64 = 200;

/// One server's item.
type Item = (String, Seen);

fn item(server: &str, used: Use) -> Item {
    (server.to_owned(), used.seen())
}

/// The uses that there are through a gateway, where tools are not asked for in two ways.
fn uses() -> impl Iterator<Item = Use> {
    let all = Use::all().into_iter();
    all.filter(|used| !matches!(used, Use::Model(_)))
}

/// The request for a use of a server's item. `address` is the form of a resource's address for the client.
fn request(server: &str, used: Use, address: &str) -> (&'static str, Value) {
    match used {
        Use::Tool(tool) | Use::Model(tool) => {
            let name = format!("{server}__{tool}");
            let params = json!({"name": name, "arguments": {"text": CANARY}});
            ("tools/call", params)
        }
        Use::Resource(_) => ("resources/read", json!({"uri": address})),
        Use::Prompt(prompt) => {
            let name = format!("{server}__{prompt}");
            let params = json!({"name": name, "arguments": {"text": CANARY}});
            ("prompts/get", params)
        }
    }
}

/// The form that an address has when several servers have the same.
fn namespaced(server: &str, uri: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric();
    let encoded = uri.chars().map(|c| match is_plain(c) {
        true => c.to_string(),
        false => format!("%{:02X}", u32::from(c)),
    });
    format!("switchboard://{server}/{}", encoded.collect::<String>())
}

/// What reached the servers since this was last asked.
fn reached(recorders: &[Recorder]) -> Vec<Item> {
    let all = SERVERS.into_iter().zip(recorders);
    all.flat_map(|(server, recorder)| {
        let uses = recorder.uses().into_iter();
        uses.map(move |seen| (server.to_owned(), seen))
    })
    .collect()
}

/// The tools and prompts that the client is listed.
async fn listed(client: &mut Client) -> BTreeSet<Item> {
    let mut items = BTreeSet::new();
    for (list, method) in [
        ("tools/list", "tools/call"),
        ("prompts/list", "prompts/get"),
    ] {
        for name in client.list(list, "name").await {
            let (server, name) = name.split_once("__").unwrap();
            let (method, name) = (method.to_owned(), name.to_owned());
            let seen = Seen { method, name };
            assert!(items.insert((server.to_owned(), seen)), "listed twice");
        }
    }
    items
}

/// The item of a resource's address for the client. One without a server is that of the only server which has it.
fn at_address(address: &str, may_be_used: &BTreeSet<Item>) -> Option<Item> {
    let mut found = SERVERS.into_iter().flat_map(|server| {
        let all = RESOURCES.into_iter();
        let of_address = all.filter(move |uri| namespaced(server, uri) == address);
        of_address.map(move |uri| item(server, Use::Resource(uri)))
    });
    let mut plain = may_be_used.iter().filter(|(_, seen)| seen.name == address);
    match (found.next(), plain.next(), plain.next()) {
        (Some(found), None, None) => Some(found),
        (None, Some(only), None) => Some(only.clone()),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_gateway_lists_what_may_be_used_and_passes_nothing_denied() {
    let (mut allowed, mut denied, mut asked) = (0, 0, 0);
    for seed in 0..SEEDS {
        let mut dice = Dice::new(seed);
        let says = dice.says();
        let policy = dice.policy().conceal_denials(seed % 2 == 0);
        let (host, recorders) = host(&SERVERS, |builder| {
            let builder = builder.exposed_names(ExposedNames::unprefixed());
            builder.policy(policy).operator(says.clone())
        });
        host.connect_all().await;
        let caller = dice.caller();
        let identity = match dice.roll(2) {
            0 => ClientIdentity::local(caller.clone()),
            _ => ClientIdentity::remote(caller.clone(), "token:test"),
        };
        let is_remote = identity.is_remote();
        let gateway = Gateway::new(host.clone(), GatewayOptions::default()).unwrap();
        let mut client = Client::open(&gateway, identity, dice.roll(2) == 0).await;
        // 1. What is listed is what may be used, some of it if a person agrees.
        let mut may_be_used = BTreeSet::new();
        for server in SERVERS {
            let own = uses().filter(|used| !used.decision(&host, &caller, server).is_denied());
            may_be_used.extend(own.map(|used| item(server, used)));
        }
        let mut items = listed(&mut client).await;
        for address in client.list("resources/list", "uri").await {
            let about = || format!("seed {seed}: {address}");
            let owner = at_address(&address, &may_be_used).unwrap_or_else(|| panic!("{}", about()));
            let answer = client.ask("resources/read", json!({"uri": address})).await;
            let reached = reached(&recorders);
            if answer["result"].is_object() {
                assert_eq!(reached, std::slice::from_ref(&owner), "{}", about());
                // The address in the result is the client's own form of it.
                assert_eq!(answer["result"]["contents"][0]["uri"], *address);
            } else {
                assert_eq!(says.0, UseApproval::Refuse, "{}: {answer}", about());
                assert_eq!(reached, [], "{}", about());
            }
            assert!(items.insert(owner), "{}: listed twice", about());
        }
        assert_eq!(items, may_be_used, "seed {seed}: {caller}");
        // 2. Each use does what the policy says, in every form of its name.
        for server in SERVERS {
            for used in uses() {
                let forms = match used {
                    Use::Resource(uri) => vec![namespaced(server, uri), uri.to_owned()],
                    _ => vec![String::new()],
                };
                for form in forms {
                    let decision = used.decision(&host, &caller, server);
                    let may = says.permits(&decision);
                    let (method, params) = request(server, used, &form);
                    let answer = client.ask(method, params).await;
                    let reached = reached(&recorders);
                    let about = || format!("seed {seed}: {form} {used:?} of {server}: {decision}");
                    if RESOURCES.contains(&form.as_str()) {
                        // An address without a server is that of one that may be read, or none.
                        let is_done = answer["result"].is_object();
                        assert_eq!(reached.len(), usize::from(is_done), "{}", about());
                        for one in &reached {
                            assert!(may_be_used.contains(one), "{}: {one:?}", about());
                        }
                        continue;
                    }
                    assert_eq!(answer["result"].is_object(), may, "{}: {answer}", about());
                    let expected = may.then(|| item(server, used));
                    assert_eq!(reached, Vec::from_iter(expected), "{}", about());
                    match decision {
                        Decision::Allow(_) => allowed += 1,
                        Decision::Ask(..) => asked += 1,
                        Decision::Deny(_) => denied += 1,
                    }
                    if is_remote && !may {
                        let error = answer["error"].to_string();
                        assert!(!error.contains("may not"), "{}: {error}", about());
                    }
                }
            }
        }
    }
    let seen = [allowed, asked, denied];
    assert!(seen.iter().all(|many| *many > 200), "{seen:?}");
}
