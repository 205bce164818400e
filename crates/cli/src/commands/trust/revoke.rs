//! `switchboard trust revoke`: revokes approvals by server name, file or fingerprint.

use std::path::{Path, PathBuf};

use serde::Serialize;
use switchboard::spec::ServerName;
use switchboard::text::{closest, sanitise_line};
use switchboard::trust::{self, Prefix, Which};

use super::TrustItem;
use crate::approvals::Approvals;
use crate::args::TrustRevoke;
use crate::editing::result;
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::scope::Files;
use crate::screen::Screen;

/// The document of `trust revoke --json`: see `docs/editing.md`.
#[derive(Serialize)]
struct RevokedServers {
    revoked: Vec<TrustItem>,
}

/// Revokes approvals.
pub(super) fn revoke(args: &TrustRevoke, screen: &Screen) -> Result<(), Failure> {
    let files = Files::read(None)?;
    let approvals = Approvals::of(&files.config, &files.environment)?;
    let store = approvals.store();
    let revoked = match &args.which {
        Some(word) => {
            let given = store.list()?;
            // Selected among what is approved, so that a typo revokes nothing.
            let Some(which) = which(word, &given) else {
                return Err(nothing(word, &given));
            };
            store.revoke(&which)?
        }
        // `--lost`: without it clap requires a word.
        None => {
            store.forget_lost()?;
            Vec::new()
        }
    };
    let revoked: Vec<TrustItem> = revoked.iter().map(TrustItem::from_approval).collect();
    if screen.is_json() {
        return result(&RevokedServers { revoked }, screen);
    }
    let lines = revoked.iter().map(|item| {
        let line = format!("revoked {} of {}", item.server, item.file);
        format!("{}\n", sanitise_line(&line))
    });
    screen.result(&lines.collect::<String>())
}

/// Resolves a word to the approvals that it selects: a server name first, then a file, then a fingerprint
/// prefix.
fn which(word: &str, given: &[trust::Approval]) -> Option<Which> {
    let name = ServerName::parse(word).ok().map(Which::Server);
    let file = Some(Which::File(real(Path::new(word))));
    let digits = word.parse::<Prefix>().ok().map(Which::Fingerprint);
    let mut all = [name, file, digits].into_iter().flatten();
    all.find(|which| given.iter().any(|approval| which.means(approval)))
}

/// Returns the real path of a file, even if the file no longer exists.
fn real(file: &Path) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    if let Ok(real) = std::fs::canonicalize(&whole) {
        return real;
    }
    match (whole.parent(), whole.file_name()) {
        (Some(folder), Some(name)) => match std::fs::canonicalize(folder) {
            Ok(folder) => folder.join(name),
            Err(_) => whole,
        },
        _ => whole,
    }
}

fn nothing(word: &str, given: &[trust::Approval]) -> Failure {
    let report = Report::new(
        Exit::Configuration,
        "configuration",
        format!("no approval matches {word:?}"),
    );
    let names = given.iter().map(|approval| approval.server.as_str());
    let report = match closest(word, names) {
        Some(meant) => report.hint(format!("did you mean {meant:?}?")),
        None => report,
    };
    report.hint("`switchboard trust list` shows names, files and fingerprints")
}
