//! The addresses that clients know resources by.
//!
//! An address that one server alone has stays as it is. One that several have is namespaced for all of
//! them: `switchboard://SERVER/` and the address, percent-encoded; `ui://SERVER/` and the rest for the
//! pages of MCP Apps, whose hosts insist on the scheme; for a template `switchboard://SERVER/=` and the
//! template, because values are filled in later. Nothing is dropped.
//!
//! What an address means never changes while the process lives: once clients were given forms, each is
//! kept, also when the server or the collision is gone. Before that they are assigned anew for each
//! snapshot, so that the order in which servers were connected decides nothing. Two servers with templates that differ in the names of variables
//! alone collide too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard::ServerName;
use switchboard::catalog::Catalog;

const SCHEME: &str = "switchboard://";
const UI: &str = "ui://";

/// The forms of all addresses that were listed in this process.
pub(crate) struct Projections {
    table: Mutex<ProjectionTable>,
    /// Set once clients were given forms of the table.
    is_given: AtomicBool,
}

#[derive(Default)]
pub(crate) struct ProjectionTable {
    /// Most addresses that are remembered.
    most: usize,
    /// The snapshot that was learned last.
    learned: Option<Catalog>,
    /// The outward form of each address of each server. Hashes are keyed with a random value: servers
    /// choose the addresses.
    forms: HashMap<(ServerName, Arc<str>), Arc<str>>,
    /// The server that an outward form belongs to.
    taken: HashMap<Arc<str>, ServerName>,
    /// The server whose addresses of that shape are unchanged.
    owners: HashMap<String, ServerName>,
}

impl Projections {
    pub(crate) fn new(most: usize) -> Self {
        let table = ProjectionTable {
            most,
            ..ProjectionTable::default()
        };
        Self {
            table: Mutex::new(table),
            is_given: AtomicBool::new(false),
        }
    }

    /// The server whose address this is, unchanged.
    pub(crate) fn owner(&self, address: &str) -> Option<ServerName> {
        let table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.owner(address).cloned()
    }

    /// The table, with the addresses of a snapshot in it.
    pub(crate) fn learn(&self, catalog: &Catalog) -> MutexGuard<'_, ProjectionTable> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if !table
            .learned
            .as_ref()
            .is_some_and(|known| known.is(catalog))
        {
            if !self.is_given.load(Ordering::Acquire) {
                table.clear();
            }
            let resources = catalog.resources().map(|it| (it.server(), it.uri()));
            let templates = catalog
                .templates()
                .map(|it| (it.server(), it.uri_template()));
            table.assign(resources.chain(templates));
            table.learned = Some(catalog.clone());
        }
        table
    }

    /// Notes that clients are given the forms of a snapshot, which stay from now on.
    pub(crate) fn give(&self, catalog: &Catalog) {
        if !self.is_given.load(Ordering::Acquire) {
            // Another snapshot may have been learned since: what is given counts.
            let _table = self.learn(catalog);
            self.is_given.store(true, Ordering::Release);
        }
    }
}

impl ProjectionTable {
    fn clear(&mut self) {
        self.forms.clear();
        self.taken.clear();
        self.owners.clear();
    }

    /// The outward form of an address that a server lists.
    pub(crate) fn outward(&self, server: &ServerName, address: &str) -> Arc<str> {
        let key = (server.clone(), Arc::from(address));
        match self.forms.get(&key) {
            Some(form) => Arc::clone(form),
            // More than are remembered: the form that depends on nothing else.
            None => namespaced(server, address, 0).into(),
        }
    }

    fn owner(&self, address: &str) -> Option<&ServerName> {
        self.owners.get(&shape(address))
    }

    /// Gives every address a form that has none yet.
    fn assign<'a>(&mut self, listed: impl Iterator<Item = (&'a ServerName, &'a str)> + Clone) {
        // 1. The servers that have an address now: `None` stands for several.
        let mut having: HashMap<String, Option<&ServerName>> = HashMap::new();
        for (server, address) in listed.clone() {
            let holder = having.entry(shape(address)).or_insert(Some(server));
            if *holder != Some(server) {
                *holder = None;
            }
        }
        // 2. A form for each new one. What was assigned before stays, whatever collides with it now.
        for (server, address) in listed {
            let key = (server.clone(), Arc::from(address));
            // Bounded: servers choose how many addresses they list.
            if self.forms.contains_key(&key) || self.forms.len() >= self.most {
                continue;
            }
            let shape = shape(address);
            let is_alone = matches!(having.get(&shape), Some(Some(_)));
            let form: Arc<str> = if is_alone && self.can_stay(server, address, &shape) {
                self.owners.insert(shape, server.clone());
                Arc::clone(&key.1)
            } else {
                self.free_form(server, address)
            };
            self.taken.insert(Arc::clone(&form), server.clone());
            self.forms.insert(key, form);
        }
    }

    /// Returns true if an address can be handed out unchanged.
    fn can_stay(&self, server: &ServerName, address: &str, shape: &str) -> bool {
        let is_own = |holder: Option<&ServerName>| holder.is_none_or(|holder| holder == server);
        // A server cannot have an address that looks like one of ours.
        !is_namespaced(address)
            && is_own(self.owners.get(shape))
            && !self.taken.contains_key(address)
    }

    /// A namespaced form that no other address has.
    fn free_form(&self, server: &ServerName, address: &str) -> Arc<str> {
        let forms = (0..).map(|marks| namespaced(server, address, marks));
        // Only a page of MCP Apps can find its form taken, by one that a server named like that.
        let mut free = forms.filter(|form| !self.taken.contains_key(form.as_str()));
        free.next().unwrap_or_default().into()
    }
}

/// The shape of an address: templates that differ in the names of variables alone have the same.
fn shape(address: &str) -> String {
    let mut shape = String::with_capacity(address.len());
    let mut rest = address;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((_, after)) = after.split_once('}') else {
            break;
        };
        shape.push_str(before);
        shape.push_str("{}");
        rest = after;
    }
    shape.push_str(rest);
    shape
}

/// The address in the name space of its server. `marks` makes another form of the same.
pub(crate) fn namespaced(server: &ServerName, address: &str, marks: usize) -> String {
    let (name, marks) = (encode(server.as_str()), "=".repeat(marks));
    match address.strip_prefix(UI) {
        Some(rest) => format!("{UI}{name}/{marks}{rest}"),
        None if address.contains('{') => format!("{SCHEME}{name}/={address}"),
        None => format!("{SCHEME}{name}/{}", encode(address)),
    }
}

/// Returns true if an address looks like one of ours.
pub(crate) fn is_namespaced(address: &str) -> bool {
    address.starts_with(SCHEME)
}

/// Reads a namespaced address: the server's name, and its own address. The inverse of [`namespaced`] for
/// everything but pages of MCP Apps, of which only the list knows the form.
pub(crate) fn own_address(outward: &str) -> Option<(String, String)> {
    let (name, rest) = outward.strip_prefix(SCHEME)?.split_once('/')?;
    let address = match rest.strip_prefix('=') {
        Some(address) => address.to_owned(),
        None => decode(rest)?,
    };
    Some((decode(name)?, address))
}

/// Reads the address of a page of MCP Apps, in the usual form.
pub(crate) fn own_page(outward: &str) -> Option<(String, String)> {
    let (name, rest) = outward.strip_prefix(UI)?.split_once('/')?;
    Some((decode(name)?, format!("{UI}{rest}")))
}

/// Percent-encodes all but letters, digits and `-._~`.
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Reads percent-encoded text; `None` if it is not text.
fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let high = char::from(bytes.next()?).to_digit(16)?;
        let low = char::from(bytes.next()?).to_digit(16)?;
        out.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn name(text: &str) -> ServerName {
        ServerName::parse(text).unwrap()
    }

    fn table(most: usize) -> ProjectionTable {
        ProjectionTable {
            most,
            ..ProjectionTable::default()
        }
    }

    fn assign(table: &mut ProjectionTable, listed: &[(ServerName, String)]) {
        table.assign(listed.iter().map(|(server, uri)| (server, uri.as_str())));
    }

    fn listed(pairs: &[(&str, &str)]) -> Vec<(ServerName, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(server, uri)| (name(server), (*uri).to_owned()))
            .collect()
    }

    #[test]
    fn an_address_that_one_server_has_stays_unchanged() {
        let mut table = table(100);
        assign(&mut table, &listed(&[("a", "file:///x"), ("b", "ui://y")]));
        assert_eq!(&*table.outward(&name("a"), "file:///x"), "file:///x");
        assert_eq!(&*table.outward(&name("b"), "ui://y"), "ui://y");
        assert_eq!(table.owner("ui://y"), Some(&name("b")));
    }

    #[test]
    fn an_address_that_two_servers_have_is_namespaced_for_both() {
        let mut table = table(100);
        let both = |uri| [("a", uri), ("bé#", uri)];
        let uris = ["file:///x y%20", "ui://app/main", "logs://{day}"];
        assign(&mut table, &listed(&uris.map(both).concat()));
        let form = |server, uri| table.outward(&name(server), uri).to_string();
        assert_eq!(
            form("a", uris[0]),
            "switchboard://a/file%3A%2F%2F%2Fx%20y%2520"
        );
        assert_eq!(form("a", uris[1]), "ui://a/app/main");
        assert_eq!(form("a", uris[2]), "switchboard://a/=logs://{day}");
        assert_eq!(form("a", uris[0]).len() + 9, form("bé#", uris[0]).len());
        assert_eq!(table.owner(uris[0]), None);
    }

    #[test]
    fn templates_that_differ_in_names_alone_collide() {
        let mut table = table(100);
        let pairs = [
            ("a", "f://{x}/{y}"),
            ("b", "f://{one}/{two}"),
            ("b", "g://{x}"),
        ];
        assign(&mut table, &listed(&pairs));
        let form = |server, uri| table.outward(&name(server), uri).to_string();
        assert_eq!(form("a", "f://{x}/{y}"), "switchboard://a/=f://{x}/{y}");
        assert_eq!(
            form("b", "f://{one}/{two}"),
            "switchboard://b/=f://{one}/{two}"
        );
        assert_eq!(form("b", "g://{x}"), "g://{x}");
    }

    #[test]
    fn an_address_means_the_same_for_the_life_of_the_process() {
        let mut table = table(100);
        assign(
            &mut table,
            &listed(&[("a", "f://x"), ("a", "f://y"), ("b", "f://y")]),
        );
        // `b` comes to have what `a` has, and `a` loses both.
        assign(&mut table, &listed(&[("b", "f://x"), ("b", "f://y")]));
        assert_eq!(&*table.outward(&name("a"), "f://x"), "f://x");
        assert_eq!(
            &*table.outward(&name("b"), "f://x"),
            "switchboard://b/f%3A%2F%2Fx"
        );
        assert_eq!(
            &*table.outward(&name("b"), "f://y"),
            "switchboard://b/f%3A%2F%2Fy"
        );
    }

    #[test]
    fn a_server_cannot_take_an_address_that_looks_like_ours() {
        let mut table = table(100);
        let theirs = namespaced(&name("a"), "f://x", 0);
        assign(
            &mut table,
            &listed(&[("evil", &theirs), ("evil", "ui://a/x")]),
        );
        assign(
            &mut table,
            &listed(&[
                ("a", "ui://x"),
                ("b", "ui://x"),
                ("a", "f://x"),
                ("b", "f://x"),
            ]),
        );
        assert_ne!(*table.outward(&name("evil"), &theirs), *theirs);
        assert_eq!(&*table.outward(&name("a"), "f://x"), theirs);
        assert_eq!(&*table.outward(&name("evil"), "ui://a/x"), "ui://a/x");
        assert_eq!(&*table.outward(&name("a"), "ui://x"), "ui://a/=x");
    }

    #[test]
    fn more_addresses_than_are_remembered_are_namespaced() {
        let mut table = table(2);
        assign(
            &mut table,
            &listed(&[("a", "f://1"), ("a", "f://2"), ("a", "f://3")]),
        );
        assert_eq!(&*table.outward(&name("a"), "f://2"), "f://2");
        assert_eq!(
            &*table.outward(&name("a"), "f://3"),
            "switchboard://a/f%3A%2F%2F3"
        );
        assert_eq!(table.forms.len(), 2);
    }

    fn address() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-c]://[a-c/%= é]{0,3}",
            "ui://[ab]/?=?[ab]{0,2}",
            "switchboard://[ab]/=?[a-c%]{0,3}",
            "[ab]://\\{[xy]\\}/?[ab]?",
        ]
    }

    fn lists() -> impl Strategy<Value = Vec<Vec<(ServerName, String)>>> {
        let server = prop_oneof![Just("a"), Just("b"), Just("a=b"), Just("é#b")];
        let server = server.prop_filter_map("a name", |text| ServerName::parse(text).ok());
        prop::collection::vec(prop::collection::vec((server, address()), 0..12), 1..6)
    }

    proptest! {
        #[test]
        fn forms_are_injective_stable_and_can_be_read_back(lists in lists()) {
            let mut table = table(1000);
            let mut known: HashMap<(ServerName, String), Arc<str>> = HashMap::new();
            for list in lists {
                assign(&mut table, &list);
                for pair in list {
                    let form = table.outward(&pair.0, &pair.1);
                    if form.starts_with(SCHEME) {
                        let own = (pair.0.to_string(), pair.1.clone());
                        prop_assert_eq!(own_address(&form), Some(own));
                    }
                    if let Some(before) = known.insert(pair, Arc::clone(&form)) {
                        prop_assert_eq!(before, form);
                    }
                }
            }
            let forms: HashSet<&str> = known.values().map(|form| &**form).collect();
            prop_assert_eq!(forms.len(), known.len());
        }
    }
}
