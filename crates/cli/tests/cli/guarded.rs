//! Files that are not what they should be: links, pipes, devices, and folders that others can change.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use crate::home::Home;
use crate::run::Run;

const OWN: &str = "config/switchboard/mcp.json";

/// A server that tells on whoever runs it.
const ENTRY: &str = r#"{"mcpServers": {"one": {"command": "sh", "args": ["-c", "touch canary"]}}}"#;

fn fifo(home: &Home, path: &str) {
    let made = Command::new("mkfifo").arg(home.path(path)).status();
    assert!(made.unwrap().success());
}

fn set_mode(home: &Home, path: &str, mode: u32) {
    fs::set_permissions(home.path(path), fs::Permissions::from_mode(mode)).unwrap();
}

#[track_caller]
fn fails(run: &Run, code: i32, told: &[&str]) {
    assert_eq!(run.code, Some(code), "{run:?}");
    for told in told {
        assert!(run.stderr.contains(told), "{told:?} is not in {run:?}");
    }
}

#[test]
fn a_lock_that_is_a_link_a_pipe_or_a_device_is_not_read() {
    let home = Home::new();
    home.write("p/.mcp.json", r#"{"mcpServers": {}}"#);
    symlink("/dev/zero", home.path("p/mcp.lock")).unwrap();
    fails(&home.run(&["verify"]), 6, &["~/p/mcp.lock", "it is a link"]);
    fs::remove_file(home.path("p/mcp.lock")).unwrap();
    fifo(&home, "p/mcp.lock");
    fails(
        &home.run(&["verify"]),
        6,
        &["~/p/mcp.lock", "it is not a regular file"],
    );
    fs::remove_file(home.path("p/mcp.lock")).unwrap();
    fs::create_dir(home.path("p/mcp.lock")).unwrap();
    fails(&home.run(&["verify"]), 6, &["it is not a regular file"]);
}

#[test]
fn a_projects_settings_folder_that_is_a_link_is_not_gone_through() {
    let home = Home::new();
    home.write("elsewhere/mcp.json", ENTRY);
    symlink(home.path("elsewhere"), home.path("p/.switchboard")).unwrap();
    let run = home.run(&["config", "check"]);
    fails(&run, 6, &[]);
    let told = format!("{}{}", run.stdout, run.stderr);
    assert!(told.contains("~/p/.switchboard is a link"), "{run:?}");
    fails(
        &home.run(&["tools", "one"]),
        6,
        &["its folder ~/p/.switchboard is a link"],
    );
    // Nor is anything written through it.
    let run = home.run(&["add", "-s", "project", "two", "--", "sh"]);
    fails(&run, 6, &["the file's folder is a link"]);
    assert_eq!(home.read("elsewhere/mcp.json"), ENTRY);
    assert!(!home.has_canary());
}

#[test]
fn what_a_projects_entry_names_inside_of_the_project_is_no_link() {
    for entry in [
        r#""command": "sh", "env_file": "settings""#,
        r#""command": "sh", "env_file": "./nothing/../settings""#,
        r#""command": "sh", "args": ["${file:settings}"]"#,
        r#""command": "sh", "args": ["${file:inner/settings}"]"#,
    ] {
        let home = Home::new();
        home.write("private/settings", "A=secret-of-the-person\n");
        symlink(home.path("private/settings"), home.path("p/settings")).unwrap();
        symlink(home.path("private"), home.path("p/inner")).unwrap();
        home.write(
            "p/.mcp.json",
            &format!(r#"{{"mcpServers": {{"one": {{{entry}}}}}}}"#),
        );
        // Whether that is noticed before or after the approval, nothing is run with it.
        home.run(&["trust", "approve", "one", "--yes"]);
        let run = home.run(&["tools", "one"]);
        assert!(matches!(run.code, Some(6 | 7)), "{entry}: {run:?}");
        assert!(run.stderr.contains("is a link"), "{entry}: {run:?}");
        assert!(!run.stderr.contains("secret-of-the-person"), "{run:?}");
        assert!(!home.has_canary(), "{entry}");
    }
}

#[test]
fn nothing_is_imported_through_a_link_of_a_project() {
    let home = Home::new();
    home.write("elsewhere/mcp.json", ENTRY);
    symlink(home.path("elsewhere"), home.path("p/.cursor")).unwrap();
    for source in ["cursor", ".cursor/mcp.json"] {
        let run = home.run(&["import", source, "--yes"]);
        fails(&run, 6, &["is a link"]);
        assert!(!home.path(OWN).exists(), "{run:?}");
    }
    symlink("/dev/zero", home.path("p/given.json")).unwrap();
    fails(
        &home.run(&["import", "given.json", "--yes"]),
        6,
        &["it is a link"],
    );
    fifo(&home, "p/pipe.json");
    fails(
        &home.run(&["import", "pipe.json", "--yes"]),
        6,
        &["it is not a regular file"],
    );
}

#[test]
fn files_on_the_command_line_are_bounded_and_may_be_pipes() {
    let home = Home::new();
    let zero = "--ca-file=/dev/zero";
    let run = home.run(&["tools", "--url", "https://localhost:1/", zero]);
    fails(
        &run,
        2,
        &[
            "--ca-file: the file cannot be read",
            "it is longer than 8192 KiB",
        ],
    );
    let run = home.run(&["call", "demo/echo", "message=@/dev/zero"]);
    fails(&run, 2, &["it is longer than"]);
    let run = home.run(&["call", "demo/echo", "message=@."]);
    fails(&run, 2, &["it is a folder"]);
    let run = home.run(&["call", "demo/echo", "message=x", "--answers", "/dev/zero"]);
    fails(&run, 2, &["it is longer than"]);
    fifo(&home, "p/pipe");
    let piped = std::thread::scope(|scope| {
        scope.spawn(|| fs::write(home.path("p/pipe"), "piped").unwrap());
        home.run(&["call", "demo/echo", "message=@pipe"])
    });
    assert_eq!(
        (piped.code, piped.stdout.as_str()),
        (Some(0), "piped\n"),
        "{piped:?}"
    );
}

#[test]
fn a_config_in_a_folder_that_anybody_can_change_is_refused() {
    let home = Home::new();
    home.write(OWN, ENTRY);
    set_mode(&home, "config", 0o777);
    for args in [
        &["tools", "one"][..],
        &["servers", "one"],
        &["config", "check"],
    ] {
        let run = home.run(args);
        let told = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, Some(6), "{run:?}");
        assert!(
            told.contains("everybody may change the folder ~/config (mode 777)"),
            "{run:?}"
        );
        assert!(told.contains("chmod o-w ~/config"), "{run:?}");
    }
    assert!(!home.has_canary());
    // What the hint says mends it.
    set_mode(&home, "config", 0o775);
    let run = home.run(&["config", "check"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let told = format!("{}{}", run.stdout, run.stderr);
    assert!(
        told.contains("others of a group may replace it, by the folder ~/config"),
        "{run:?}"
    );
    assert!(told.contains("chmod g-w ~/config"), "{run:?}");
    set_mode(&home, "config", 0o1777);
    let run = home.run(&["config", "check"]);
    assert!(!run.stdout.contains("~/config/"), "{run:?}");
}

#[test]
fn approvals_below_a_folder_that_anybody_can_change_count_for_nothing() {
    let home = Home::new();
    home.write("p/.mcp.json", ENTRY);
    fs::create_dir(home.path("state")).unwrap();
    set_mode(&home, "state", 0o777);
    let told = [
        "everybody may change the folder ~/state (mode 777)",
        "`chmod o-w ~/state`",
    ];
    fails(&home.run(&["trust", "approve", "one", "--yes"]), 7, &told);
    fails(&home.run(&["trust", "list"]), 7, &told);
    fails(&home.run(&["tools", "one"]), 7, &told);
    let run = home.run(&["doctor"]);
    assert_eq!(run.code, Some(7), "{run:?}");
    set_mode(&home, "state", 0o775);
    let run = home.run(&["trust", "approve", "one", "--yes"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = home.run(&["tools", "one"]);
    assert!(
        run.stderr
            .contains("group members can write to ~/state and"),
        "{run:?}"
    );
    assert!(run.stderr.contains("`chmod g-w ~/state`"), "{run:?}");
}
