//! After any edits a host is what one is that is made from the same files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use tempfile::TempDir;

use super::*;
use crate::config::Places;
use crate::transport::Environment;
use crate::trust::{Store, Which};

/// Edits that are made one after the other.
const EDITS: usize = 1000;

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// What an entry can be, apart from its name.
const ENTRIES: [&str; 8] = [
    r#"{"command": "sh"}"#,
    r#"{"command": "sh", "args": ["-c", "true"]}"#,
    r#"{"command": "sh", "env": {"KEY": "${HOME}"}}"#,
    r#"{"command": "sh", "enabled": false}"#,
    r#"{"command": "sh", "timeout": 5, "tools": {"allow": ["x"]}}"#,
    r#"{"url": "https://example.com/mcp"}"#,
    r#"{"url": "https://example.com/mcp", "headers": {"X-Key": "secret-value"}}"#,
    // Broken.
    r#"{"command": 5}"#,
];

const SECTIONS: [(&str, &[&str]); 5] = [
    (
        "agents",
        &[
            r#"{"planner": {"level": "yolo"}}"#,
            r#"{"planner": {"level": "trusted", "grants": ["mcp:a:*"]}, "*": {"level": "sandboxed"}}"#,
            r#"{"planner": {"level": "none"}}"#,
        ],
    ),
    ("pins", &[r#""block""#, r#""warn""#, r#""off""#, r#""odd""#]),
    ("approvals", &[r#""content""#, r#""entry""#]),
    (
        "limits",
        &[r#"{"in_flight": 3}"#, r#"{"in_flight": 4, "connect": 7}"#],
    ),
    (
        "network",
        &[
            r#"{"proxy": "none"}"#,
            r#"{"proxy": "http://proxy.example:3128"}"#,
            r#"{"proxy": 5}"#,
        ],
    ),
];

/// Numbers that are the same in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % most
    }

    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// The files as they are edited: the person's own, and that of a project.
struct Files {
    folder: TempDir,
    own: BTreeMap<&'static str, &'static str>,
    project: BTreeMap<&'static str, &'static str>,
    sections: BTreeMap<&'static str, &'static str>,
    /// Lines above everything else.
    above: usize,
}

impl Files {
    fn edit(&mut self, dice: &mut Dice) {
        let name = dice.one(&NAMES);
        let servers = match dice.below(2) {
            0 => &mut self.own,
            _ => &mut self.project,
        };
        match dice.below(10) {
            0..4 => drop(servers.insert(name, dice.one(&ENTRIES))),
            4 => drop(servers.remove(name)),
            5 | 6 => {
                let (section, texts) = SECTIONS[dice.below(SECTIONS.len())];
                match dice.below(3) {
                    0 => drop(self.sections.remove(section)),
                    _ => drop(self.sections.insert(section, dice.one(texts))),
                }
            }
            7 => self.above = dice.below(4),
            8 => self.decide(dice),
            // Nothing at all.
            _ => {}
        }
        self.write();
    }

    /// Approves what a server of the project is now, or revokes it.
    fn decide(&self, dice: &mut Dice) {
        let name = ServerName::parse(dice.one(&NAMES)).unwrap();
        let store = self.store();
        if dice.below(3) == 0 {
            store.revoke(&Which::Server(name)).unwrap();
            return;
        }
        let question = self.host().question(name.as_str());
        if let Ok(Some(question)) = question {
            store.approve(&question.claim).unwrap();
        }
    }

    fn write(&self) {
        let lines = |servers: &BTreeMap<&str, &str>| {
            let lines = servers
                .iter()
                .map(|(name, entry)| format!("{name:?}: {entry}"));
            lines.collect::<Vec<_>>().join(",\n")
        };
        let above = "\n".repeat(self.above);
        let mut own = format!("{{{above}\"mcpServers\": {{\n{}\n}}", lines(&self.own));
        for (name, text) in &self.sections {
            write!(own, ",\n{name:?}: {text}").unwrap();
        }
        own.push_str("\n}\n");
        let project = format!(
            "{{{above}\"mcpServers\": {{\n{}\n}}}}\n",
            lines(&self.project)
        );
        let home = self.folder.path();
        fs::write(home.join(".config/switchboard/mcp.json"), own).unwrap();
        fs::write(home.join("project/.mcp.json"), project).unwrap();
    }

    fn environment(&self) -> Environment {
        let home = self.folder.path().display().to_string();
        let variables = [("HOME", home), ("PATH", "/usr/bin:/bin".to_owned())];
        let variables = variables.into_iter();
        variables
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    fn store(&self) -> Store {
        Store::at(self.folder.path().join("trust"))
    }

    fn config(&self) -> Config {
        Config::load(&Places::of(
            &self.environment(),
            self.folder.path().join("project"),
        ))
    }

    /// A host that is made from the files as they are now.
    fn host(&self) -> Host {
        let host = Host::builder().environment(&self.environment());
        let host = host.home(self.folder.path()).trust(self.store());
        let host = host.default_agent("gateway", AgentPolicy::everything(crate::Level::Yolo));
        host.config(&self.config()).build().unwrap()
    }
}

/// Everything that can be seen of a host, once each server was admitted or refused.
async fn state(host: &Host) -> Vec<String> {
    let registry = &host.0.registry;
    let options = registry.options();
    let mut seen = vec![
        format!("{:?} {:?}", options.limits, options.said),
        format!("{:?} {:?}", options.addresses, options.no_network),
        format!("{:?} {:?}", options.bind, options.proxy.is_some()),
        format!(
            "{:?} {:?}",
            options.host_limits,
            options.budget.limit_bytes()
        ),
        format!("{:?}", host.0.access.pin_mode()),
        format!("{:?}", host.config_problems()),
        format!("{:?}", host.secrets().redact("x")),
    ];
    let mut agents: Vec<_> = ["planner", "gateway", "other"]
        .map(|agent| format!("{agent}: {:?}", host.policy().of(&agent.parse().unwrap())))
        .into();
    seen.append(&mut agents);
    for member in registry.members() {
        let admitted = match registry.admit(&member).await {
            Ok(ready) => format!(
                "{} {:?} {:?}",
                ready.identity, ready.settings, ready.approval
            ),
            Err(error) => format!("{error} {:?}", error.question()),
        };
        seen.push(format!("{}: {admitted}", member.name));
        seen.push(format!("{:?} {}", member.origin(), member.identity()));
    }
    for status in host.check_approvals() {
        seen.push(format!("{} {:?}", status.state.word(), status));
    }
    seen
}

#[tokio::test]
async fn after_a_thousand_edits_a_host_is_as_one_that_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join(".config/switchboard")).unwrap();
    fs::create_dir_all(folder.path().join("project")).unwrap();
    let mut files = Files {
        folder,
        own: BTreeMap::new(),
        project: BTreeMap::new(),
        sections: BTreeMap::new(),
        above: 0,
    };
    files.write();
    let (mut dice, running) = (Dice(7), files.host());
    let (mut kept, mut changed) = (0, 0);
    for edit in 0..EDITS {
        files.edit(&mut dice);
        let done = running.reconcile(&files.config()).await;
        kept += done.kept.len();
        changed += done.changed.len();
        let fresh = files.host();
        let (running, fresh) = (state(&running).await, state(&fresh).await);
        for (running, fresh) in running.iter().zip(&fresh) {
            assert_eq!(running, fresh, "edit {edit}: {done:?}");
        }
        assert_eq!(running.len(), fresh.len(), "edit {edit}");
    }
    // Most of the servers were left alone, and many were not.
    assert!(kept > EDITS && changed > EDITS / 10, "{kept} {changed}");
}
