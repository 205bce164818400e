//! `switchboard config`: shows, checks and locates config files. Nothing here starts a server.

mod check;
mod show;

use serde::Serialize;
use switchboard::text::sanitise_line;

use crate::args::{ConfigPath, ConfigVerb, Configs};
use crate::editing::result;
use crate::exit::Exit;
use crate::report::Failure;
use crate::scope::Files;
use crate::screen::Screen;

use check::check;
pub(crate) use check::unpinned;
use show::show;

/// Runs the subcommands of `config`.
pub(crate) fn run(args: &Configs) -> Exit {
    let (screen, done) = match &args.verb {
        ConfigVerb::Show(args) => {
            let screen = Screen::plain(args.json);
            let done = show(args, &screen);
            (screen, done)
        }
        ConfigVerb::Check(args) => {
            let screen = Screen::plain(args.json);
            let done = check(args, &screen);
            (screen, done)
        }
        ConfigVerb::Path(args) => {
            let screen = Screen::plain(args.json);
            let done = path(args, &screen);
            (screen, done)
        }
        ConfigVerb::Schema => {
            let screen = Screen::plain(false);
            let text = format!("{:#}\n", switchboard::config::json_schema());
            let done = screen.result(&text);
            (screen, done)
        }
    };
    screen.finish(done)
}

/// A config file location that was looked at.
#[derive(Serialize)]
struct Looked {
    file: String,
    layer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    exists: Option<bool>,
    servers: usize,
    refused: bool,
}

/// The document of `config path --json`: see `docs/editing.md`.
#[derive(Serialize)]
struct Paths {
    files: Vec<Looked>,
}

fn path(args: &ConfigPath, screen: &Screen) -> Result<(), Failure> {
    let files = Files::read(None)?;
    let looked = files.places.files().into_iter().map(|(layer, file)| {
        let mut read = files.config.files().iter();
        let read = read.find(|read| read.path == file);
        Looked {
            file: file.display().to_string(),
            layer: layer.to_string(),
            exists: Some(read.is_some()),
            servers: read.map(|read| read.entries).unwrap_or_default(),
            refused: read.is_some_and(|read| read.is_refused),
        }
    });
    let looked: Vec<Looked> = looked.collect();
    if args.json {
        return result(&Paths { files: looked }, screen);
    }
    let lines = looked.iter().map(|looked| {
        let state = match looked {
            Looked {
                exists: Some(false),
                ..
            } => "not there".to_owned(),
            Looked { refused: true, .. } => "refused".to_owned(),
            Looked { servers, .. } => count(*servers, "server"),
        };
        // The layer of a parent folder is `ancestor:PATH`; the path is shown anyway.
        let layer = looked.layer.split(':').next().unwrap_or_default();
        let line = format!("{layer:8}  {state:9}  {}", looked.file);
        format!("{}\n", sanitise_line(&line))
    });
    screen.result(&lines.collect::<String>())
}

fn count(number: usize, what: &str) -> String {
    let end = if number == 1 { "" } else { "s" };
    format!("{number} {what}{end}")
}
