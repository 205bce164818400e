//! Merges the config files of all layers into one config.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_core::spec::{Layer, Origin, ServerName};

use super::client::Client;
use super::entry::{Entry, Parts};
use super::file::{missing, read_file};
use super::limits::LIMITS;
use super::problem::{FilePlace, Problem, ProblemKind};
use super::read::{self, Stage};
use super::read_options::ReadOptions;
use super::report::{Note, Report};
use super::sections::{self, Sections};
use super::shape::{self, Found};
use super::source::Source;
use super::tree::{self, Member, Node, NodeKind};
use super::{expand, fields, normalise, paths};

/// The merged content of all config files. The nearest layer wins.
///
/// Loading never fails: errors are in [`Config::problems`].
#[derive(Debug, Clone, Default)]
pub struct Config {
    entries: Vec<Entry>,
    shadowed: Vec<Entry>,
    problems: Vec<Problem>,
    files: Vec<FileRead>,
    pub(super) sections: Sections,
    options: ReadOptions,
    /// Stands for the texts of all files.
    digest: u64,
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileRead {
    /// Its path.
    pub path: PathBuf,
    /// Its layer.
    pub layer: Layer,
    /// The number of valid servers in it.
    pub entries: usize,
    /// True if no server of it can be used, because the file as a whole is unreadable or unsafe. The reason
    /// is among the problems: [`Config::file_errors`].
    pub is_refused: bool,
}

/// The text of a file, with everything that decides how it is read.
struct TextFile<'a> {
    text: &'a str,
    file: &'a Path,
    /// The folder that relative paths start from.
    folder: &'a Path,
    layer: Layer,
    client: Client,
}

impl Config {
    /// Loads the files of these places.
    pub fn load(places: &super::Places) -> Self {
        Self::load_with(places, ReadOptions::default())
    }

    /// Loads the files of these places with options, such as strict reading.
    pub fn load_with(places: &super::Places, options: ReadOptions) -> Self {
        let mut config = Self {
            options,
            ..Self::default()
        };
        for (layer, file) in places.files() {
            config.add_file(&file, layer);
        }
        config
    }

    /// Parses the text of one file, without accessing anything else.
    pub fn read(text: &str, file: &Path, layer: Layer) -> Self {
        Self::read_with(text, file, layer, ReadOptions::default())
    }

    /// Parses the text of one file with options, without accessing anything else.
    pub fn read_with(text: &str, file: &Path, layer: Layer, options: ReadOptions) -> Self {
        let mut config = Self {
            options,
            ..Self::default()
        };
        config.add_text(TextFile {
            text,
            file,
            folder: &paths::base(file),
            layer,
            client: client_of(file, text),
        });
        config
    }

    /// The entries in use, in the order in which their names first occur.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of this name.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.name().as_str() == name)
    }

    /// The entries that are not used, because a nearer layer has the same name.
    pub fn shadowed(&self) -> &[Entry] {
        &self.shadowed
    }

    /// Takes out the entries that a program does not want.
    #[doc(hidden)]
    pub fn retain(&mut self, wants: impl FnMut(&Entry) -> bool) {
        self.entries.retain(wants);
    }

    /// A number that stands for the texts of all files: that of files with other texts is another.
    #[doc(hidden)]
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// The problems, in the order of the files.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The files that were found, the farthest layer first.
    pub fn files(&self) -> &[FileRead] {
        &self.files
    }

    /// The files of which no server can be used, each as the error that caused it: missing although named, empty,
    /// unreadable, unsafe, or not in the form of a config file.
    pub fn file_errors(&self) -> Vec<&Problem> {
        let refused = self.files.iter().filter(|file| file.is_refused);
        let errors = refused.filter_map(|file| {
            let is_its = |problem: &&Problem| {
                problem.is_error() && problem.server().is_none() && problem.file() == file.path
            };
            self.problems.iter().find(is_its)
        });
        errors.collect()
    }

    /// The error that invalidated the entry of this name, in the nearest file with one.
    pub fn bad(&self, name: &str) -> Option<&Problem> {
        let mut errors = self.problems.iter().filter(|problem| problem.is_error());
        let is_it = |problem: &&Problem| problem.server() == Some(name);
        // The file that was read last decides; its first error is the one to mend.
        let last = errors.clone().rfind(is_it)?;
        errors.find(|problem| is_it(problem) && problem.file() == last.file())
    }

    fn add_file(&mut self, file: &Path, layer: Layer) {
        let place = FilePlace {
            file,
            layer: &layer,
        };
        let text = match read_file(file, &layer) {
            Ok(Some((text, warning))) => {
                self.problems.extend(warning);
                text
            }
            // A missing file is fine, unless the user named it.
            Ok(None) if layer != Layer::Named => return,
            Ok(None) => {
                self.problems.push(missing(place));
                return self.refuse(place);
            }
            Err(problem) => {
                self.problems.push(problem);
                return self.refuse(place);
            }
        };
        // Only a file that the user named can be another program's: the others have our own names.
        let client = match layer {
            Layer::Named => client_of(file, &text),
            _ => Client::Switchboard,
        };
        // A path that the user named may be relative.
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        self.add_text(TextFile {
            text: &text,
            file,
            folder: &paths::base(&whole),
            layer,
            client,
        });
    }

    fn refuse(&mut self, place: FilePlace<'_>) {
        self.files.push(FileRead {
            path: place.file.to_owned(),
            layer: place.layer.clone(),
            entries: 0,
            is_refused: true,
        });
    }

    fn add_text(&mut self, given: TextFile<'_>) {
        let TextFile {
            text,
            file,
            folder,
            layer,
            client,
        } = given;
        let mut hasher = DefaultHasher::new();
        (self.digest, file, text).hash(&mut hasher);
        self.digest = hasher.finish();
        let source = Source::new(text, file, layer.clone(), client.syntax());
        let mut report = Report::new(Arc::new(source));
        report.options = self.options;
        let root = match tree::parse(&report.source) {
            Ok(Some(root)) => root,
            Ok(None) => {
                let note = Note::error(ProblemKind::Syntax, 0..0, "the file is empty");
                report.add(note.expecting("`{ \"mcpServers\": {} }`"));
                self.problems.extend(report.finish());
                return self.refuse(FilePlace {
                    file,
                    layer: &layer,
                });
            }
            Err(note) => {
                report.add(note);
                self.problems.extend(report.finish());
                return self.refuse(FilePlace {
                    file,
                    layer: &layer,
                });
            }
        };
        // First the shape, then each entry: an invalid entry must not cost the others.
        let found = shape::servers(&root, client, &mut report);
        // A file whose servers cannot be found at all counts as broken, not as empty.
        let is_misshapen = found.is_empty() && report.has_error(ProblemKind::WrongType);
        // Read before the entries, which are completed with them.
        let defaults = defaults(&root, client, &mut report);
        let shared = Shared {
            folder,
            defaults,
            inputs: Arc::new(shape::inputs(&root, client)),
        };
        let mut count = 0;
        for found in found {
            report.set_server(Some(&found.name));
            let at = found.at.clone();
            let name = found.name.clone();
            match entry(found, client, &shared, &mut report) {
                Some(entry) => {
                    count += 1;
                    self.add(entry);
                }
                None => self.fall_back(&name, at, &mut report),
            }
        }
        report.set_server(None);
        // Sections grant rights, so a project's file must not have any.
        if !layer.needs_approval() && client.is_ours() {
            self.sections = sections::read(&root, client, folder, &mut report);
        }
        self.problems.extend(report.finish());
        self.files.push(FileRead {
            path: file.to_owned(),
            layer,
            entries: count,
            is_refused: is_misshapen,
        });
    }

    /// Adds an entry in place of one of the same name in a farther layer.
    fn add(&mut self, mut entry: Entry) {
        let mut entries = self.entries.iter_mut();
        match entries.find(|known| known.name() == entry.name()) {
            // One file has entries for several projects: the first of them wins.
            Some(_) if entry.project().is_some() => self.shadowed.push(entry),
            // The later file wins, and keeps the origin of the entry that it hides for the question
            // of the approval.
            Some(known) => {
                entry.shadow(known);
                self.shadowed.push(std::mem::replace(known, entry));
            }
            None => self.entries.push(entry),
        }
    }

    /// Reports that an entry of a farther layer is used, because the nearer one is invalid.
    fn fall_back(&self, name: &str, at: std::ops::Range<usize>, report: &mut Report) {
        // A broken entry must not silently bring back one of a farther file.
        let Some(known) = self.get(name) else {
            return;
        };
        let origin = known.origin();
        let file = origin.file.as_deref().unwrap_or_else(|| Path::new(""));
        let line = origin.line.unwrap_or_default();
        let message = format!(
            "the entry at {}:{line} is used, because this one is not right",
            file.display()
        );
        let note = Note::warning(ProblemKind::FellBack, at, message);
        report.add(note.hint("fix this entry, or remove it"));
    }
}

/// Parses the text of another client's file, without accessing anything else.
pub fn read_client(text: &str, file: &Path, layer: Layer, client: Client) -> Config {
    let mut config = Config::default();
    let client = client.or_of_text(text);
    config.add_text(TextFile {
        text,
        file,
        folder: &paths::base(file),
        layer,
        client,
    });
    config
}

/// The client whose dialect a file uses. `.mcp.json` is ours as much as Claude Code's.
fn client_of(file: &Path, text: &str) -> Client {
    match Client::of_file(file) {
        Some(Client::ClaudeCode) if file.ends_with(".mcp.json") => Client::Switchboard,
        client => client.unwrap_or(Client::Switchboard).or_of_text(text),
    }
}

/// Reads the defaults for all servers of a file.
fn defaults(root: &Node, client: Client, report: &mut Report) -> Vec<Member> {
    let Some(member) = root.member("defaults").filter(|_| client.is_ours()) else {
        return Vec::new();
    };
    let Some(members) = member.value.object() else {
        let message = format!("`defaults` is {}", member.value.is_a());
        let span = member.value.span.clone();
        let note = Note::error(ProblemKind::WrongType, span, message);
        report.add(note.expecting("an object with fields for all servers of this file"));
        return Vec::new();
    };
    // Each entry copies them, so their size is multiplied by the number of servers.
    if member.value.size() > LIMITS.defaults {
        let message = format!("more than {} values in `defaults`", LIMITS.defaults);
        let span = member.key_span.clone();
        let note = Note::error(ProblemKind::TooLarge, span, message);
        report.add(note.hint("none of them is used"));
        return Vec::new();
    }
    // 1. One spelling for all clients, 2. defaults, 3. references, 4. checked as far as that goes
    // without values.
    let mut members = normalise::entry(members, client, report);
    members.retain(|member| {
        let is_own = matches!(member.key.as_str(), "type" | "command" | "args" | "url");
        if is_own {
            let message = format!("`{}` in `defaults`", member.key);
            let at = member.key_span.clone();
            let note = Note::error(ProblemKind::Unused, at, message);
            report.add(note.hint("what a server is stands in its own entry"));
        }
        !is_own && fields::find(&member.key).is_some()
    });
    members
}

/// Values shared by all entries of a file: its folder, its defaults, its inputs.
struct Shared<'a> {
    folder: &'a Path,
    defaults: Vec<Member>,
    inputs: Arc<Vec<super::expand::Input>>,
}

fn entry(found: Found, client: Client, shared: &Shared<'_>, report: &mut Report) -> Option<Entry> {
    let name = match ServerName::parse(&found.name) {
        Ok(name) => name,
        Err(_) => {
            let message = "this cannot be the name of a server";
            let note = Note::error(ProblemKind::BadName, found.at, message);
            report.add(note.expecting("1 to 128 characters without a space or a slash"));
            return None;
        }
    };
    let Some(members) = found.node.object() else {
        let message = format!("the entry is {}", found.node.is_a());
        let note = Note::error(ProblemKind::WrongType, found.node.span.clone(), message);
        report.add(note.expecting("an object with `command` or `url`"));
        return None;
    };
    // An entry with any error is not used, even if a draft could be read.
    let before = report.errors();
    let mut members = normalise::entry(members, client, report);
    normalise::merge(&mut members, &shared.defaults);
    let node = Node::new(found.node.span.clone(), NodeKind::Object(members));
    let references = match expand::references(&node, shared.folder) {
        Ok(references) => references,
        Err(note) => {
            report.add(note);
            Vec::new()
        }
    };
    // Values with placeholders are checked again when they are filled.
    let draft = read::read(&node, &found.at, Stage::Written, report)?;
    if report.errors() > before {
        return None;
    }
    let source = Arc::clone(&report.source);
    let (line, column) = source.place(found.at.start);
    let origin = Origin::of_file(source.layer.clone(), &source.file, found.pointer);
    Some(Entry::new(Parts {
        name,
        origin: origin.at(line, column),
        folder: shared.folder.to_owned(),
        project: found.project,
        node,
        draft,
        references,
        inputs: Arc::clone(&shared.inputs),
        source,
    }))
}
