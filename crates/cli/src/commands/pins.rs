//! `switchboard pins`: compares the definitions of servers with those that were approved, and approves or
//! forgets them.

use serde::Serialize;
use switchboard::catalog::ServerCatalog;
use switchboard::host::Host;
use switchboard::pins::{Baseline, Drift, Pinned, Settling, StoreError, What, Which};
use switchboard::spec::ServerName;
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;

use super::listing::{Listing, collect_listing};
use crate::args::{Connection, List, Pins, PinsApprove, PinsVerb};
use crate::ask;
use crate::blocking::run_blocking;
use crate::daemon::Starter;
use crate::editing::{notes, result};
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector, with_host};
use crate::lost_records::{self, LostRecords};
use crate::permission::lines;
use crate::report::{Failure, Report};
use crate::screen::Screen;
use crate::state;
use crate::timestamp;

/// Runs the subcommands of `pins`.
pub(crate) fn run(args: &Pins) -> Exit {
    match &args.verb {
        PinsVerb::List(args) => {
            let screen = Screen::plain(args.json);
            screen.finish(list(&screen))
        }
        PinsVerb::Diff(args) => diff(args),
        PinsVerb::Approve(args) => approve(args),
        PinsVerb::Revoke(args) => {
            let screen = Screen::plain(args.json);
            screen.finish(revoke(&args.server, &screen))
        }
    }
}

/// Refuses to run as an agent: only the person approves.
pub(super) fn own(connection: &Connection) -> Result<(), Exit> {
    // Approving is for the person, whatever an agent was granted.
    if connection.acting.agent.is_none() {
        return Ok(());
    }
    let report = Report::usage("--as is not allowed here: agents cannot approve anything");
    Err(Screen::plain(connection.json).fail(&report))
}

/// The approved definitions of one server in JSON: see `docs/permission.md`.
#[derive(Serialize)]
struct PinsItem {
    server: String,
    identity: String,
    definitions: usize,
    approved: String,
}

impl PinsItem {
    fn of(baseline: &Baseline) -> Self {
        Self {
            server: baseline.server.to_string(),
            identity: baseline.identity.to_string(),
            definitions: baseline.pinned.len(),
            approved: timestamp::utc_seconds(baseline.approved),
        }
    }
}

fn revoke(server: &ServerName, screen: &Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct RevokedPins {
        revoked: Vec<PinsItem>,
    }
    let store = state::pins(&Environment::of_process());
    // Looked up before the revocation, which also clears the note of the loss.
    let is_lost = store.lost_files()?.iter().any(|lost| {
        let mut servers = lost.note.servers().iter();
        servers.any(|name| name == server.as_str())
    });
    let revoked = store.revoke(&Which::Server(server.clone()))?;
    let revoked: Vec<PinsItem> = revoked.iter().map(PinsItem::of).collect();
    if screen.is_json() {
        return result(&RevokedPins { revoked }, screen);
    }
    if revoked.is_empty() && !is_lost {
        notes(&[format!("no definitions of {server} were approved")]);
    }
    let lines = revoked.iter().map(|item| {
        format!(
            "forgot {} definitions of {}\n",
            item.definitions, item.server
        )
    });
    let lost =
        is_lost.then(|| format!("dismissed the warning about the lost record of {server}\n"));
    let lines: String = lines.chain(lost).collect();
    screen.result(&lines)
}

fn list(screen: &Screen) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct ListedPins {
        pins: Vec<PinsItem>,
    }
    let environment = Environment::of_process();
    let kept = state::pins(&environment).list()?;
    let lost = LostRecords::look(&environment);
    lost_records::warn(lost.pins().map(|(_, told)| told), screen);
    let pins: Vec<PinsItem> = kept.iter().map(PinsItem::of).collect();
    if screen.is_json() {
        return result(&ListedPins { pins }, screen);
    }
    let lines = pins.iter().map(|item| {
        let PinsItem {
            server, approved, ..
        } = item;
        let line = format!("{approved}  {server}  {} definitions", item.definitions);
        format!("{}\n", sanitise_line(&line))
    });
    screen.result(&lines.collect::<String>())
}

/// A drift in JSON: see `docs/permission.md`.
#[derive(Serialize)]
struct DriftItem {
    server: String,
    kind: String,
    name: String,
    change: &'static str,
    before: Option<String>,
    after: Option<String>,
    perhaps: Option<String>,
    diff: Vec<String>,
}

impl DriftItem {
    fn of(server: &ServerName, drift: &Drift) -> Self {
        Self {
            server: server.to_string(),
            kind: drift.kind.to_string(),
            name: drift.name.clone(),
            change: match drift.what {
                What::Added => "added",
                What::Removed => "removed",
                What::Changed => "changed",
            },
            before: drift.before.map(|hash| hash.to_string()),
            after: drift.after.map(|hash| hash.to_string()),
            perhaps: drift.perhaps.clone(),
            diff: drift.diff.iter().map(ToString::to_string).collect(),
        }
    }
}

fn diff(args: &List) -> Exit {
    #[derive(Serialize)]
    struct PinsDiffDocument {
        drifts: Vec<DriftItem>,
        unpinned: Vec<String>,
    }
    if let Err(exit) = own(&args.connection) {
        return exit;
    }
    let selector = Selector::from_name(args.server.as_deref());
    with_host(
        Starter::Command,
        Ok(selector),
        &args.connection,
        async |hosting| {
            let listing = settled_listing(selector, hosting).await?;
            let (mut drifts, mut unpinned, mut text) = (Vec::new(), Vec::new(), String::new());
            let kept = state::pins(&Environment::of_process());
            for part in &listing.parts {
                let name = part.name();
                let identity = hosting.host.identity(name.as_str())?;
                match kept.baseline(&identity) {
                    Ok(Some(_)) => {}
                    Ok(None) => {
                        let text = format!("{name}: no definitions approved yet");
                        hosting.screen.warn(&text);
                        unpinned.push(name.to_string());
                    }
                    // The host has warned of it when it was opened.
                    Err(StoreError::Lost { .. }) => unpinned.push(name.to_string()),
                    Err(error) => return Err(error.into()),
                }
                for drift in hosting.host.drifts(name.as_str())? {
                    for line in lines(&drift) {
                        let line = hosting.screen.redact(&line).into_owned();
                        text.push_str(&format!("{name}: {}\n", sanitise_line(&line)));
                    }
                    drifts.push(DriftItem::of(name, &drift));
                }
            }
            let exit = if drifts.is_empty() {
                Exit::Ok
            } else {
                Exit::Changed
            };
            if hosting.screen.is_json() {
                result(&PinsDiffDocument { drifts, unpinned }, hosting.screen)?;
            } else {
                hosting.screen.result(&text)?;
            }
            Ok(exit)
        },
    )
}

fn approve(args: &PinsApprove) -> Exit {
    if let Err(exit) = own(&args.connection) {
        return exit;
    }
    let selector = Selector::Server(&args.server);
    with_host(
        Starter::Command,
        Ok(selector),
        &args.connection,
        async |hosting| {
            let listing = settled_listing(selector, hosting).await?;
            // Taken again after the quiet: the listing may be older than the last change.
            let catalog = hosting.host.catalog();
            let part = listing.parts.first().map(|part| part.name().clone());
            let part = part.and_then(|name| catalog.server(name.as_str()).cloned());
            match part {
                Some(part) => approve_drifts(args, &part, hosting).await,
                None => Err(Report::new(
                    Exit::Connect,
                    "connect",
                    "the server could not be reached",
                )),
            }
        },
    )
}

async fn approve_drifts(
    args: &PinsApprove,
    part: &ServerCatalog,
    hosting: &Hosting<'_>,
) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct PinsApproveDocument<'a> {
        server: &'a str,
        approved: Vec<DriftItem>,
        /// True if the server had no approved definitions before.
        pinned: bool,
    }
    let (screen, server) = (hosting.screen, part.name());
    let kept = state::pins(&Environment::of_process());
    let identity = hosting.host.identity(server.as_str())?;
    // Compared with the store: a server without a baseline has no drifts in the host.
    let baseline = match kept.baseline(&identity) {
        // The approved definitions are lost, so all current ones must be reviewed.
        Err(StoreError::Lost { .. }) => None,
        baseline => baseline?,
    };
    let mut drifts = match &baseline {
        Some(pinned) => pinned.compare(part),
        None => Pinned::default().compare(part),
    };
    // Refuse a name that differs in nothing: it is probably misspelt.
    if !args.names.is_empty() {
        for name in &args.names {
            if !drifts.iter().any(|drift| drift.name == *name) {
                let title = format!("no changed definition is named {name:?}");
                let report = Report::new(Exit::Tool, "unknown-tool", title);
                return Err(report.server(server.to_string()));
            }
        }
        drifts.retain(|drift| args.names.contains(&drift.name));
    }
    if !drifts.is_empty() && !args.yes {
        confirm(server, &drifts, screen).await?;
    }
    let (is_new, name) = (baseline.is_none(), server.clone());
    // On a thread: the store may be locked by another process.
    let drifts = run_blocking(move || {
        if is_new {
            // A server without a baseline starts from an empty one, so that all drifts are additions.
            kept.set(&identity, &name, Pinned::default())?;
        }
        kept.approve(&identity, &drifts).map(|_| drifts)
    })
    .await?;
    if screen.is_json() {
        let document = PinsApproveDocument {
            server: server.as_str(),
            approved: drifts
                .iter()
                .map(|drift| DriftItem::of(server, drift))
                .collect(),
            pinned: baseline.is_none(),
        };
        result(&document, screen)?;
        return Ok(Exit::Ok);
    }
    if drifts.is_empty() {
        notes(&[format!("{server}: unchanged since it was approved")]);
    }
    let lines = drifts.iter().map(|drift| {
        let line = format!("approved {server}: {drift}");
        format!("{}\n", sanitise_line(&screen.redact(&line)))
    });
    screen.result(&lines.collect::<String>())?;
    Ok(Exit::Ok)
}

/// Shows the changes to approve, and asks the person.
async fn confirm(server: &ServerName, drifts: &[Drift], screen: &Screen) -> Result<(), Failure> {
    // Exactly what is approved afterwards, with secrets masked.
    let shown: Vec<String> = drifts.iter().flat_map(lines).collect();
    let shown: Vec<String> = shown
        .iter()
        .map(|line| screen.redact(line).into_owned())
        .collect();
    // Without a person the changes are shown in the report, and nothing is approved.
    if screen.is_json() || !ask::is_attended() {
        let message = "nothing is approved: there is no terminal to ask at";
        let report = Report::new(Exit::Denied, "denied", message);
        return Err(report
            .server(server.to_string())
            .evidence("what would be approved", shown)
            .hint(format!(
                "if this is what you expect: `switchboard pins approve {server} --yes`"
            )));
    }
    ask::show(&shown);
    match ask::is_yes_off_thread("approve it as it is now?").await {
        Some(true) => Ok(()),
        _ => Err(Report::new(Exit::Denied, "denied", "not approved").server(server.to_string())),
    }
}

/// Connects and lists, and waits until the lists stop changing: pins are compared with complete ones.
async fn settled_listing(
    selector: Selector<'_>,
    hosting: &Hosting<'_>,
) -> Result<Listing, Failure> {
    let listing = collect_listing(selector, &[], hosting).await?;
    quiet(&hosting.host).await;
    Ok(listing)
}

/// Waits until no list has changed for a while: some servers add tools after they start.
pub(super) async fn quiet(host: &Host) {
    let now = || tokio::time::Instant::now().into_std();
    let mut catalog = host.watch_catalog();
    let mut settling = Settling::new(now());
    while !settling.is_settled(now()) {
        let due = tokio::time::Instant::from_std(settling.due());
        if let Ok(Ok(())) = tokio::time::timeout_at(due, catalog.changed()).await {
            settling.record_change(now());
        }
    }
}
