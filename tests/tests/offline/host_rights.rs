//! What the owner of a host changes about agents' rights while it runs.

use switchboard::policy::{Audience, Level, UseApproval};

use crate::host_support::agents::{EVERYTHING, Says, Use, agent, allowing, host, id, listed};
use crate::host_support::name;

#[tokio::test(start_paused = true)]
async fn what_is_allowed_in_whole_is_not_asked_about_and_grants_nothing_more() {
    let policy = allowing("planner", Level::Trusted, &["mcp:notes:*"]);
    let says = Says::new(UseApproval::Refuse);
    let (host, recorders) = host(&["notes", "mail"], |builder| {
        builder.policy(policy).operator(says.clone())
    });
    host.connect_all().await;
    let view = host.view(agent("planner"));
    Use::all()[0].attempt(&view, "notes").await.unwrap_err();
    assert_eq!(says.asked(), 1);
    host.allow_all(&agent("planner"), "notes").unwrap();
    host.allow_all(&agent("planner"), "mail").unwrap();
    Use::all()[0].attempt(&view, "notes").await.unwrap();
    Use::all()[0].attempt(&view, "mail").await.unwrap_err();
    assert_eq!(says.asked(), 1, "nobody is asked again");
    assert!(recorders[1].uses().is_empty());
    assert!(host.allow_all(&agent("planner"), "nothing").is_err());
}

#[tokio::test(start_paused = true)]
async fn a_server_becomes_private_and_shared_again() {
    let both = allowing("planner", Level::Yolo, &EVERYTHING);
    let policy = both
        .clone()
        .agent(id("other"), both.of(&id("planner")).unwrap().clone());
    let (host, recorders) = host(&["notes"], |builder| builder.policy(policy));
    host.connect_all().await;
    let (mine, theirs) = (host.view(agent("planner")), host.view(agent("other")));
    assert!(!listed(&theirs).is_empty());
    let now = (*host.policy()).clone();
    host.set_policy(
        now.clone()
            .audience(name("notes"), Audience::Only(vec![id("planner")])),
    );
    assert!(listed(&theirs).is_empty() && !listed(&mine).is_empty());
    for used in Use::all() {
        used.attempt(&theirs, "notes").await.unwrap_err();
    }
    assert!(recorders[0].uses().is_empty());
    host.set_policy(now);
    Use::all()[0].attempt(&theirs, "notes").await.unwrap();
}
