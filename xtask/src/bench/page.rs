//! The page that keeps the figures: what was measured, with what, and how to do it again.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::commands::Commands;
use super::gateway::Gateway;
use super::options::BenchOptions;
use super::plan::{Client, rounds};
use super::table;
use crate::partners::clients;

/// Everything beside the tables that a reader needs to judge them.
pub(super) struct Setting {
    cores: usize,
    date: String,
    rust: String,
    ours: String,
    rmcp: String,
}

impl Setting {
    /// Looks at the machine and at the versions in use.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let read = |file: &str| {
            let text = std::fs::read_to_string(root.join(file));
            text.map_err(|error| format!("{file} cannot be read: {error}"))
        };
        let (lock, manifest) = (read("Cargo.lock")?, read("bench/Cargo.toml")?);
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let rust = std::process::Command::new(rustc)
            .arg("--version")
            .output()
            .map_err(|error| format!("rustc does not start: {error}"))?;
        let rust = String::from_utf8_lossy(&rust.stdout);
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_err(|_| "the clock of this machine is before 1970")?;
        Ok(Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            date: date(since.as_secs() / 86_400),
            rust: rust.split_whitespace().nth(1).unwrap_or("?").to_owned(),
            ours: locked(&lock, "switchboard").unwrap_or("?").to_owned(),
            rmcp: pinned(&manifest, "rmcp").unwrap_or("?").to_owned(),
        })
    }

    /// The versions and the machine, in one line.
    pub(super) fn line(&self) -> String {
        format!(
            "{}; {} cores; rustc {}; switchboard {}; rmcp {}; mimalloc in every client",
            self.date, self.cores, self.rust, self.ours, self.rmcp
        )
    }
}

/// The whole page around the tables.
pub(super) fn page(setting: &Setting, options: &BenchOptions, tables: &str) -> String {
    let rounds = rounds(options.quick);
    let short = if options.quick {
        "These figures are of a quick run: a first impression only.\n\n"
    } else {
        ""
    };
    let who = options.clients.iter().map(|client| match client {
        Client::Raw => {
            "- **raw**: blocking reads and writes on the pipe, answers checked by comparing bytes. It is not a\n  \
             usable client; it shows the limit that the pipe sets. Over HTTP it is hyper on one connection,\n  \
             the same body each time, answers read to their end.\n"
        }
        Client::Ours => {
            "- **ours**: `switchboard::Session` over `transport::Stdio`, and over `transport::Http`.\n"
        }
        Client::Rmcp => {
            "- **rmcp**: the official Rust SDK, its `serve` and `call_tool` over a child process; over HTTP\n  \
             with the client that it brings, which makes a connection for each request.\n"
        }
        Client::RmcpPooled => {
            "- **rmcp-pooled**: the same, over HTTP, given a client that keeps its connections.\n"
        }
    });
    let who: String = who.collect();
    let line = setting.line();
    format!(
        "# Benchmarks

Written by `cargo xtask bench --write`; do it again rather than edit it.

{short}Measured: {line}.

## What is compared

{who}
All of them talk to the same server, which answers from prepared text and does nothing else, and
every answer is checked. Client and server are pinned to a core each; for `echo-one-core`, to the
same one. The clients take turns, one short run each, for {rounds} rounds; ratios are taken within a
round, and the median of the rounds is shown. Absolute times are those of one machine on one day;
compare the ratios. Waking up a core that fell asleep can be most of what `echo` costs, for every
client: `echo-one-core` shows the rest. Over HTTP all speak 2026-07-28, over pipes 2025-11-25.

Instructions are those of the client's process, counted by callgrind on the current-thread runtime:
the difference of two run lengths, so that starting up cancels out. The kernel and the server are
not in them. `connect20` is about starting processes and is not counted; `echo-one-core` would count
the same as `echo`.

Where the difference comes from, so that it is not overrated: our types keep the text that
a server sent and read the named fields off it, while rmcp builds a tree of values for schemas and
arguments. A program that walks through every schema pays for that with us at the time it does so.
Both are built into one program, so the crates that they share have the same features for both.
The programs are built with the `dist` profile, as shipped binaries are.

The rows of the catalog have no server and no other client: their times are held against fixed
limits. They are asked for one tool after the other from all over the catalog.

{tables}
## Do it again

```console
$ cargo xtask bench            # all of it, a few minutes
$ cargo xtask bench --quick    # a first impression
$ cargo xtask bench --gate     # fails when a target is missed
```

It needs two cores, `taskset` (util-linux) and `valgrind`; `--no-callgrind` leaves the instruction
counts out. The clients that commands are compared with come from npm; `--rows` can leave them out.
Nothing else should be running.
"
    )
}

/// The section about the gateway.
pub(super) fn gateway(gateway: Option<&Gateway>) -> String {
    let Some(gateway) = gateway else {
        return "\n## Gateway\n\nLeft out of this run.\n".to_owned();
    };
    let counts = if gateway.counts().is_empty() {
        "Instructions are left out of this run.\n".to_owned()
    } else {
        table::gateway_counts(gateway)
    };
    format!(
        "
## Gateway

Calls of a tool that echoes, through the gateway with what people run it with: a policy, a listener to its
decisions, and a token over HTTP. Before a server over HTTP, a bare reverse proxy made of hyper, which reads
no message and decides nothing, and nginx where it is installed stand beside it; before a server on a pipe,
an HTTP server of hyper that writes each body to the pipe, and three gateways of others. All of them have a
core of their own, and ours, hyper's and nginx one thread; the load and the server share the other core, so
calls per core follow from the processor time of a call, not from the time that a run takes. Before HTTP
server and clients speak 2026-07-28, before a pipe 2025-11-25, which all the others know.

An attacked gateway has hostile clients beside the ones that are timed: 64 connections that send a head one
byte at a time, and 200 requests a second that have to be refused, among them ones with a wrong token, a
foreign `Host`, an unknown session, a deep or cut body, and one that announces a gigabyte. An answer of
success to one of them fails the run.

{}
Instructions of the gateway's process per call, counted as those of the clients:

{counts}",
        table::gateway_times(gateway)
    )
}

/// The section about whole commands.
pub(super) fn commands(commands: Option<&Commands>) -> String {
    let Some(commands) = commands else {
        return "\n## Commands\n\nLeft out of this run.\n".to_owned();
    };
    let [inspector, mcporter] = [
        clients::CommandLineClient::Inspector,
        clients::CommandLineClient::Mcporter,
    ]
    .map(clients::CommandLineClient::version);
    format!(
        "
## Commands

What a person waits for: whole processes, from their start to their end, on all cores, with a home that is
empty. All start the same server, which has 20 tools. The server alone is started with pipes and asked for
its tools in plain bytes, until its answer is there; its end, for which `switchboard` waits, is not counted.
Beside ours stand the official Inspector ({inspector}) and mcporter ({mcporter}), both on Node, started without
npx. `call, with daemon` is a whole `switchboard call` of a server that takes a second to start, while
`switchboard up` runs and the server has been called before.

{}",
        table::commands(commands)
    )
}

/// The version of a package that the lock file names.
fn locked<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    rest.split('"').next()
}

/// The one version of a dependency that a manifest allows. The lock file would not tell: partners
/// of the interop tests bring other versions of the same package.
fn pinned<'a>(manifest: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = manifest.split_once(&format!("\n{package} = {{ version = \"="))?;
    rest.split('"').next()
}

/// The date of a day counted from 1970-01-01, in the Gregorian calendar.
fn date(day: u64) -> String {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let (mut year, mut left) = (1970, day);
    loop {
        let days = if is_leap(year) { 366 } else { 365 };
        if left < days {
            break;
        }
        left -= days;
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(11_016), "2000-02-29");
        assert_eq!(date(19_722), "2023-12-31");
        assert_eq!(date(19_723), "2024-01-01");
        assert_eq!(date(20_148), "2025-03-01");
    }

    #[test]
    fn the_lock_file_tells_the_version_of_the_package_and_not_of_a_namesake() {
        let lock = "name = \"switchboard-cli\"\nversion = \"1.0.0\"\n\nname = \"switchboard\"\nversion = \"0.2.0\"\n";
        assert_eq!(locked(lock, "switchboard"), Some("0.2.0"));
        assert_eq!(locked(lock, "other"), None);
    }

    #[test]
    fn the_manifest_tells_the_pinned_version() {
        let manifest = "[dependencies]\nrmcp = { version = \"=3.8.0\", features = [] }\n";
        assert_eq!(pinned(manifest, "rmcp"), Some("3.8.0"));
        assert_eq!(pinned(manifest, "other"), None);
    }
}
