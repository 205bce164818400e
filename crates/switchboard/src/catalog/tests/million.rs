//! A million pairs of names that are made to be confused with each other.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use proptest::prelude::*;
use switchboard_wire::Tool;

use super::super::entry::{Entry, Parts, ToolKey, Words};
use super::super::server::Table;
use super::super::{Catalog, ServerCatalog, ToolEntry, exposed};
use super::{name, server, tool};
use crate::spec::NameStyle;

/// What names are put together from. Shared heads and separators in all places, so that the same text
/// comes about in many ways.
const PIECES: [&str; 20] = [
    "a",
    "b",
    "A",
    "_",
    "_",
    "__",
    "__",
    "___",
    "-",
    ".",
    " ",
    "é",
    "日本",
    "mcp",
    "mcp__a",
    "tool",
    "_0123456789abcdef",
    "0123456789abcdef",
    "_fedcba9876543210",
    "0",
];

/// Numbers that look random and are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        // xorshift64
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(most).unwrap()).unwrap()
    }

    /// So many different names that `is_name` takes, in no order.
    fn names(&mut self, count: usize, is_name: impl Fn(&str) -> bool) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut names = Vec::new();
        while names.len() < count {
            let mut one = String::new();
            for _ in 0..=self.below(5) {
                one.push_str(PIECES[self.below(PIECES.len())]);
            }
            match self.below(20) {
                0 => one.insert_str(0, &"x".repeat(60)),
                1 => one.push_str(&"x".repeat(120)),
                2 => one.push_str(&"y".repeat(200 - one.chars().count().min(200))),
                _ => {}
            }
            if is_name(&one) && seen.insert(one.clone()) {
                names.push(one);
            }
        }
        names
    }
}

fn is_right(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(is_allowed)
}

fn style(server: usize) -> NameStyle {
    if server.is_multiple_of(2) {
        NameStyle::Double
    } else {
        NameStyle::Single
    }
}

/// The part of a server whose tools all have the same definition: reading a million of them from
/// their texts would be all that this test does.
fn part(server_name: &str, style: NameStyle, tools: &[String], definition: &Tool) -> ServerCatalog {
    let mut table = Table::<ToolEntry>::with_capacity(tools.len());
    for tool in tools {
        table.push(Arc::new(ToolEntry::of(Parts {
            key: ToolKey::new(name(server_name), tool.as_str()),
            exposed: exposed(server_name, tool, style).into(),
            definition: definition.clone(),
            words: Words::default(),
        })));
    }
    ServerCatalog {
        tools: Arc::new(table),
        ..server(server_name).style(style).build(None)
    }
}

#[test]
fn a_million_pairs_have_names_of_their_own_that_lead_back_to_them() {
    let mut numbers = Numbers(0x5377_6974_6368);
    let is_server = |name: &str| crate::spec::ServerName::parse(name).is_ok();
    let servers = numbers.names(1000, is_server);
    let tools = numbers.names(1000, |_| true);
    assert!(tools.iter().any(|name| name.chars().count() >= 200));
    let definition = tool("x", "");
    let mut owners: HashMap<Arc<str>, (usize, usize)> = HashMap::with_capacity(2_000_000);
    let mut found = 0;
    let indexed: Vec<(usize, &String)> = servers.iter().enumerate().collect();
    // A snapshot of five servers at a time; all names of all snapshots are held against each other.
    for some in indexed.chunks(5) {
        let parts: Vec<Arc<ServerCatalog>> = some
            .iter()
            .map(|(at, name)| Arc::new(part(name, style(*at), &tools, &definition)))
            .collect();
        let together = |parts: &mut dyn Iterator<Item = &Arc<ServerCatalog>>| {
            parts.fold(Catalog::default(), |all, part| all.with(Arc::clone(part)))
        };
        let forth = together(&mut parts.iter());
        let back = together(&mut parts.iter().rev());
        assert_eq!(forth.notices().count() + back.notices().count(), 0);
        for ((at, server), part) in some.iter().zip(&parts) {
            for (index, (tool, entry)) in tools.iter().zip(part.tools()).enumerate() {
                for all in [&forth, &back] {
                    let key = all.resolve(entry.exposed()).unwrap().key();
                    assert_eq!(
                        (key.server().as_str(), key.name()),
                        (server.as_str(), tool.as_str())
                    );
                }
                assert!(is_right(entry.exposed()), "{server} {tool}");
                let name = Arc::clone(Entry::exposed(&**entry));
                let pair = (*at, index);
                let owner = *owners.entry(name).or_insert(pair);
                assert_eq!(owner, pair, "{server} {tool}: {}", entry.exposed());
                found += 1;
            }
        }
    }
    assert_eq!(found, 1_000_000);
}

#[test]
fn the_two_styles_never_meet() {
    let mut numbers = Numbers(0x626f_6172_6421);
    let servers = numbers.names(250, |_| true);
    let tools = numbers.names(250, |_| true);
    let mut owners = HashMap::new();
    for server in &servers {
        for tool in &tools {
            for style in [NameStyle::Double, NameStyle::Single] {
                let name = exposed(server, tool, style);
                let owner = *owners.entry(name).or_insert((server, tool));
                assert_eq!(owner, (server, tool), "{style}");
            }
        }
    }
}

proptest! {
    #[test]
    fn whatever_the_names_are_the_result_is_fit_for_a_model(server: String, tool: String) {
        for style in [NameStyle::Double, NameStyle::Single] {
            let name = exposed(&server, &tool, style);
            prop_assert!(is_right(&name), "{name}");
            prop_assert_eq!(&name, &exposed(&server, &tool, style));
        }
    }
}
