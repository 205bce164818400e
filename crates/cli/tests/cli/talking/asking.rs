//! What it asks: a visit, folders, a form, a model.

use serde_json::json;
use switchboard_testkit::models::{self, KEY, ModelApi};

use super::{ERAS, READY, describe, ends, enter, home, leave, open, run};
use crate::home::Home;
use crate::pty::Pty;

const ADDRESS: &str =
    "  https://example.com/visit?from=test-server\r\n          ^^^^^^^^^^^ the host\r\n";

/// Waits for the question whether to go to the usual address, and types something there.
fn visits(pty: &mut Pty, typed: &str) {
    pty.wait_for("The server \"kit\" asks you to open this URL:");
    pty.wait_for("  | Please go to this address, and come back.");
    pty.wait_for(ADDRESS);
    pty.wait_for("Open it in a browser?");
    pty.send(typed.as_bytes());
}

#[test]
fn an_address_is_agreed_to_declined_and_dismissed() {
    const ANSWERS: [(&str, &str); 3] = [
        ("m\r", "The visit was agreed to."),
        ("d\r", "The visit was declined."),
        ("c\r", "The visit was dismissed."),
    ];
    for era in ERAS {
        let home = home(era);
        for (typed, told) in ANSWERS {
            let mut pty = run(&home, &["call", "kit/visit"]);
            visits(&mut pty, typed);
            pty.wait_for(told);
            ends(pty);
        }
        let mut pty = open(&home);
        for (typed, told) in ANSWERS {
            enter(&mut pty, "call kit/visit");
            visits(&mut pty, typed);
            pty.wait_for(told);
            pty.wait_for(READY);
        }
        enter(&mut pty, "call kit/visit url=https://login.example.org/in");
        pty.wait_for("  https://login.example.org/in\r\n          ^^^^^^^^^^^^^^^^^ the host");
        pty.wait_for("Open it in a browser?");
        enter(&mut pty, "m");
        pty.wait_for("The visit was agreed to.");
        leave(pty);
        assert!(!home.has_canary());
    }
}

#[test]
fn ctrl_c_at_an_address_ends_the_command_or_goes_back_to_the_prompt() {
    for era in ERAS {
        let home = home(era);
        let mut pty = run(&home, &["call", "kit/visit"]);
        visits(&mut pty, "\x03");
        assert_eq!(pty.finish().0, 130);
        let mut pty = open(&home);
        enter(&mut pty, "call kit/visit");
        visits(&mut pty, "\x03");
        pty.wait_for(READY);
        enter(&mut pty, "read kit note:///x");
        pty.wait_for("This is the note x.");
        leave(pty);
    }
}

#[test]
fn nobody_is_sent_anywhere_where_nobody_is() {
    for era in ERAS {
        // A pipe does not declare that it can send people anywhere, and so the tool fails.
        let run = home(era).run(&["call", "kit/visit"]);
        assert_ne!(run.code, Some(0), "{era}: {run:?}");
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(text.contains("elicitation"), "{era}: {text}");
    }
}

#[test]
fn a_call_that_is_refused_until_the_visit_is_made_again() {
    let home = home("legacy");
    let mut pty = run(&home, &["call", "kit/visit", "by_error=true"]);
    visits(&mut pty, "m\r");
    pty.wait_for("Enter when you are done");
    enter(&mut pty, "");
    pty.wait_for("Called again after the visit.");
    ends(pty);
    let mut pty = open(&home);
    enter(&mut pty, "call kit/visit by_error=true");
    visits(&mut pty, "m\r");
    pty.wait_for("Enter when you are done");
    enter(&mut pty, "");
    pty.wait_for("Called again after the visit.");
    leave(pty);
    let refused = home.run(&["call", "kit/visit", "by_error=true"]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(refused.stdout.contains("elicitation"), "{refused:?}");
}

#[test]
fn folders_are_told() {
    for era in ERAS {
        let home = Home::new();
        let folders = ["work", "my notes"].map(|name| home.path(name));
        for folder in &folders {
            std::fs::create_dir(folder).unwrap();
        }
        describe(&home, era, json!({"roots": folders}), json!({}));
        let [work, notes] = folders;
        let notes = notes.display().to_string().replace(' ', "%20");
        let told = format!(
            "work: file://{}\r\nmy notes: file://{notes}\r\n",
            work.display()
        );
        let mut pty = run(&home, &["call", "kit/list_roots"]);
        pty.wait_for(&told);
        ends(pty);
        let mut pty = open(&home);
        enter(&mut pty, "call kit/list_roots");
        pty.wait_for(&told);
        pty.wait_for(READY);
        // Others from now on.
        enter(&mut pty, &format!("/mcp roots kit {}", work.display()));
        pty.wait_for(&format!("file://{}\r\n", work.display()));
        pty.wait_for(READY);
        enter(&mut pty, "call kit/list_roots");
        pty.wait_for(&format!("work: file://{}\r\n", work.display()));
        leave(pty);
    }
}

#[test]
fn without_folders_the_server_cannot_ask_for_them() {
    for era in ERAS {
        let home = home(era);
        let run = home.run(&["call", "kit/list_roots"]);
        assert_ne!(run.code, Some(0), "{run:?}");
        let place = home.path("p");
        let given = home.run(&["call", "kit/list_roots", "--root", place.to_str().unwrap()]);
        let told = format!("p: file://{}\n", place.display());
        assert_eq!((given.code, given.stdout), (Some(0), home.hide(&told)));
    }
}

#[test]
fn a_form_and_a_model_are_asked_for_at_the_prompt() {
    for era in ERAS {
        let api = ModelApi::start(models::openai).unwrap();
        let home = Home::new();
        let provider = json!({
            "type": "openai", "base_url": format!("{}/v1", api.base()), "model": "gpt-small", "api_key": KEY,
        });
        let file = json!({"providers": {"mine": provider}});
        describe(&home, era, json!({"sampling": true}), file);
        let mut pty = open(&home);
        enter(&mut pty, "call kit/ask_name");
        for (asked, typed) in [("Answer it?", "y"), ("name: ", "Ada"), ("Send it?", "y")] {
            pty.wait_for(asked);
            enter(&mut pty, typed);
        }
        pty.wait_for("Hello, Ada!");
        pty.wait_for(READY);
        enter(&mut pty, "call kit/ask_model prompt=well");
        for asked in ["[N]o: ", "[y/N] "] {
            pty.wait_for(asked);
            enter(&mut pty, "y");
        }
        pty.wait_for("You said: well");
        leave(pty);
        assert_eq!(api.requests().len(), 1);
    }
}
