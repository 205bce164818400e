//! Installs into files of clients, and their undo.

mod corpus;
mod moving;

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use switchboard_core::environment::Environment;
use switchboard_core::spec::ServerName;

use super::*;
use crate::Client;
use crate::edit::{EditError, member};

/// A home folder with a project in it.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir(home.path("p")).unwrap();
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn environment(&self) -> Environment {
        let home = self.path("").display().to_string();
        [("HOME".to_owned(), home)].into_iter().collect()
    }

    fn target(&self, client: Client, scope: InstallScope) -> Target {
        Target::find(client, scope, &self.environment(), &self.path("p")).unwrap()
    }

    fn installer(&self, client: Client, scope: InstallScope) -> Installer {
        let name = ServerName::parse("switchboard").unwrap();
        Installer::new(self.target(client, scope), name, self.path("records"))
    }

    fn cursor(&self) -> Installer {
        self.installer(Client::Cursor, InstallScope::User)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }
}

const CURSOR: &str = ".cursor/mcp.json";

fn command(program: &str) -> GatewayCommand {
    GatewayCommand {
        program: PathBuf::from(program),
        arguments: Vec::new(),
    }
}

#[track_caller]
fn install(installer: &Installer) -> Outcome {
    let command = command("/bin/switchboard");
    installer.install(&command, Mode::Write).unwrap()
}

#[track_caller]
fn undo(installer: &Installer) -> Outcome {
    installer.undo(Mode::Write).unwrap()
}

/// Files as people have them, each with the path of the one that an install writes.
const FILES: &[(&str, &str)] = &[
    ("empty", ""),
    ("blank", "\n\n"),
    ("no servers", "{}"),
    ("no final newline", "{\n  \"mcpServers\": {}\n}"),
    (
        "comments",
        "// mine\n{\n  // servers\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }, // last\n  },\n}\n",
    ),
    (
        "crlf",
        "{\r\n\t\"theme\": \"dark\",\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {\"command\": \"a\"}\r\n\t}\r\n}\r\n",
    ),
    (
        "mark",
        "\u{feff}{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}",
    ),
    ("one line", "{\"numStartups\":3,\"mcpServers\":{}}"),
    ("tabs", "{\n\t\"x\": [1,\t2]\n}\n\n\n"),
    ("comment alone", "// nothing yet"),
];

const TOML_FILES: &[(&str, &str)] = &[
    ("empty", ""),
    (
        "comments",
        "# mine\nmodel = \"m\" # c\n\n[mcp_servers.a]\ncommand = 'a'\n\n\n# end",
    ),
    ("crlf", "model = \"m\"\r\n\r\n[tui]\r\n\tx = [1,\r\n2]\r\n"),
    ("mark", "\u{feff}[mcp_servers.a]\nenv = { KEY = \"x\" }"),
    (
        "text",
        "notes = \"\"\"\n[mcp_servers.switchboard]\n\"\"\"\n",
    ),
];

#[test]
fn an_undo_restores_every_file_byte_for_byte() {
    for client in Target::CLIENTS {
        let files = match client {
            Client::Codex => TOML_FILES,
            _ => FILES,
        };
        for (what, text) in files {
            let home = Home::new();
            let installer = home.installer(*client, InstallScope::User);
            let file = home.target(*client, InstallScope::User).file().to_owned();
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
            assert_eq!(install(&installer).change, InstallChange::Installed);
            let after = fs::read_to_string(&file).unwrap();
            assert_ne!(after, *text, "{client}: {what}");
            // A second run changes nothing.
            assert_eq!(install(&installer).change, InstallChange::Unchanged);
            assert_eq!(fs::read_to_string(&file).unwrap(), after);
            assert_eq!(undo(&installer).change, InstallChange::Restored);
            assert_eq!(
                fs::read_to_string(&file).unwrap(),
                *text,
                "{client}: {what}"
            );
            assert_eq!(undo(&installer).change, InstallChange::NotInstalled);
        }
    }
}

#[test]
fn each_client_gets_the_entry_in_its_own_form() {
    let plain = r#"{"command": "/bin/switchboard", "args": ["serve"]}"#;
    let stdio = r#"{"type": "stdio", "command": "/bin/switchboard", "args": ["serve"]}"#;
    let list = r#"{"type": "local", "command": ["/bin/switchboard", "serve"]}"#;
    for (client, path, root, entry) in [
        (Client::ClaudeCode, ".claude.json", "mcpServers", stdio),
        (Client::Cursor, ".cursor/mcp.json", "mcpServers", plain),
        (Client::Gemini, ".gemini/settings.json", "mcpServers", plain),
        (
            Client::Windsurf,
            ".codeium/windsurf/mcp_config.json",
            "mcpServers",
            plain,
        ),
        (
            Client::OpenCode,
            ".config/opencode/opencode.json",
            "mcp",
            list,
        ),
        (
            Client::Zed,
            ".config/zed/settings.json",
            "context_servers",
            plain,
        ),
    ] {
        let home = Home::new();
        install(&home.installer(client, InstallScope::User));
        let text = home.read(path);
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expected: serde_json::Value = serde_json::from_str(entry).unwrap();
        assert_eq!(json[root]["switchboard"], expected, "{text}");
    }
    let home = Home::new();
    install(&home.installer(Client::Codex, InstallScope::User));
    assert_eq!(
        home.read(".codex/config.toml"),
        "[mcp_servers.switchboard]\ncommand = \"/bin/switchboard\"\nargs = [\"serve\"]\n"
    );
    let home = Home::new();
    install(&home.installer(Client::VsCode, InstallScope::Project));
    assert_eq!(
        home.read("p/.vscode/mcp.json"),
        "{\n  \"servers\": {\n    \"switchboard\": {\n      \"type\": \"stdio\",\n      \
         \"command\": \"/bin/switchboard\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n"
    );
}

#[test]
fn a_file_and_folders_that_the_install_made_are_gone_after_the_undo() {
    let home = Home::new();
    let installer = home.installer(Client::Zed, InstallScope::User);
    install(&installer);
    assert_eq!(undo(&installer).change, InstallChange::Deleted);
    assert!(!home.path(".config").exists());
    // A folder that somebody uses by then stays.
    install(&installer);
    home.write(".config/other", "");
    undo(&installer);
    assert!(!home.path(".config/zed").exists() && home.path(".config/other").exists());
}

#[test]
fn a_file_that_has_changed_loses_the_entry_alone() {
    let home = Home::new();
    home.write(CURSOR, "{\n  // mine\n  \"mcpServers\": {}\n}\n");
    install(&home.cursor());
    let later = home.read(CURSOR).replace("// mine", "// mine, later");
    home.write(CURSOR, &later);
    assert_eq!(undo(&home.cursor()).change, InstallChange::Removed);
    assert_eq!(
        home.read(CURSOR),
        "{\n  // mine, later\n  \"mcpServers\": {}\n}\n"
    );
}

#[test]
fn a_client_may_add_settings_to_the_entry() {
    let home = Home::new();
    install(&home.cursor());
    let later = home.read(CURSOR).replace(
        "[\"serve\"]",
        "[\"serve\"],\n      \"disabled\": true // off",
    );
    home.write(CURSOR, &later);
    assert_eq!(install(&home.cursor()).change, InstallChange::Unchanged);
    // The program has moved: the settings stay.
    let moved = home
        .cursor()
        .install(&command("/opt/switchboard"), Mode::Write);
    assert_eq!(moved.unwrap().change, InstallChange::Updated);
    assert_eq!(home.read(CURSOR), later.replace("/bin/", "/opt/"));
    assert_eq!(undo(&home.cursor()).change, InstallChange::Restored);
    assert_eq!(home.read(CURSOR), "{\n  \"mcpServers\": {}\n}\n");
}

#[test]
fn a_toml_file_is_updated_undone_and_left_alone_if_it_is_broken() {
    let home = Home::new();
    let file = ".codex/config.toml";
    let codex = home.installer(Client::Codex, InstallScope::User);
    home.write(file, "model = \"m\" # mine\n");
    install(&codex);
    let later = home.read(file) + "enabled = false\n\n[tui]\nx = 1\n";
    home.write(file, &later);
    assert_eq!(install(&codex).change, InstallChange::Unchanged);
    let moved = codex
        .install(&command("/opt/switchboard"), Mode::Write)
        .unwrap();
    assert_eq!(moved.change, InstallChange::Updated);
    assert_eq!(home.read(file), later.replace("/bin/", "/opt/"));
    let more = home.read(file) + "y = 2\n";
    home.write(file, &more);
    assert_eq!(undo(&codex).change, InstallChange::Removed);
    assert_eq!(
        home.read(file),
        "model = \"m\" # mine\n\n[tui]\nx = 1\ny = 2\n"
    );
    home.write(file, "a = 1\n[mcp_servers\n");
    match codex
        .install(&command("/bin/switchboard"), Mode::Write)
        .unwrap_err()
    {
        InstallError::Broken(problem) => assert_eq!(problem.line(), Some(2)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn claude_code_keeps_what_is_local_under_the_path_of_the_repository() {
    let home = Home::new();
    home.write("p/.git/HEAD", "");
    fs::create_dir(home.path("p/sub")).unwrap();
    let folder = home.path("p/sub");
    let environment = home.environment();
    let find = |client| Target::find(client, InstallScope::Local, &environment, &folder);
    let name = ServerName::parse("switchboard").unwrap();
    let target = find(Client::ClaudeCode).unwrap();
    let text = format!(
        "{{\"projects\": {{{:?}: {{\"allowedTools\": []}}}}}}",
        home.path("p")
    );
    home.write(".claude.json", &text);
    let installer = Installer::new(target, name, home.path("records"));
    install(&installer);
    let json: serde_json::Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    let project = &json["projects"][home.path("p").to_str().unwrap()];
    assert_eq!(
        project["mcpServers"]["switchboard"]["command"],
        "/bin/switchboard"
    );
    assert_eq!(undo(&installer).change, InstallChange::Restored);
    assert_eq!(home.read(".claude.json"), text);
    assert!(matches!(
        find(Client::Cursor),
        Err(InstallError::NoFile { .. })
    ));
}

#[test]
fn installs_of_two_scopes_in_one_file_are_undone_each_for_itself() {
    let home = Home::new();
    let (own, local) = (
        home.installer(Client::ClaudeCode, InstallScope::User),
        home.installer(Client::ClaudeCode, InstallScope::Local),
    );
    let has = |pointer: &str| {
        let json: serde_json::Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
        json.pointer(pointer).is_some()
    };
    let project = home.path("p").display().to_string().replace('/', "~1");
    let (in_own, in_local) = (
        "/mcpServers/switchboard".to_owned(),
        format!("/projects/{project}/mcpServers/switchboard"),
    );
    home.write(".claude.json", "{\"theme\": \"dark\"}");
    install(&own);
    let before = home.read(".claude.json");
    install(&local);
    assert!(has(&in_own) && has(&in_local));
    assert_eq!(undo(&own).change, InstallChange::Removed);
    assert!(!has(&in_own) && has(&in_local));
    assert_eq!(undo(&local).change, InstallChange::Removed);
    // The other way round, the last one leads back exactly.
    home.write(".claude.json", &before);
    install(&local);
    assert_eq!(undo(&local).change, InstallChange::Restored);
    assert_eq!(home.read(".claude.json"), before);
}

#[test]
fn an_update_keeps_the_way_back_to_the_first_text() {
    let home = Home::new();
    home.write(CURSOR, "{ }");
    install(&home.cursor());
    let moved = home
        .cursor()
        .install(&command("/opt/switchboard"), Mode::Write);
    assert_eq!(moved.unwrap().change, InstallChange::Updated);
    assert_eq!(undo(&home.cursor()).change, InstallChange::Restored);
    assert_eq!(home.read(CURSOR), "{ }");
}

#[test]
fn another_server_of_the_name_is_left_alone() {
    let home = Home::new();
    let text = r#"{"mcpServers": {"switchboard": {"command": "board", "args": ["serve"]}}}"#;
    home.write(CURSOR, text);
    let failed = home
        .cursor()
        .install(&command("/bin/switchboard"), Mode::Write);
    assert!(matches!(failed, Err(InstallError::NameTaken(_))));
    assert!(matches!(
        home.cursor().undo(Mode::Write),
        Err(InstallError::NotOurs(_))
    ));
    assert_eq!(home.read(CURSOR), text);
}

#[test]
fn an_entry_that_a_person_wrote_is_known_by_its_command() {
    for entry in [
        r#"{"command": "switchboard", "args": ["serve"]}"#,
        r#"{"command": "C:\\bin\\switchboard.exe", "args": ["serve", "-q"]}"#,
        r#"{"command": ["/old/switchboard", "serve"]}"#,
    ] {
        let home = Home::new();
        home.write(
            CURSOR,
            &format!("{{\"mcpServers\": {{\"switchboard\": {entry}}}}}"),
        );
        assert_eq!(
            undo(&home.cursor()).change,
            InstallChange::Removed,
            "{entry}"
        );
        assert_eq!(home.read(CURSOR), "{\"mcpServers\": {}}");
    }
}

#[test]
fn a_broken_file_stays_as_it_is_and_the_place_is_named() {
    let twice = "{\"mcpServers\": {}, \"mcpServers\": {}}";
    for (text, line) in [
        ("{\n  \"mcpServers\": {\n    \"a\" {}\n  }\n}\n", Some(3)),
        ("{\"mcpServers\": []}", None),
        ("[]", None),
        (twice, None),
    ] {
        let home = Home::new();
        home.write(CURSOR, text);
        for mode in [Mode::Write, Mode::DryRun] {
            let error = home.cursor().install(&command("/bin/switchboard"), mode);
            let found = match error.unwrap_err() {
                InstallError::Broken(problem) => problem.line(),
                InstallError::Edit(EditError::Shape { .. } | EditError::Twice { .. }) => None,
                other => panic!("{other:?}"),
            };
            assert_eq!(found, line, "{text}");
            assert!(home.cursor().undo(mode).is_err(), "{text}");
        }
        assert_eq!(home.read(CURSOR), text);
        assert!(!home.path("records").exists());
    }
}

#[test]
fn a_dry_run_shows_a_masked_difference_and_writes_nothing() {
    let home = Home::new();
    let text = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"a\",\n      \
                \"env\": { \"KEY\": \"hunter2\" } // hunter2\n    }\n  }\n}\n";
    home.write(CURSOR, text);
    let dry = home
        .cursor()
        .install(&command("/bin/switchboard"), Mode::DryRun);
    let dry = dry.unwrap();
    let file = home.path(CURSOR).display().to_string();
    let expected = [
        &format!("--- {file}"),
        &format!("+++ {file}"),
        "@@ -3,6 +3,10 @@",
        "     \"a\": {",
        "       \"command\": \"a\",",
        "       \"env\": { \"KEY\": \"***\" } //***",
        "+    },",
        "+    \"switchboard\": {",
        "+      \"command\": \"/bin/switchboard\",",
        "+      \"args\": [\"serve\"]",
        "     }",
        "   }",
        " }",
        "",
    ];
    assert_eq!(
        dry.diff.lines().collect::<Vec<_>>(),
        &expected[..expected.len() - 1]
    );
    assert_eq!(home.read(CURSOR), text);
    assert!(!home.path("records").exists());
    assert_eq!(install(&home.cursor()).diff, dry.diff);
    let back = home.cursor().undo(Mode::DryRun).unwrap();
    assert_eq!(back.change, InstallChange::Restored);
    assert!(
        back.diff.contains("-    \"switchboard\": {"),
        "{}",
        back.diff
    );
    // Nor does it make folders.
    let home = Home::new();
    let zed = home.installer(Client::Zed, InstallScope::User);
    let dry = zed
        .install(&command("/bin/switchboard"), Mode::DryRun)
        .unwrap();
    assert!(dry.diff.starts_with("--- /dev/null\n"), "{}", dry.diff);
    assert!(!home.path(".config").exists());
}

#[cfg(unix)]
#[test]
fn a_link_of_a_project_cannot_redirect_an_install() {
    use std::os::unix::fs::symlink;

    let home = Home::new();
    home.write("mine/mcp.json", "{}");
    symlink(home.path("mine"), home.path("p/.cursor")).unwrap();
    fs::create_dir(home.path("p/.vscode")).unwrap();
    symlink("../../mine/mcp.json", home.path("p/.vscode/mcp.json")).unwrap();
    // Links to where nothing is yet.
    symlink("/nowhere/at/all", home.path("p/.gemini")).unwrap();
    symlink(home.path("new.json"), home.path("p/.mcp.json")).unwrap();
    for client in [
        Client::Cursor,
        Client::VsCode,
        Client::Gemini,
        Client::ClaudeCode,
    ] {
        let installer = home.installer(client, InstallScope::Project);
        let done = installer.install(&command("/bin/switchboard"), Mode::Write);
        let is_refused = matches!(
            done,
            Err(InstallError::Outside { .. } | InstallError::Edit(EditError::Io { .. }))
        );
        assert!(is_refused, "{client}: {done:?}");
    }
    assert_eq!(home.read("mine/mcp.json"), "{}");
    assert!(!home.path("new.json").exists());
}

#[cfg(unix)]
#[test]
fn a_link_of_the_user_is_followed_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let home = Home::new();
    home.write("dotfiles/mcp.json", "{}");
    fs::set_permissions(
        home.path("dotfiles/mcp.json"),
        fs::Permissions::from_mode(0o640),
    )
    .unwrap();
    fs::create_dir(home.path(".cursor")).unwrap();
    symlink("../dotfiles/mcp.json", home.path(CURSOR)).unwrap();
    assert_eq!(install(&home.cursor()).file, home.path("dotfiles/mcp.json"));
    let is_link = |path: &Path| fs::symlink_metadata(path).unwrap().is_symlink();
    assert!(is_link(&home.path(CURSOR)));
    let mode = |path: &str| fs::metadata(home.path(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("dotfiles/mcp.json"), 0o640);
    assert_eq!(undo(&home.cursor()).change, InstallChange::Restored);
    assert!(is_link(&home.path(CURSOR)));
    // A new file of the user is private, and so are the records.
    let home = Home::new();
    install(&home.cursor());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.path(CURSOR)), 0o600);
    for record in fs::read_dir(home.path("records")).unwrap() {
        assert_eq!(mode(&record.unwrap().path()), 0o600);
    }
}

#[test]
fn many_installs_at_once_make_one_entry_each() {
    let home = Home::new();
    home.write(CURSOR, "{}");
    std::thread::scope(|scope| {
        for at in 0..8 {
            let home = &home;
            scope.spawn(move || {
                let name = ServerName::parse(&format!("s{}", at / 2)).unwrap();
                let target = home.target(Client::Cursor, InstallScope::User);
                install(&Installer::new(target, name, home.path("records")));
            });
        }
    });
    let json: serde_json::Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    assert_eq!(json["mcpServers"].as_object().unwrap().len(), 4);
}

#[test]
fn a_client_without_a_file_in_the_scope_is_refused() {
    let home = Home::new();
    let find = |client, scope| Target::find(client, scope, &home.environment(), &home.path("p"));
    for client in [Client::ClaudeDesktop, Client::Windsurf] {
        let error = find(client, InstallScope::Project).unwrap_err();
        assert!(matches!(error, InstallError::NoFile { .. }));
    }
    let error = find(Client::Cline, InstallScope::User).unwrap_err();
    assert!(matches!(error, InstallError::Client(Client::Cline)));
    let lost = Target::find(
        Client::Cursor,
        InstallScope::User,
        &Environment::default(),
        Path::new("/p"),
    );
    assert!(matches!(lost, Err(InstallError::NoFile { .. })));
}

/// Texts of JSON files with comments, and others.
fn text() -> impl Strategy<Value = String> {
    let gap = prop_oneof![
        3 => Just(""),
        3 => Just("\n  "),
        1 => Just("\r\n\t"),
        1 => Just(" /* c */ "),
        1 => Just(" // c\n"),
    ];
    let servers = prop_oneof![
        Just("{}"),
        Just("{\"a\": {\"command\": \"a\"}}"),
        Just("{ \"a\": {},\n// b\n\"b\": {}, }"),
    ];
    (
        gap.clone(),
        gap.clone(),
        gap,
        servers,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(one, two, three, servers, has_servers, has_mark)| {
            let mark = if has_mark { "\u{feff}" } else { "" };
            let servers = if has_servers {
                format!(",{three}\"mcpServers\":{one}{servers}")
            } else {
                String::new()
            };
            format!("{mark}{one}{{{two}\"x\": \"ü\"{servers}{two}}}{three}")
        })
}

proptest! {
    #[test]
    fn any_text_comes_back_from_an_install(text in text()) {
        let home = Home::new();
        home.write(CURSOR, &text);
        install(&home.cursor());
        // What was there is still there, in the same order.
        let after = home.read(CURSOR);
        let mut rest = after.chars();
        prop_assert!(text.chars().filter(|c| !c.is_whitespace()).all(|c| rest.any(|r| r == c)));
        prop_assert_eq!(undo(&home.cursor()).change, InstallChange::Restored);
        prop_assert_eq!(home.read(CURSOR), text);
    }

    #[test]
    fn any_text_that_has_changed_since_loses_the_entry_alone(text in text(), is_first in any::<bool>()) {
        let home = Home::new();
        home.write(CURSOR, &text);
        install(&home.cursor());
        let path: &[&str] = if is_first { &["x"] } else { &["mcpServers", "later"] };
        let later = member::set(&home.read(CURSOR), path, &serde_json::json!({ "command": "l" }));
        home.write(CURSOR, &later.unwrap());
        prop_assert_eq!(undo(&home.cursor()).change, InstallChange::Removed);
        // The same as without the install, but for the empty object that it may have made.
        let expected = member::set(&text, path, &serde_json::json!({ "command": "l" })).unwrap();
        let value = |text: &str| {
            let mut value = member::value_at(text, &[]).unwrap().unwrap();
            let members = value.as_object_mut().unwrap();
            members.entry("mcpServers").or_insert_with(|| serde_json::json!({}));
            value
        };
        prop_assert_eq!(value(&home.read(CURSOR)), value(&expected));
    }
}
