//! `switchboard verify`: compares the current state of a project's servers with its lock file.

use serde::Serialize;
use switchboard::text::sanitise_line;

use super::{CurrentState, LockScope, Unpinned, Unreached, with_locked_host};
use crate::args;
use crate::editing::result;
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::Screen;
use switchboard_lock::{LockDrift, Part};

/// Compares the servers of a project with its lock file.
pub(crate) fn verify(args: &args::Verify) -> Exit {
    with_locked_host(&args.connection, async |hosting| {
        let locked = LockScope::of(&hosting.files.config, &args.connection)?;
        // Read the lock first: without it no server need be started.
        let before = locked.read()?;
        let now = locked.now(hosting).await?;
        // Facts about an unreachable server are unknown: they are reported as unreachable, not as changed.
        let is_unknown = |drift: &LockDrift| match drift.part {
            Part::Offers => true,
            Part::Issuer => drift.after.is_none(),
            _ => false,
        };
        let is_told = |drift: &LockDrift| {
            let mut unreached = now.unreached.iter();
            let is_reached = !unreached.any(|failed| failed.server == drift.server.as_str());
            is_reached || !is_unknown(drift)
        };
        let mut drifts = before.verify(&now.lock);
        drifts.retain(is_told);
        for drift in &mut drifts {
            // Replace hashes by definitions where the person's pins have them.
            drift.diff = now.detail(drift, hosting);
        }
        let outcome = VerifyOutcome {
            file: locked.file.display().to_string(),
            drifts,
            now,
        };
        outcome.print(args.locked, hosting.screen)
    })
}

/// The outcome of a comparison.
struct VerifyOutcome<'c> {
    file: String,
    drifts: Vec<LockDrift>,
    now: CurrentState<'c>,
}

impl VerifyOutcome<'_> {
    /// Prints the differences, and returns the exit code. With `is_strict`, servers that could not be reached and
    /// packages without a version are failures too.
    fn print(&self, is_strict: bool, screen: &Screen) -> Result<Exit, Failure> {
        #[derive(Serialize)]
        struct VerifyDocument<'a> {
            file: String,
            drifts: Vec<LockDriftItem>,
            unreached: &'a [Unreached],
            unpinned: &'a [Unpinned<'a>],
        }
        let Self { file, drifts, now } = self;
        if screen.is_json() {
            let document = VerifyDocument {
                file: file.clone(),
                drifts: drifts.iter().map(LockDriftItem::of).collect(),
                unreached: &now.unreached,
                unpinned: &now.unpinned,
            };
            result(&document, screen)?;
        } else {
            now.warn(screen);
            for Unreached {
                server, message, ..
            } in &now.unreached
            {
                screen.warn(&format!(
                    "{server}: {message}: its definitions could not be read"
                ));
            }
            let mut text = String::new();
            for drift in drifts {
                text.push_str(&format!("{drift}\n"));
                for line in hashes(drift) {
                    text.push_str(&format!("  {}\n", sanitise_line(&screen.redact(&line))));
                }
            }
            screen.result(&text)?;
        }
        // The differences are printed; what follows only decides the exit code.
        let fails = |exit, message: String| {
            let report = Report::new(exit, "changed", message);
            Err(report.fact("lock", file.clone()))
        };
        if !drifts.is_empty() {
            let message = format!("{} not as the lock says", are(drifts.len(), "thing"));
            return if screen.is_json() {
                Ok(Exit::Changed)
            } else {
                fails(Exit::Changed, message)
            };
        }
        // With --locked, a server that was not compared is a failure as well.
        if is_strict {
            if let Some(failed) = now.unreached.first() {
                return fails(
                    failed.why,
                    format!("{} could not be checked", failed.server),
                );
            }
            if !now.unpinned.is_empty() {
                let count = are(now.unpinned.len(), "package");
                return fails(Exit::Changed, format!("{count} named without a version"));
            }
        }
        if !screen.is_json() {
            let count = now.lock.servers().count();
            let line = format!("{} as {file} says", are(count, "server"));
            screen.result(&format!("{}\n", sanitise_line(&line)))?;
        }
        Ok(Exit::Ok)
    }
}

/// Returns the diff of the definitions if they are known, otherwise of their hashes.
fn hashes(drift: &LockDrift) -> Vec<String> {
    if !drift.diff.is_empty() {
        return drift.diff.iter().map(ToString::to_string).collect();
    }
    let side = |sign: char, hash: &Option<String>| {
        let hash = hash.as_deref();
        hash.map(|hash| format!("{sign} {hash}"))
    };
    let sides = [side('-', &drift.before), side('+', &drift.after)];
    sides.into_iter().flatten().collect()
}

/// A drift in JSON: see `docs/permission.md`.
#[derive(Serialize)]
struct LockDriftItem {
    server: String,
    part: &'static str,
    kind: Option<String>,
    name: Option<String>,
    message: String,
    before: Option<String>,
    after: Option<String>,
    diff: Vec<String>,
}

impl LockDriftItem {
    fn of(drift: &LockDrift) -> Self {
        let (part, kind, name) = match &drift.part {
            Part::Server => ("server", None, None),
            Part::Entry => ("entry", None, None),
            Part::Package => ("package", None, None),
            Part::Issuer => ("issuer", None, None),
            Part::Offers => ("offers", None, None),
            Part::Item(kind, name) => ("item", Some(kind.to_string()), Some(name.clone())),
        };
        Self {
            server: drift.server.to_string(),
            part,
            kind,
            name,
            message: drift.to_string(),
            before: drift.before.clone(),
            after: drift.after.clone(),
            diff: drift.diff.iter().map(ToString::to_string).collect(),
        }
    }
}

/// `1 thing is`, `2 things are`.
fn are(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what} is"),
        count => format!("{count} {what}s are"),
    }
}
