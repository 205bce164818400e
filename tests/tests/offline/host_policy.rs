//! Who may use what through a host: with servers that write down all that reaches them.

use std::collections::BTreeMap;

use serde_json::json;
use switchboard::ErrorKind;
use switchboard::events::{ArgumentHash, Event};
use switchboard::host::{Caller, Host};
use switchboard::policy::{
    AgentPolicy, Approvals, Audience, Grants, Level, Policy, Scope, UseApproval,
};
use switchboard::spec::Settings;

use crate::host_support::agents::{
    CANARY, EVERYTHING, SERVERS, Says, Use, agent, allowing, drain, has_no_canary, host, id,
    listed, offer, told,
};
use crate::host_support::recorder::Recorder;
use crate::host_support::{self, name};

#[tokio::test(start_paused = true)]
async fn a_sandboxed_agent_reaches_and_sees_nothing() {
    let policy = allowing("planner", Level::Sandboxed, &EVERYTHING);
    let says = Says::new(UseApproval::Always);
    let (host, recorders) = host(&SERVERS, |builder| {
        builder.policy(policy).operator(says.clone())
    });
    let view = host.view(agent("planner"));
    let mut events = view.events();
    for used in Use::all() {
        used.attempt(&view, "notes").await.unwrap_err();
    }
    assert_eq!(recorders.iter().map(Recorder::starts).sum::<usize>(), 0);
    host.connect_all().await;
    assert!(listed(&view).is_empty() && view.templates().is_empty());
    for used in Use::all() {
        used.attempt(&view, "notes").await.unwrap_err();
    }
    assert!(view.context(1000).await.texts.is_empty());
    assert!(recorders[0].uses().is_empty());
    assert!(told(&mut events).await.is_empty());
    assert_eq!(says.asked(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_trusted_agent_is_asked_about_once_for_each_server() {
    let policy = allowing("planner", Level::Trusted, &EVERYTHING);
    let says = Says::new(UseApproval::Server);
    let (host, recorders) = host(&["notes", "mail"], |builder| {
        builder.policy(policy).operator(says.clone())
    });
    let view = host.view(agent("planner"));
    let tool = view.find("notes/get_one").await.unwrap();
    assert_eq!(says.asked(), 0, "looking is free");
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let tool = tool.clone();
        calls.spawn(async move { tool.call(json!({})).await.map(drop) });
    }
    for called in calls.join_all().await {
        called.unwrap();
    }
    assert_eq!((says.asked(), recorders[0].uses().len()), (1, 50));
    for used in Use::all() {
        used.attempt(&view, "notes").await.unwrap();
    }
    assert_eq!(says.asked(), 1);
    for used in Use::all() {
        used.attempt(&view, "mail").await.unwrap();
    }
    assert_eq!(says.asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_for_an_agent_at_yolo() {
    let policy = allowing("planner", Level::Yolo, &EVERYTHING);
    let says = Says::new(UseApproval::Refuse);
    let (host, recorders) = host(&["notes"], |builder| {
        builder.policy(policy).operator(says.clone())
    });
    let view = host.view(agent("planner"));
    for used in Use::all() {
        used.attempt(&view, "notes").await.unwrap();
    }
    assert_eq!(
        (says.asked(), recorders[0].uses().len()),
        (0, Use::all().len())
    );
}

#[tokio::test(start_paused = true)]
async fn a_private_server_is_invisible_to_another_agent() {
    let all = || AgentPolicy::new(Level::Yolo).grants(Grants::parse(EVERYTHING).unwrap());
    let policy = Policy::none()
        .agent(id("planner"), all())
        .agent(id("writer"), all())
        .audience(name("vault"), Audience::Only(vec![id("planner")]));
    let (host, recorders) = host(&["notes", "vault"], |builder| builder.policy(policy));
    let (planner, writer) = (host.view(agent("planner")), host.view(agent("writer")));
    let mut events = writer.events();
    // Nothing is started for who may not know of it: not by its name, nor by looking everywhere.
    for used in Use::all() {
        let of_private = used.attempt(&writer, "vault").await;
        let of_none = used.attempt(&writer, "valut").await;
        assert_eq!(of_private, of_none);
        of_private.unwrap_err();
    }
    writer.find("mcp__vault__wipe").await.unwrap_err();
    writer.context(1000).await;
    assert_eq!((recorders[0].starts(), recorders[1].starts()), (1, 0));
    for used in Use::all() {
        used.attempt(&planner, "vault").await.unwrap();
    }
    assert_eq!(recorders[1].uses().len(), Use::all().len());
    // Nor is it there once it runs.
    for used in Use::all() {
        let of_none = used.attempt(&writer, "valut").await;
        assert_eq!(used.attempt(&writer, "vault").await, of_none);
    }
    assert!(recorders[1].uses().is_empty());
    assert!(listed(&writer).iter().all(|(server, _)| server == "notes"));
    let read = writer.context(1000).await;
    assert!(
        read.texts
            .iter()
            .all(|passage| passage.server.as_str() == "notes")
    );
    assert!(!format!("{:?}", read.left_out).contains("vault"));
    for event in told(&mut events).await {
        let text = format!("{event:?}");
        assert!(
            !text.contains("vault") && !text.contains("planner"),
            "{text}"
        );
    }
    // The errors that it gets suggest nothing of it either.
    let error = writer.find("mcp__vault__wip").await.unwrap_err();
    let diagnosis = format!("{:?}", switchboard::explain(&error));
    assert!(!diagnosis.contains("vault__wipe"), "{diagnosis}");
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_for_a_description_and_not_for_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let ask = async |label: &str, server: &str| {
        let says = Says::new(UseApproval::Always);
        let recorder = Recorder::new(offer());
        let host = Host::builder()
            .transport(name(server), recorder.memory(label), Settings::default())
            .policy(allowing("planner", Level::Trusted, &EVERYTHING))
            .operator(says.clone())
            .approvals(Approvals::at(folder.path().join("state")))
            .build()
            .unwrap();
        let view = host.view(agent("planner"));
        Use::Tool("wipe").attempt(&view, server).await.unwrap();
        host.shutdown().await;
        says.asked()
    };
    assert_eq!(ask("one", "notes").await, 1);
    assert_eq!(ask("one", "notes").await, 0, "it is remembered");
    assert_eq!(ask("another", "notes").await, 1, "it is another server");
    // What is described there now has taken the place of what was.
    assert_eq!(ask("another", "notes").await, 0);
    assert_eq!(ask("one", "notes").await, 1);
}

#[tokio::test(start_paused = true)]
async fn without_a_policy_an_agent_has_no_access_and_the_owner_all() {
    let (host, recorders) = host(&["notes"], |builder| builder);
    let view = host.view(agent("planner"));
    for used in Use::all() {
        used.attempt(&view, "notes").await.unwrap_err();
    }
    assert_eq!(recorders[0].starts(), 0);
    let owner = host.view(Caller::owner());
    for used in Use::all() {
        used.attempt(&owner, "notes").await.unwrap();
        assert_eq!(recorders[0].uses(), [used.seen()]);
    }
    assert!(listed(&view).is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_a_server_says_of_its_tools_widens_nothing() {
    // Every tool here is said to only read: see `offer`.
    let policy = allowing("planner", Level::Yolo, &["mcp:notes:get_one"]);
    let (host, recorders) = host(&["notes"], |builder| builder.policy(policy));
    let view = host.view(agent("planner"));
    for used in Use::all() {
        let is_granted = used.seen().name == "get_one";
        assert_eq!(
            used.attempt(&view, "notes").await.is_ok(),
            is_granted,
            "{used:?}"
        );
        assert_eq!(recorders[0].uses().len(), usize::from(is_granted));
    }
    let trusted = allowing("planner", Level::Trusted, &["mcp:notes:get_one"]);
    let says = Says::new(UseApproval::Refuse);
    let (host, recorders) = host_support::agents::host(&["notes"], |builder| {
        builder.policy(trusted).operator(says.clone())
    });
    Use::Tool("get_one")
        .attempt(&host.view(agent("planner")), "notes")
        .await
        .unwrap_err();
    assert_eq!((says.asked(), recorders[0].uses().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_policy_for_all_others_is_enough_to_be_let_in() {
    let grants = Grants::parse(["mcp:notes:get_*"]).unwrap();
    let policy = Policy::none().others(AgentPolicy::new(Level::Yolo).grants(grants));
    let (host, _) = host(&["notes"], |builder| builder.policy(policy));
    let view = host.view(agent("anybody"));
    Use::Tool("get_one").attempt(&view, "notes").await.unwrap();
    assert_eq!(view.tools().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn no_event_has_an_argument_in_it_even_where_the_server_repeats_it() {
    let policy = allowing("planner", Level::Yolo, &EVERYTHING);
    let (host, recorders) = host(&["notes"], |builder| builder.policy(policy));
    recorders[0].change_in_silence(|offer| offer.fails = true);
    let mut events = host.events();
    for caller in [agent("planner"), Caller::owner()] {
        let view = host.view(caller);
        let tool = view.find("notes/get_one").await.unwrap();
        let error = tool.call(json!({"text": CANARY})).await.unwrap_err();
        assert!(
            error.to_string().contains(CANARY),
            "the caller is told: {error}"
        );
        let arguments = BTreeMap::from([("text".to_owned(), CANARY.to_owned())]);
        view.prompt("notes/hello", arguments).await.unwrap_err();
        // What does not fit is not sent, and what is wrong with it is for the caller alone.
        let misfit = tool.call(json!([CANARY])).await.unwrap_err();
        assert_eq!(misfit.kind(), ErrorKind::Arguments);
    }
    let happened = drain(&mut events);
    let failed = |event: &&Event| matches!(event, Event::CallFailed { .. });
    assert_eq!(happened.iter().filter(failed).count(), 4);
    has_no_canary(&happened);
}

#[tokio::test(start_paused = true)]
async fn the_same_arguments_have_the_same_hash_and_others_another() {
    let policy = allowing("planner", Level::Yolo, &["mcp:notes:get_*"]);
    let (host, _) = host(&["notes"], |builder| builder.policy(policy));
    let tool = host
        .view(agent("planner"))
        .find("notes/get_one")
        .await
        .unwrap();
    let mut events = host.events();
    for text in ["a", "b", "a"] {
        tool.call(json!({"text": text})).await.unwrap();
    }
    let hashes: Vec<Option<ArgumentHash>> = drain(&mut events)
        .into_iter()
        .filter_map(|event| match event {
            Event::Decided { arguments, .. } => Some(arguments),
            _ => None,
        })
        .collect();
    assert_eq!(hashes.len(), 3);
    assert!(
        hashes[0] == hashes[2] && hashes[0] != hashes[1],
        "{hashes:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_learns_from_no_event_what_is_kept_from_it() {
    let policy = allowing("planner", Level::Yolo, &["mcp:notes:get_one"]);
    let (host, recorders) = host(&["notes"], |builder| builder.policy(policy));
    let view = host.view(agent("planner"));
    let mut events = view.events();
    host.connect_all().await;
    Use::Tool("wipe").attempt(&view, "notes").await.unwrap_err();
    Use::Resource("file:///a")
        .attempt(&view, "notes")
        .await
        .unwrap_err();
    recorders[0].change(|offer| {
        offer
            .tools
            .push(json!({"name": "secret_tool", "inputSchema": {"type": "object"}}));
    });
    host_support::until(&host, "it is listed", |catalog| catalog.tool_count() == 5).await;
    Use::Tool("get_one").attempt(&view, "notes").await.unwrap();
    let told = told(&mut events).await;
    let text = format!("{told:?}");
    for hidden in ["wipe", "file:///a", "secret_tool", "deny"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    assert!(
        told.iter().any(|event| event.name() == "call_completed"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_was_removed_is_gone_for_an_agent_without_a_word_of_the_others() {
    let policy = allowing("planner", Level::Yolo, &["mcp:notes:*"]);
    let (host, recorders) = host(&["notes", "vault"], |builder| builder.policy(policy));
    let view = host.view(agent("planner"));
    let tool = view.find("notes/wipe").await.unwrap();
    host.remove("notes").await.unwrap();
    let error = tool.call(json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let told = format!("{error:?} {:?}", switchboard::explain(&error));
    assert!(!told.contains("vault"), "{told}");
    assert!(recorders[0].uses().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_denied_use_names_its_rule_unless_denials_are_concealed() {
    let of = |who: &str, grants: &[&str]| {
        let policy = AgentPolicy::new(Level::Yolo).grants(Grants::parse(grants).unwrap());
        (id(who), policy)
    };
    let (planner, own) = of("planner", &["mcp:notes:get_* execute"]);
    let (guest, quiet) = of("guest", &["mcp:notes:get_*"]);
    let policy = Policy::none()
        .agent(planner, own)
        .agent(guest, quiet.conceal_denials(true))
        .audience(name("vault"), Audience::Only(Vec::new()));
    let (host, recorders) = host(&SERVERS, |builder| builder.policy(policy));
    let planner = host.view(agent("planner"));
    planner.call("notes/get_one", json!({})).await.unwrap();
    // The rules know names alone: nothing is started to find out what is there.
    for tool in [
        "notes/wipe",
        "notes/nonesuch",
        "mail/wipe",
        "mcp__mail__wipe",
    ] {
        let error = planner.call(tool, json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Denied, "{tool}: {error}");
        let denial = error.denial().unwrap();
        assert_eq!(
            (denial.agent.as_str(), denial.rule.id()),
            ("planner", "no-grant")
        );
    }
    for (server, expected) in [
        ("mail", ErrorKind::Denied),
        ("vault", ErrorKind::NotFound),
        ("nonesuch", ErrorKind::NotFound),
    ] {
        let read = planner.read(server, "file:///a").await.unwrap_err();
        let prompt = format!("{server}/hello");
        let prompt = planner.prompt(&prompt, json!({})).await.unwrap_err();
        assert_eq!(
            (read.kind(), prompt.kind()),
            (expected, expected),
            "{server}"
        );
    }
    assert_eq!(planner.tools().len(), 2, "listing shows no more for it");
    let guest = host.view(agent("guest"));
    for tool in ["notes/wipe", "mail/wipe", "vault/wipe", "nonesuch/wipe"] {
        let error = guest.call(tool, json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{tool}: {error}");
    }
    let uses: usize = recorders.iter().map(|one| one.uses().len()).sum();
    assert_eq!((uses, recorders[1].starts()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_asked_about_for_each_tool_where_its_policy_says_so() {
    let policy = AgentPolicy::everything(Level::Trusted).ask(Scope::Item);
    let policy = Policy::none().agent(id("planner"), policy);
    let says = Says::new(UseApproval::Session);
    let (host, _) = host(&["notes"], |builder| {
        builder.policy(policy).operator(says.clone())
    });
    let view = host.view(agent("planner"));
    for (tool, asked) in [("get_one", 1), ("get_one", 1), ("wipe", 2), ("wipe", 2)] {
        Use::Tool(tool).attempt(&view, "notes").await.unwrap();
        assert_eq!(says.asked(), asked, "{tool}");
    }
}
