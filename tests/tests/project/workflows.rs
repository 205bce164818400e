//! The workflows of `.github`: a change is checked there by the commands that people use.

use std::path::{Path, PathBuf};

fn workflow(name: &str) -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join(".github/workflows").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The commands that a workflow runs.
fn commands(text: &str) -> Vec<&str> {
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches("- "));
    let commands = lines.filter_map(|line| line.strip_prefix("run:"));
    commands.map(str::trim).collect()
}

#[test]
fn a_change_is_checked_by_commands_of_xtask_alone() {
    let text = workflow("ci.yml");
    let commands = commands(&text);
    assert!(commands.len() >= 3, "{commands:?}");
    for command in &commands {
        assert!(command.starts_with("cargo xtask check"), "{command}");
    }
    assert!(
        commands.contains(&"cargo xtask check --full"),
        "{commands:?}"
    );
    for system in ["ubuntu-latest", "macos-latest", "windows-latest"] {
        assert!(text.contains(system), "{system}");
    }
}

#[test]
fn the_files_of_a_release_are_made_by_xtask() {
    let text = workflow("release.yml");
    let makes = "cargo xtask release --dry-run";
    assert!(commands(&text).contains(&makes), "{text}");
    // A person publishes what is attached to the draft.
    assert!(text.contains("--draft"), "{text}");
    for word in ["publish", "twine"] {
        let runs = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'));
        assert_eq!(runs.filter(|line| line.contains(word)).count(), 0, "{word}");
    }
}
