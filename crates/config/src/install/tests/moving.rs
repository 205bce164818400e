//! Installs that move the client's servers, and their undo.

use serde_json::{Value, json};

use super::*;

const OWN: &str = ".config/switchboard/mcp.json";

const THEIRS: &str = r#"{
  // mine
  "theme": "dark",
  "mcpServers": {
    // time
    "time": { "command": "uvx", "args": ["mcp-server-time"] },
    "git hub": { "command": "gh", "env": { "TOKEN": "hunter2" }, "disabled": true },
    "wiki": { "url": "https://example.com/mcp" }
  }
}
"#;

fn moving(home: &Home) -> Installer {
    home.cursor().moving_to(home.path(OWN))
}

fn json_of(home: &Home, file: &str) -> Value {
    serde_json::from_str(&home.read(file).replace("  // mine\n", "")).unwrap()
}

#[test]
fn servers_move_to_the_users_own_file_and_come_back_exactly() {
    for own in [
        None,
        Some("{\n  // own\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }, // a\n  }\n}"),
        Some("{ \"servers\": [ { \"name\": \"a\", \"command\": \"a\" } ] }"),
    ] {
        let home = Home::new();
        home.write(CURSOR, THEIRS);
        if let Some(own) = own {
            home.write(OWN, own);
        }
        let done = install(&moving(&home));
        assert_eq!(done.change, InstallChange::Installed);
        assert_eq!(done.moved, ["time", "git-hub", "wiki"]);
        assert_eq!(done.left, []);
        assert_eq!(done.own_file, Some(home.path(OWN)));
        assert!(!done.diff.contains("hunter2"), "{}", done.diff);
        let gateway = json!({"switchboard": {"command": "/bin/switchboard", "args": ["serve"]}});
        let expected = json!({"theme": "dark", "mcpServers": gateway});
        assert_eq!(json_of(&home, CURSOR), expected);
        let config = crate::Config::load(&crate::Places::only(home.path(OWN)));
        assert!(config.problems().is_empty(), "{:?}", config.problems());
        let names = config
            .entries()
            .iter()
            .map(|entry| entry.name().to_string());
        let mut names: Vec<String> = names.collect();
        names.retain(|name| name != "a");
        assert_eq!(names, ["time", "git-hub", "wiki"]);
        assert!(!config.get("git-hub").unwrap().is_enabled());
        // A second run has nothing to move.
        assert_eq!(install(&moving(&home)).change, InstallChange::Unchanged);
        let back = undo(&home.cursor());
        assert_eq!(back.change, InstallChange::Restored);
        assert_eq!(back.moved, ["time", "git-hub", "wiki"]);
        assert_eq!(home.read(CURSOR), THEIRS);
        match own {
            Some(own) => assert_eq!(home.read(OWN), own),
            None => assert!(!home.path(".config").exists()),
        }
    }
}

#[test]
fn servers_come_back_to_files_that_have_changed() {
    let home = Home::new();
    home.write(CURSOR, THEIRS);
    home.write(OWN, "{}");
    install(&moving(&home));
    home.write(CURSOR, &home.read(CURSOR).replace("dark", "light"));
    // One of them was edited, and another was added.
    let own = home
        .read(OWN)
        .replace("mcp-server-time", "mcp-server-time@2");
    home.write(OWN, &own.replacen("{\n", "{ \"agents\": {},\n", 1));
    let back = undo(&home.cursor());
    assert_eq!(back.change, InstallChange::Removed);
    assert_eq!(back.left.len(), 1);
    assert_eq!(
        (back.left[0].name.as_str(), back.left[0].reason),
        ("time", LeftReason::Changed)
    );
    let theirs: Value = serde_json::from_str(
        &THEIRS
            .replace("  // mine\n", "")
            .replace("    // time\n", "")
            .replace("dark", "light"),
    )
    .unwrap();
    assert_eq!(json_of(&home, CURSOR), theirs);
    let own = json_of(&home, OWN);
    assert_eq!(own["mcpServers"].as_object().unwrap().len(), 1);
    assert_eq!(
        own["mcpServers"]["time"]["args"],
        json!(["mcp-server-time@2"])
    );
}

#[test]
fn a_server_that_cannot_move_stays_where_it_is() {
    let home = Home::new();
    let text = json!({"mcpServers": {
        "same": {"command": "a"},
        "taken": {"command": "theirs"},
        "broken": {"command": 1},
        "asks": {"command": "a", "env": {"KEY": "${input:key}"}},
        "other gateway": {"command": "/x/switchboard", "args": ["serve", "--profile", "p"]},
    }});
    home.write(CURSOR, &text.to_string());
    let own = r#"{"mcpServers": {"same": {"command": "a"}, "taken": {"command": "mine"}}}"#;
    home.write(OWN, own);
    let done = install(&moving(&home));
    assert_eq!(done.moved, ["same"]);
    let left: Vec<_> = done
        .left
        .iter()
        .map(|left| (left.name.as_str(), left.reason))
        .collect();
    let expected = [
        ("taken", LeftReason::NameTaken),
        ("broken", LeftReason::Invalid),
        ("asks", LeftReason::AsksForInput),
    ];
    assert_eq!(left, expected);
    assert_eq!(home.read(OWN), own);
    assert_eq!(undo(&home.cursor()).change, InstallChange::Restored);
    assert_eq!(home.read(CURSOR), text.to_string());
    assert_eq!(home.read(OWN), own);
}

#[test]
fn what_is_moved_later_comes_back_with_the_rest() {
    let home = Home::new();
    home.write(CURSOR, "{\n  \"mcpServers\": {}\n}\n");
    install(&home.cursor());
    let one = home.read(CURSOR).replacen("{\n", "{\n  \"x\": 1,\n", 1);
    let one = one.replace(
        "\"mcpServers\": {\n",
        "\"mcpServers\": {\n    \"one\": { \"command\": \"1\" },\n",
    );
    home.write(CURSOR, &one);
    assert_eq!(install(&moving(&home)).change, InstallChange::Updated);
    let two = home.read(CURSOR).replace(
        "\"mcpServers\": {\n",
        "\"mcpServers\": {\n    \"two\": { \"command\": \"2\" },\n",
    );
    home.write(CURSOR, &two);
    assert_eq!(install(&moving(&home)).moved, ["two"]);
    assert_eq!(undo(&home.cursor()).moved, ["one", "two"]);
    let expected =
        json!({"x": 1, "mcpServers": {"one": {"command": "1"}, "two": {"command": "2"}}});
    assert_eq!(json_of(&home, CURSOR), expected);
    assert!(!home.path(OWN).exists());
}

#[test]
fn a_toml_file_gives_its_servers_and_gets_them_back() {
    let home = Home::new();
    let file = ".codex/config.toml";
    let text = "model = \"m\"\n\n# notes\n[mcp_servers.notes]\ncommand = \"notes\"\n\n\
                [mcp_servers.notes.env]\nKEY = \"hunter2\"\n\n[tui]\nx = 1\n";
    home.write(file, text);
    let codex = home.installer(Client::Codex, InstallScope::User);
    let done = install(&codex.clone().moving_to(home.path(OWN)));
    assert_eq!(done.moved, ["notes"]);
    assert_eq!(
        home.read(file),
        "model = \"m\"\n\n[mcp_servers.switchboard]\ncommand = \"/bin/switchboard\"\n\
         args = [\"serve\"]\n\n[tui]\nx = 1\n"
    );
    assert_eq!(
        json_of(&home, OWN)["mcpServers"]["notes"]["env"]["KEY"],
        "hunter2"
    );
    home.write(file, &(home.read(file) + "y = 2\n"));
    assert_eq!(undo(&codex).change, InstallChange::Removed);
    assert_eq!(
        home.read(file),
        "model = \"m\"\n\n[tui]\nx = 1\ny = 2\n\n[mcp_servers.notes]\ncommand = \"notes\"\n\n\
         [mcp_servers.notes.env]\nKEY = \"hunter2\"\n"
    );
}

#[test]
fn a_move_that_fails_halfway_leaves_both_files_as_they_were() {
    for own in [None, Some("{}")] {
        let home = Home::new();
        home.write(CURSOR, THEIRS);
        if let Some(own) = own {
            home.write(OWN, own);
        }
        // A folder where the new text of the client's file would be written first.
        let in_the_way = home.path(CURSOR).with_file_name(".mcp.json.tmp");
        fs::create_dir(&in_the_way).unwrap();
        let failed = moving(&home).install(&command("/bin/switchboard"), Mode::Write);
        assert!(failed.is_err());
        assert_eq!(home.read(CURSOR), THEIRS);
        match own {
            Some(own) => assert_eq!(home.read(OWN), own),
            None => assert!(!home.path(".config").exists()),
        }
        assert_eq!(undo(&home.cursor()).change, InstallChange::NotInstalled);
    }
}

#[test]
fn a_broken_own_file_stops_the_move_before_anything_is_written() {
    let home = Home::new();
    home.write(CURSOR, THEIRS);
    home.write(OWN, "{ \"mcpServers\": { \"a\" } }");
    match moving(&home).install(&command("/bin/switchboard"), Mode::Write) {
        Err(InstallError::Broken(problem)) => assert_eq!(problem.file(), home.path(OWN)),
        other => panic!("{other:?}"),
    }
    assert_eq!(home.read(CURSOR), THEIRS);
    assert!(!home.path("records").exists());
}
