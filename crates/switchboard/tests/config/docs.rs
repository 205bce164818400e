//! What `docs/config.md` shows and says is so.

use std::path::Path;

use switchboard::config::{Client, Config, read_client};
use switchboard::spec::Layer;

const PAGE: &str = include_str!("../../../../docs/config.md");

/// The blocks of code, with whose file each is.
fn blocks() -> Vec<(Client, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(Client, String)> = None;
    for line in PAGE.lines() {
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

/// The names in a table's row: those in its first cell, and those in its last.
#[test]
fn every_field_and_every_other_name_of_one_is_read() {
    let mut fields = 0;
    let (page, _) = PAGE.split_once("## Bounds and the network").unwrap();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, name, _, _, others, _] = cells.as_slice() else {
            continue;
        };
        let words = |cell: &str| -> Vec<String> {
            let parts = cell.split('`').skip(1).step_by(2);
            parts.map(str::to_owned).collect()
        };
        let names = words(name).into_iter().chain(words(others));
        for name in names {
            let is_value = name.contains([' ', '[', '-']) || name == "sse" || name == "stdio";
            let is_type = [
                "http",
                "local",
                "remote",
                "streamable_http",
                "streamableHttp",
            ];
            if is_value || is_type.contains(&name.as_str()) {
                continue;
            }
            fields += 1;
            let text = format!(r#"{{"mcpServers": {{"a": {{"{name}": null}}}}}}"#);
            let config = Config::read(&text, Path::new("/p/mcp.json"), Layer::User);
            let told = format!("{:?}", config.problems());
            assert!(!told.contains("unknown key"), "{name}: {told}");
        }
    }
    assert!(fields >= 50, "{fields} names");
}

/// The keys of the tables of sections, below their heading.
#[test]
fn every_key_of_a_section_is_read() {
    let mut keys = 0;
    for (section, heading) in [
        ("limits", "| `limits` |"),
        ("network", "| `network` |"),
        ("providers", "| `providers` |"),
    ] {
        let (_, table) = PAGE.split_once(heading).unwrap();
        let rows = table.lines().skip(2);
        for row in rows.take_while(|line| line.starts_with("| `")) {
            let cell = row.split('|').nth(1).unwrap();
            let names: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
            let parent = names[0].split_once('.').map(|(parent, _)| parent);
            for name in names {
                let name = name.rsplit('.').next().unwrap();
                let value = match parent {
                    Some(parent) => format!(r#"{{"{parent}": {{"{name}": null}}}}"#),
                    None => format!(r#"{{"{name}": null}}"#),
                };
                let value = match section {
                    "providers" => format!(r#"{{"some": {value}}}"#),
                    _ => value,
                };
                let text = format!(r#"{{"{section}": {value}}}"#);
                let config = Config::read(&text, Path::new("/p/mcp.json"), Layer::User);
                let told = format!("{:?}", config.problems());
                assert!(!told.contains("unknown key"), "{name}: {told}");
                assert!(told.contains(name), "{name}: {told}");
                keys += 1;
            }
        }
    }
    assert_eq!(keys, 36);
}
