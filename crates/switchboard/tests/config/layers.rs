//! Which of several files has the last word, and which are not listened to.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use switchboard::config::{Config, Places, Problem, ProblemKind, Severity};
use switchboard::spec::Layer;
use switchboard::transport::Environment;

/// A home folder with a project in it.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("code/shop")).unwrap();
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        path
    }

    /// A file with servers of these names and commands.
    fn servers(&self, path: &str, servers: &[(&str, &str)]) -> PathBuf {
        let entries: Vec<String> = servers
            .iter()
            .map(|(name, command)| format!(r#""{name}": {{ "command": "{command}" }}"#))
            .collect();
        self.write(
            path,
            &format!(r#"{{ "mcpServers": {{ {} }} }}"#, entries.join(", ")),
        )
    }

    fn load(&self) -> Config {
        let home = self.folder.path().to_str().unwrap().to_owned();
        let host: Environment = [("HOME".to_owned(), home)].into_iter().collect();
        let mut places = Places::of(&host, self.path("code/shop"));
        if cfg!(target_os = "macos") {
            let file = self.path(".config");
            let xdg = (
                "XDG_CONFIG_HOME".to_owned(),
                file.to_str().unwrap().to_owned(),
            );
            let home = self.folder.path().to_str().unwrap().to_owned();
            let host: Environment = [("HOME".to_owned(), home), xdg].into_iter().collect();
            places = Places::of(&host, self.path("code/shop"));
        }
        Config::load(&places)
    }
}

const USER: &str = ".config/switchboard/mcp.json";

fn commands(config: &Config) -> Vec<(String, String)> {
    let entries = config.entries().iter();
    entries
        .map(|entry| {
            (
                entry.name().to_string(),
                entry.command().unwrap().to_owned(),
            )
        })
        .collect()
}

fn kinds(config: &Config) -> Vec<(Severity, ProblemKind)> {
    let problems = config.problems().iter();
    problems
        .map(|problem| (problem.severity(), problem.kind()))
        .collect()
}

#[test]
fn the_nearer_whole_entry_wins_and_remembers_what_it_hides() {
    let home = Home::new();
    home.servers(USER, &[("a", "user"), ("b", "user"), ("z", "user")]);
    home.servers(".mcp.json", &[("b", "home")]);
    home.servers("code/.mcp.json", &[("b", "code"), ("c", "code")]);
    home.servers("code/shop/.mcp.json", &[("c", "shop"), ("d", "shop")]);
    home.servers(
        "code/shop/.switchboard/mcp.json",
        &[("d", "ours"), ("a", "ours")],
    );
    let config = home.load();
    assert_eq!(config.problems(), []);
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    };
    assert_eq!(
        commands(&config),
        pairs(&[
            ("a", "ours"),
            ("b", "code"),
            ("z", "user"),
            ("c", "shop"),
            ("d", "ours")
        ])
    );
    assert_eq!(config.shadowed().len(), 5);
    let b = config.get("b").unwrap();
    let hidden: Vec<String> = b
        .shadows()
        .iter()
        .map(|origin| origin.layer.to_string())
        .collect();
    let folder = home.folder.path().display();
    assert_eq!(hidden, ["user".to_owned(), format!("ancestor:{folder}")]);
    assert_eq!(b.origin().layer, Layer::Ancestor(home.path("code")));
    assert_eq!((b.origin().line, b.origin().column), (Some(1), Some(19)));
    assert_eq!(b.origin().pointer, "/mcpServers/b");
    let d = config.get("d").unwrap();
    assert_eq!(d.origin().layer, Layer::Project);
    assert_eq!(d.folder(), home.path("code/shop"));
    let entries: Vec<usize> = config.files().iter().map(|file| file.entries).collect();
    assert_eq!(entries, [3, 1, 2, 2, 2]);
}

#[test]
fn a_nearer_entry_that_is_bad_does_not_hide_a_farther_one() {
    let home = Home::new();
    home.servers(USER, &[("a", "user")]);
    home.write(
        "code/shop/.mcp.json",
        r#"{"mcpServers": {"a": {"args": ["x"]}}}"#,
    );
    let config = home.load();
    assert_eq!(config.get("a").unwrap().command(), Some("user"));
    assert_eq!(
        kinds(&config),
        [
            (Severity::Error, ProblemKind::NoTransport),
            (Severity::Warning, ProblemKind::FellBack)
        ]
    );
    assert_eq!(
        config.bad("a").map(Problem::kind),
        Some(ProblemKind::NoTransport)
    );
}

#[test]
fn a_file_that_is_no_json_costs_itself_and_no_other() {
    let home = Home::new();
    home.servers(USER, &[("a", "user")]);
    let bad = home.write("code/.mcp.json", "{");
    home.servers("code/shop/.mcp.json", &[("b", "shop")]);
    let config = home.load();
    assert_eq!(config.entries().len(), 2);
    assert_eq!(config.problems()[0].file(), bad);
    let refused: Vec<bool> = config.files().iter().map(|file| file.is_refused).collect();
    assert_eq!(refused, [false, true, false]);
}

#[test]
fn a_named_file_is_the_only_one_and_must_be_there() {
    let home = Home::new();
    home.servers(USER, &[("a", "user")]);
    let file = home.servers("other.json", &[("b", "named")]);
    let config = Config::load(&Places::only(&file));
    assert_eq!(config.entries().len(), 1);
    assert_eq!(config.entries()[0].origin().layer, Layer::Named);
    let config = Config::load(&Places::only(home.path("absent.json")));
    assert_eq!(kinds(&config), [(Severity::Error, ProblemKind::Unreadable)]);
    let gemini = home.write(
        ".gemini/settings.json",
        r#"{"mcpServers":{"a":{"url":"http://localhost/"}}}"#,
    );
    let config = Config::load(&Places::only(gemini));
    assert_eq!(config.entries()[0].transport().to_string(), "sse");
}

#[test]
fn sections_of_the_person_are_fine_in_their_own_file_only() {
    let home = Home::new();
    let some = r#"{"agents": {}, "audience": {}, "pins": {}}"#;
    let others = r#"{"limits": {}, "providers": {}, "network": {}}"#;
    for own in [some, others] {
        home.write(USER, own);
        assert_eq!(home.load().problems(), []);
    }
    home.write("code/.mcp.json", some);
    home.write("code/shop/.switchboard/mcp.json", others);
    let config = home.load();
    assert_eq!(
        kinds(&config),
        [(Severity::Error, ProblemKind::UserOnly); 6]
    );
}

#[test]
fn a_file_that_others_may_write_is_refused_and_one_for_the_group_warns() {
    let home = Home::new();
    let file = home.servers("code/shop/.mcp.json", &[("a", "x")]);
    fs::set_permissions(&file, Permissions::from_mode(0o664)).unwrap();
    let config = home.load();
    assert_eq!(
        kinds(&config),
        [(Severity::Warning, ProblemKind::GroupWritable)]
    );
    assert_eq!(config.entries().len(), 1);
    fs::set_permissions(&file, Permissions::from_mode(0o646)).unwrap();
    let config = home.load();
    assert_eq!(kinds(&config), [(Severity::Error, ProblemKind::Refused)]);
    assert_eq!(config.entries().len(), 0);
    assert!(config.files()[0].is_refused);
}

#[test]
fn what_is_no_file_is_refused_without_waiting() {
    let home = Home::new();
    let pipe = home.path("code/shop/.mcp.json");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    fs::create_dir_all(home.path("code/shop/.switchboard/mcp.json")).unwrap();
    let config = home.load();
    assert_eq!(kinds(&config), [(Severity::Error, ProblemKind::Refused); 2]);
}

#[test]
fn a_link_is_refused_in_a_project_and_followed_in_the_persons_own_folder() {
    let home = Home::new();
    let real = home.servers("dotfiles/mcp.json", &[("a", "x")]);
    symlink(&real, home.path("code/shop/.mcp.json")).unwrap();
    let config = home.load();
    assert_eq!(kinds(&config), [(Severity::Error, ProblemKind::Refused)]);
    fs::remove_file(home.path("code/shop/.mcp.json")).unwrap();
    fs::create_dir_all(home.path(".config/switchboard")).unwrap();
    symlink(&real, home.path(USER)).unwrap();
    let config = home.load();
    assert_eq!((config.problems(), config.entries().len()), (&[][..], 1));
}

#[test]
fn a_file_at_the_limit_is_read_and_one_over_it_is_not() {
    const MOST: usize = 1024 * 1024;
    let home = Home::new();
    let text = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
    let fill = |bytes: usize| format!("{text}{}", " ".repeat(bytes - text.len()));
    home.write("code/shop/.mcp.json", &fill(MOST));
    assert_eq!(home.load().entries().len(), 1);
    home.write("code/shop/.mcp.json", &fill(MOST + 1));
    let config = home.load();
    assert_eq!(kinds(&config), [(Severity::Error, ProblemKind::TooLarge)]);
}

#[test]
fn what_is_not_unicode_is_told_by_its_line() {
    let home = Home::new();
    let file = home.path("code/shop/.mcp.json");
    fs::write(&file, b"{\n\"a\": \"\xff\"}").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(home.load().problems()[0].message(), "line 2 is not UTF-8");
    fs::write(&file, b"\xff\xfe{\0}\0").unwrap();
    assert_eq!(
        home.load().problems()[0].message(),
        "it is UTF-16, and not UTF-8"
    );
    fs::write(
        &file,
        "\u{feff}{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}",
    )
    .unwrap();
    let config = home.load();
    assert_eq!(config.problems(), []);
    assert_eq!(config.entries()[0].origin().column, Some(17));
}

#[test]
fn a_file_of_our_own_is_never_found_twice() {
    let home = Home::new();
    let files: Vec<PathBuf> = Places::only("x.json")
        .files()
        .into_iter()
        .map(|(_, file)| file)
        .collect();
    assert_eq!(files, [Path::new("x.json")]);
    let config = home.load();
    assert_eq!((config.files().len(), config.problems().len()), (0, 0));
}
