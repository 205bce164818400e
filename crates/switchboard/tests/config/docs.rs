//! The examples of `docs/config.md` are read without a problem.

use std::path::Path;

use switchboard::config::{Client, read_client};
use switchboard::spec::Layer;

const PAGE: &str = include_str!("../../../../docs/config.md");

/// The blocks of code, with whose file each is.
fn blocks() -> Vec<(Client, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(Client, String)> = None;
    // A block without a kind is for a shell.
    let mut is_shell = false;
    for line in PAGE.lines() {
        if is_shell || open.is_none() && line == "```" {
            is_shell = !is_shell || line != "```";
            continue;
        }
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                let client = info.split_whitespace().nth(1).unwrap_or("switchboard");
                open = Some((client.parse().unwrap(), String::new()));
            }
            (None, Some((_, text))) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    blocks
}

#[test]
fn every_example_is_read_without_a_problem() {
    let blocks = blocks();
    assert!(blocks.len() >= 9, "{}", blocks.len());
    for (client, text) in blocks {
        // What is only for a person's own file would be refused in a project's.
        let own = ["\"approvals\"", "\"limits\"", "\"providers\""];
        let is_own = own.iter().any(|section| text.contains(section));
        let layer = match is_own {
            true => Layer::User,
            false => Layer::Project,
        };
        let config = read_client(&text, Path::new("/p/mcp.json"), layer, client);
        assert_eq!(config.problems(), [], "{text}");
        assert!(is_own || !config.entries().is_empty(), "{text}");
    }
}
