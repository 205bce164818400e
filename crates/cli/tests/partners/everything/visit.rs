//! `trigger-url-elicitation`: the server sends the person to an address, with a question or with an error.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use serde_json::{Value, json};

use super::{PATIENCE, answered, crossed, enter, is_back, leave, open, run, wire};
use crate::pty::Pty;
use crate::stage::Stage;

const ASKS: [&str; 3] = [
    "call",
    "everything/trigger-url-elicitation",
    "url=https://login.example.com/in?to=a&b=2",
];
const FAILS_FIRST: &str = "errorPath=true";

/// A home in which a browser writes down what it was started with.
fn stage() -> Stage {
    let stage = super::stage(json!({}), json!({}));
    let opened = stage.home.path("opened");
    let script = format!("#!/bin/sh\necho \"$#:$1\" >> '{}'\n", opened.display());
    stage.home.write("bin/xdg-open", &script);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(stage.home.path("bin/xdg-open"), mode).unwrap();
    stage
}

/// As a line for the prompt.
fn line(words: &[&str]) -> String {
    let words = words.iter().map(|word| format!("'{word}'"));
    words.collect::<Vec<_>>().join(" ")
}

/// Waits for the question whether to go to the address of [`ASKS`].
fn asks(pty: &mut Pty) {
    pty.wait_for("The server \"everything\" asks you to open this URL:");
    pty.wait_for("  | Please open the link to complete this action.");
    pty.wait_for("  https://login.example.com/in?to=a&b=2\r\n          ^^^^^^^^^^^^^^^^^ the host");
    pty.wait_for("Open it in a browser? [y]es, [m]anually, [d]ecline, [c]ancel: ");
}

/// Waits for the question whether to go where one has to have been first.
fn asks_first(pty: &mut Pty) {
    pty.wait_for("The server \"everything\" asks you to open this URL:");
    pty.wait_for("  | Open this link to satisfy the prerequisite");
    pty.wait_for(
        "  https://modelcontextprotocol.io/\r\n          ^^^^^^^^^^^^^^^^^^^^^^^ the host",
    );
    pty.wait_for("Open it in a browser? [y]es, [m]anually, [d]ecline, [c]ancel: ");
}

/// Waits until so many addresses were opened, and gives them.
fn opened(stage: &Stage, many: usize) -> Vec<String> {
    let ends = Instant::now() + PATIENCE;
    loop {
        let all = fs::read_to_string(stage.home.path("opened")).unwrap_or_default();
        if all.ends_with('\n') && all.lines().count() >= many {
            return all.lines().map(str::to_owned).collect();
        }
        assert!(Instant::now() < ends, "opened: {all:?}");
        std::thread::yield_now();
    }
}

fn is_opened(stage: &Stage) -> bool {
    stage.home.path("opened").exists() || stage.home.has_canary()
}

fn answer(stage: &Stage) -> Value {
    answered(stage, "elicitation/create")["result"].clone()
}

/// How often the tool was called.
fn calls(stage: &Stage) -> usize {
    let wire = wire(stage);
    let calls = wire.iter().filter(|(is_in, message)| {
        !is_in
            && message["method"] == "tools/call"
            && message["params"]["name"] == "trigger-url-elicitation"
    });
    calls.count()
}

#[test]
fn an_address_is_opened_on_a_yes_from_a_call() {
    let stage = stage();
    let mut pty = run(&stage, &ASKS);
    asks(&mut pty);
    // Enter is no yes.
    enter(&mut pty, "");
    pty.wait_for("Open it in a browser?");
    assert!(!is_opened(&stage));
    enter(&mut pty, "y");
    pty.wait_for("User completed the URL elicitation flow.");
    assert_eq!(pty.finish().0, 0);
    assert_eq!(
        opened(&stage, 1),
        ["1:https://login.example.com/in?to=a&b=2"]
    );
    assert_eq!(answer(&stage), json!({"action": "accept"}));
    assert!(!stage.home.has_canary(), "no shell was run");
}

#[test]
fn an_address_is_opened_on_a_yes_from_the_prompt() {
    let stage = stage();
    let mut pty = open(&stage);
    enter(&mut pty, &line(&ASKS));
    asks(&mut pty);
    assert!(!is_opened(&stage));
    enter(&mut pty, "y");
    pty.wait_for("User completed the URL elicitation flow.");
    is_back(&mut pty);
    leave(pty);
    assert_eq!(
        opened(&stage, 1),
        ["1:https://login.example.com/in?to=a&b=2"]
    );
    assert_eq!(answer(&stage), json!({"action": "accept"}));
}

#[test]
fn nothing_is_opened_without_a_yes_from_a_call() {
    for (typed, told, action) in [
        ("m", "User completed", "accept"),
        ("d", "User declined", "decline"),
        ("c", "User cancelled", "cancel"),
    ] {
        let stage = stage();
        let mut pty = run(&stage, &ASKS);
        asks(&mut pty);
        enter(&mut pty, typed);
        pty.wait_for(told);
        assert_eq!(pty.finish().0, 0);
        assert_eq!(answer(&stage), json!({"action": action}));
        assert!(!is_opened(&stage), "{typed}");
    }
    let stage = stage();
    let mut pty = run(&stage, &ASKS);
    asks(&mut pty);
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
    assert!(!is_opened(&stage));
}

#[test]
fn nothing_is_opened_without_a_yes_from_the_prompt() {
    let stage = stage();
    let mut pty = open(&stage);
    for (typed, told) in [
        ("m\r", "User completed"),
        ("d\r", "User declined"),
        ("c\r", "User cancelled"),
        ("\x03", "User cancelled"),
    ] {
        enter(&mut pty, &line(&ASKS));
        asks(&mut pty);
        pty.send(typed.as_bytes());
        pty.wait_for(told);
        is_back(&mut pty);
    }
    leave(pty);
    assert!(!is_opened(&stage));
}

/// Goes where the error says, and then where the question says.
fn goes_to_both(pty: &mut Pty, stage: &Stage) {
    asks_first(pty);
    enter(pty, "y");
    assert_eq!(opened(stage, 1), ["1:https://modelcontextprotocol.io/"]);
    pty.wait_for("Enter when you are done");
    enter(pty, "");
    asks(pty);
    enter(pty, "y");
    pty.wait_for("User completed the URL elicitation flow.");
}

#[test]
fn a_call_that_fails_until_somebody_was_elsewhere_is_made_again() {
    let stage = stage();
    let mut pty = run(&stage, &[&ASKS[..], &[FAILS_FIRST]].concat());
    goes_to_both(&mut pty, &stage);
    assert_eq!(pty.finish().0, 0);
    crossed(&stage, |is_in, message| {
        is_in && message["error"]["code"] == -32042
    });
    let both = [
        "1:https://modelcontextprotocol.io/",
        "1:https://login.example.com/in?to=a&b=2",
    ];
    assert_eq!(opened(&stage, 2), both);
    assert_eq!(calls(&stage), 2);
}

#[test]
fn a_call_that_fails_until_somebody_was_elsewhere_is_made_again_from_the_prompt() {
    let stage = stage();
    let mut pty = open(&stage);
    enter(&mut pty, &line(&[&ASKS[..], &[FAILS_FIRST]].concat()));
    goes_to_both(&mut pty, &stage);
    is_back(&mut pty);
    leave(pty);
    assert_eq!(opened(&stage, 2).len(), 2);
    assert_eq!(calls(&stage), 2);
}

#[test]
fn a_call_that_fails_is_not_made_again_where_nobody_goes() {
    for typed in ["d\r", "c\r", "m\rc\r"] {
        let stage = stage();
        let mut pty = run(&stage, &[&ASKS[..], &[FAILS_FIRST]].concat());
        asks_first(&mut pty);
        pty.send(typed.as_bytes());
        pty.wait_for("This request requires browser-based");
        assert_eq!(pty.finish().0, 5, "{typed:?}");
        assert_eq!(calls(&stage), 1, "{typed:?}");
        assert!(!is_opened(&stage));
    }
}

#[test]
fn ctrl_c_gives_a_call_up_that_waits_for_somebody_to_be_elsewhere() {
    let stage = stage();
    let mut pty = open(&stage);
    let call = line(&[&ASKS[..], &[FAILS_FIRST]].concat());
    enter(&mut pty, &call);
    asks_first(&mut pty);
    pty.send(b"\x03");
    pty.wait_for("This request requires browser-based");
    is_back(&mut pty);
    // The server remembers that it has sent somebody away, so that this is its question.
    enter(&mut pty, &call);
    asks(&mut pty);
    enter(&mut pty, "m");
    pty.wait_for("User completed");
    is_back(&mut pty);
    enter(&mut pty, &call);
    asks_first(&mut pty);
    enter(&mut pty, "m");
    pty.wait_for("Enter when you are done");
    pty.send(b"\x03");
    pty.wait_for("This request requires browser-based");
    is_back(&mut pty);
    leave(pty);
    assert!(!is_opened(&stage));
    assert_eq!(calls(&stage), 3);
}
