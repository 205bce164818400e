//! Comparison of two locks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;
use switchboard::catalog::ServerCatalog;
use switchboard::pins::seams::{Name, canonical, diff, lines};
use switchboard::pins::{DiffLine, Hash, Kind, PinLimits, Pinned, Side};
use switchboard::spec::ServerName;
use switchboard::text::{excerpt, sanitise_line};
use switchboard_wire::Raw;

use super::item::LockedItem;
use super::{Lock, Locked, Named, Offers};

/// Maximum length of a package's name and version, or of an issuer, in a message, in bytes.
const PACKAGE: usize = 200;

/// The part of a server that a drift is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The whole server.
    Server,
    /// Its entry in the config file.
    Entry,
    /// The package that its command names.
    Package,
    /// The issuer of the login that is used with it.
    Issuer,
    /// All definitions, because one side has none.
    Offers,
    /// One definition by its name; instructions have an empty name.
    Item(Kind, String),
}

/// One difference from a lock.
#[derive(Debug, Clone, PartialEq)]
pub struct LockDrift {
    /// The server.
    pub server: ServerName,
    /// The part that differs.
    pub part: Part,
    /// The locked value: a hash or a package; `None` if the lock has none.
    pub before: Option<String>,
    /// The current value.
    pub after: Option<String>,
    /// The difference line by line, or the two hashes if the lock has only the hash; see
    /// [`LockDrift::detail`].
    pub diff: Vec<DiffLine>,
    /// True if `diff` shows definitions and not hashes.
    is_shown: bool,
}

impl LockDrift {
    /// Returns the diff of the definitions if the lock has only a hash, but the person's pins still hold that
    /// definition; otherwise [`LockDrift::diff`].
    pub fn detail(&self, pinned: &Pinned, now: &ServerCatalog) -> Vec<DiffLine> {
        let found = match &self.part {
            Part::Item(kind, name) if !self.is_shown => {
                let hash = pinned.hash(*kind, name).map(|hash| hash.to_string());
                // The pins have whole texts, but may be of another time than the lock: only equal
                // hashes are shown.
                let drifts = (hash == self.before).then(|| pinned.compare(now));
                let drifts = drifts.unwrap_or_default().into_iter();
                let mut same = drifts.filter(|drift| drift.kind == *kind && drift.name == *name);
                same.next()
            }
            _ => None,
        };
        found.map_or_else(|| self.diff.clone(), |drift| drift.diff)
    }
}

/// One line without the diff, safe to show: `time: tool "now" changed`.
impl fmt::Display for LockDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", sanitise_line(self.server.as_str()))?;
        // One side missing means added or removed; both present, changed.
        let (is_new, is_gone) = (self.before.is_none(), self.after.is_none());
        let verb = match (is_new, is_gone) {
            (true, _) => "is not in the lock",
            (_, true) => "is missing",
            _ => "changed",
        };
        match &self.part {
            Part::Server => write!(f, "the server {verb}"),
            Part::Entry => write!(f, "its entry {verb}"),
            Part::Offers if is_gone => {
                f.write_str("what it offers is not known, and is in the lock")
            }
            Part::Offers => f.write_str("what it offers is not in the lock"),
            Part::Item(Kind::Instructions, _) => match (is_new, is_gone) {
                (true, _) => f.write_str("instructions are not in the lock"),
                (_, true) => f.write_str("instructions are missing"),
                _ => f.write_str("the instructions changed"),
            },
            Part::Item(kind, name) => write!(f, "{kind} {} {verb}", Name(name)),
            Part::Package | Part::Issuer => {
                let what = if self.part == Part::Issuer {
                    "issuer"
                } else {
                    "package"
                };
                let none = format!("no {what}");
                let shown = |side: &Option<String>| {
                    let text = side.as_deref().unwrap_or(&none);
                    sanitise_line(&excerpt(text, PACKAGE)).into_owned()
                };
                let (before, after) = (shown(&self.before), shown(&self.after));
                write!(f, "its {what} was {before}, and is {after}")
            }
        }
    }
}

pub(super) fn verify(lock: &Lock, now: &Lock) -> Vec<LockDrift> {
    // Both sides in one order, so that the output does not depend on either file.
    let names: BTreeSet<&ServerName> = lock.servers.keys().chain(now.servers.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let mut server = ServerComparison {
            name,
            found: &mut found,
        };
        match (lock.servers.get(name), now.servers.get(name)) {
            (Some(before), Some(after)) => server.compare(before, after),
            // Only one side has it: the server was added or removed as a whole.
            (before, after) => server.whole(before, after),
        }
    }
    found
}

/// The lines of a difference.
struct Diff {
    lines: Vec<DiffLine>,
    /// True if they show texts and not hashes.
    is_shown: bool,
}

impl Diff {
    fn of_texts(lines: Vec<DiffLine>) -> Self {
        Self {
            lines,
            is_shown: true,
        }
    }
}

/// The comparison of one server, which collects its drifts.
struct ServerComparison<'a> {
    name: &'a ServerName,
    found: &'a mut Vec<LockDrift>,
}

impl ServerComparison<'_> {
    fn push(&mut self, part: Part, before: Option<String>, after: Option<String>, diff: Diff) {
        self.found.push(LockDrift {
            server: self.name.clone(),
            part,
            before,
            after,
            diff: diff.lines,
            is_shown: diff.is_shown,
        });
    }

    fn whole(&mut self, before: Option<&Locked>, after: Option<&Locked>) {
        let text = |side: Option<&Locked>| side.map(|locked| entry_text(&locked.entry));
        let (before, after) = (text(before), text(after));
        self.texts(Part::Server, before, after);
    }

    fn texts(&mut self, part: Part, before: Option<String>, after: Option<String>) {
        let of = |text: &Option<String>| text.as_deref().map(lines).unwrap_or_default();
        let diff = diff(&of(&before), &of(&after), &PinLimits::default());
        let hash = |text: Option<String>| text.map(|text| Hash::of(&text).to_string());
        self.push(part, hash(before), hash(after), Diff::of_texts(diff));
    }

    fn compare(&mut self, before: &Locked, after: &Locked) {
        let (old, new) = (entry_text(&before.entry), entry_text(&after.entry));
        if old != new {
            self.texts(Part::Entry, Some(old), Some(new));
        }
        // The package is part of the entry, but a change of version deserves a line of its own.
        if before.package != after.package {
            let text = |named: &Option<Named>| named.as_ref().map(Named::to_string);
            let (old, new) = (text(&before.package), text(&after.package));
            let diff = sides(old.as_deref(), new.as_deref());
            self.push(Part::Package, old, new, Diff::of_texts(diff));
        }
        if before.issuer != after.issuer {
            let (old, new) = (before.issuer.clone(), after.issuer.clone());
            let diff = sides(old.as_deref(), new.as_deref());
            self.push(Part::Issuer, old, new, Diff::of_texts(diff));
        }
        match (&before.offers, &after.offers) {
            (Some(before), Some(after)) => self.offers(before, after),
            (None, None) => {}
            (before, after) => {
                let text = |side: &Option<Offers>| side.as_ref().map(|_| "known".to_owned());
                self.push(
                    Part::Offers,
                    text(before),
                    text(after),
                    Diff::of_texts(Vec::new()),
                );
            }
        }
    }

    fn offers(&mut self, before: &Offers, after: &Offers) {
        let (old, new) = (&before.instructions, &after.instructions);
        self.item(Kind::Instructions, "", old.as_ref(), new.as_ref());
        self.list(Kind::Tool, &before.tools, &after.tools);
        self.list(Kind::Prompt, &before.prompts, &after.prompts);
        self.list(Kind::Template, &before.templates, &after.templates);
    }

    fn list(
        &mut self,
        kind: Kind,
        before: &BTreeMap<String, LockedItem>,
        after: &BTreeMap<String, LockedItem>,
    ) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            self.item(kind, name, before.get(name), after.get(name));
        }
    }

    fn item(
        &mut self,
        kind: Kind,
        name: &str,
        before: Option<&LockedItem>,
        after: Option<&LockedItem>,
    ) {
        let hash = |side: Option<&LockedItem>| side.map(|item| item.hash);
        // The hashes decide: either side may lack the text.
        if hash(before) == hash(after) {
            return;
        }
        let text = |side: Option<&LockedItem>| side.map(|item| item.hash.to_string());
        let part = Part::Item(kind, name.to_owned());
        // Show the texts if both sides have them, otherwise the hashes.
        let diff = definitions(before, after);
        let diff = match diff {
            Some(diff) => Diff::of_texts(diff),
            None => {
                let (old, new) = (text(before), text(after));
                let mut diff = sides(old.as_deref(), new.as_deref());
                diff.push(DiffLine::new(Side::Note, HASHES));
                Diff {
                    lines: diff,
                    is_shown: false,
                }
            }
        };
        self.push(part, text(before), text(after), diff);
    }
}

/// Note below a diff of hashes.
const HASHES: &str = "… (what it says is not in the lock: it is too long, has a secret in it, or was locked by an older version)";

/// Compares the texts of two definitions. Returns `None` if one of them has only a hash.
fn definitions(before: Option<&LockedItem>, after: Option<&LockedItem>) -> Option<Vec<DiffLine>> {
    let text = |side: Option<&LockedItem>| match side {
        Some(item) => Some(lines(item.text.as_deref()?)),
        None => Some(Vec::new()),
    };
    let (before, after) = (text(before)?, text(after)?);
    Some(diff(&before, &after, &PinLimits::default()))
}

/// Shows two texts of one line each as a diff.
fn sides(before: Option<&str>, after: Option<&str>) -> Vec<DiffLine> {
    let line = |side: Side| {
        move |text: &str| DiffLine::new(side, sanitise_line(&excerpt(text, PACKAGE)).into_owned())
    };
    let before = before.map(line(Side::Before));
    before
        .into_iter()
        .chain(after.map(line(Side::After)))
        .collect()
}

/// Returns the canonical text of an entry: the file may write the same number differently.
fn entry_text(entry: &Value) -> String {
    let text = entry.to_string();
    Raw::parse(&text).map_or(text, |raw| canonical(&raw))
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = self.version.as_deref().unwrap_or("(no fixed version)");
        write!(f, "{} {} {version}", self.runner, self.name)
    }
}
