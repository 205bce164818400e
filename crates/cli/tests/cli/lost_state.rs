//! Files of approvals and pins that are deleted behind our back.

use std::fs;

use serde_json::json;

use crate::home::Home;
use crate::run::Run;
use crate::serving::Serving;

const ENTRY: &str = r#"{"mcpServers": {"one": {"command": "sh"}, "two": {"command": "sh"}}}"#;

/// A home with an agent that may use a server, which has been pinned by its first use.
fn pinned() -> (Serving, Home) {
    let (server, home) = (Serving::start(&[]), Home::new());
    let own = json!({
        "mcpServers": {"demo": {"url": server.url()}},
        "agents": {"one": {"level": "yolo", "grants": ["mcp:demo:*"]}, "two": {"level": "yolo", "grants": []}},
    });
    home.write("config/switchboard/mcp.json", &own.to_string());
    assert_eq!(echo(&home).code, Some(0), "{:?}", echo(&home));
    (server, home)
}

fn echo(home: &Home) -> Run {
    home.run(&["call", "demo/echo", "message=hi", "--as", "one"])
}

fn delete_pins(home: &Home) {
    let folder = home.path("state/switchboard/pins");
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let pins = entries.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    pins.for_each(|path| fs::remove_file(path).unwrap());
}

#[test]
fn deleted_approvals_are_told_until_something_is_approved_again() {
    let home = Home::new();
    home.write("p/.mcp.json", ENTRY);
    let approve = || home.run(&["trust", "approve", "--all", "--yes"]);
    assert_eq!(approve().code, Some(0));
    let file = home.path("state/switchboard/trust/trust.json");
    let told = "~/state/switchboard/trust/trust.json is gone: 2 servers had been approved \
                (one, two); you will be asked again. `switchboard trust revoke --lost` dismisses this warning";
    for gone in [file.clone(), file.parent().unwrap().to_owned()] {
        match gone.is_dir() {
            true => fs::remove_dir_all(&gone).unwrap(),
            false => fs::remove_file(&gone).unwrap(),
        }
        for args in [&["tools", "one"][..], &["trust", "list"], &["doctor"]] {
            let run = home.run(args);
            let all = format!("{}{}", run.stdout, run.stderr);
            assert!(
                all.contains("is gone: 2 servers had been approved (one, two)"),
                "{run:?}"
            );
        }
        let run = home.run(&["tools", "one"]);
        assert!(run.stderr.contains(told), "{run:?}");
        assert_eq!(run.code, Some(7), "{run:?}");
        assert_eq!(approve().code, Some(0));
        let run = home.run(&["trust", "list"]);
        assert!(!run.stderr.contains("is gone"), "{run:?}");
    }
    fs::remove_file(&file).unwrap();
    assert_eq!(home.run(&["trust", "revoke", "--lost"]).code, Some(0));
    let run = home.run(&["trust", "list"]);
    assert!(!run.stderr.contains("is gone"), "{run:?}");
}

#[test]
fn the_lost_record_of_a_server_that_is_gone_can_be_forgotten() {
    let (_server, home) = pinned();
    delete_pins(&home);
    let list = || home.run(&["pins", "list"]);
    assert!(list().stderr.contains("is gone"));
    // A server of another name is not meant.
    let run = home.run(&["pins", "revoke", "other"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""), "{run:?}");
    assert!(
        run.stderr.contains("no definitions of other were approved"),
        "{run:?}"
    );
    assert!(list().stderr.contains("is gone"));
    let run = home.run(&["pins", "revoke", "demo"]);
    let told = "dismissed the warning about the lost record of demo\n";
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), told), "{run:?}");
    assert_eq!(list().stderr, "");
}

#[test]
fn deleted_pins_keep_a_server_from_agents_until_they_are_approved_again() {
    let (_server, home) = pinned();
    delete_pins(&home);
    for _ in 0..2 {
        let run = echo(&home);
        assert_ne!(run.code, Some(0), "{run:?}");
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains("agents get nothing from it"), "{run:?}");
        assert!(
            run.stderr.contains("`switchboard pins approve demo`"),
            "{run:?}"
        );
    }
    // The person's own calls go through, and they are told.
    let run = home.run(&["call", "demo/echo", "message=hi"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), "hi\n"),
        "{run:?}"
    );
    assert!(run.stderr.contains("is gone"), "{run:?}");
    let run = home.run(&["pins", "list"]);
    assert!(run.stderr.contains("is gone"), "{run:?}");
    // What must not know of the server is not told of it.
    let run = home.run(&["tools", "--as", "two"]);
    assert!(!format!("{run:?}").contains("demo"), "{run:?}");

    let run = home.run(&["pins", "approve", "demo", "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.stdout
            .contains("approved demo: tool \"echo\" was added"),
        "{run:?}"
    );
    let run = echo(&home);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
}

#[test]
fn state_without_notes_is_read_without_a_complaint() {
    let (_server, home) = pinned();
    home.write("p/.mcp.json", ENTRY);
    let run = home.run(&["trust", "approve", "--all", "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fs::remove_dir_all(home.path("state/switchboard/kept")).unwrap();
    let run = echo(&home);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    let run = home.run(&["trust", "list"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    // By then all of it is noted.
    delete_pins(&home);
    assert_ne!(echo(&home).code, Some(0));
}
