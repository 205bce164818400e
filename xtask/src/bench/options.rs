//! The options of `cargo xtask bench`.

use super::plan::{Client, Row};
use super::{commands, gateway};

/// The usage text, for help and errors.
pub(super) const USAGE: &str = "\
usage: cargo xtask bench [OPTIONS]

Compares our session with a raw client and with rmcp, against one raw server: over pipes, and over HTTP;
the gateway with a bare reverse proxy; and our command line with those of others.

  --quick            fewer rounds and shorter ones: a first impression, not a figure to quote
  --rows LIST        only these rows: echo,echo-one-core,echo64,big,big-lines,list,connect20,http-echo,http-echo-sse,
                     http-echo-header,http-echo-token,host-echo,host-echo-agent,host-connect1,
                     host-connect20,catalog-find,catalog-rebuild,gateway,commands
  --clients LIST     only these clients: raw,ours,rmcp,rmcp-pooled
  --cpus A,B         the core of the clients and that of the servers (default: the first two)
  --no-callgrind     leave out the instruction counts, which need valgrind
  --write            write docs/benchmarks.md
  --gate             fail when a target is missed
";

/// The options, checked.
#[derive(Debug, PartialEq)]
pub(super) struct BenchOptions {
    pub(super) quick: bool,
    pub(super) rows: Vec<Row>,
    /// True if whole commands are timed as well.
    pub(super) commands: bool,
    /// True if calls through the gateway are measured as well.
    pub(super) gateway: bool,
    pub(super) clients: Vec<Client>,
    pub(super) cpus: Option<(usize, usize)>,
    pub(super) callgrind: bool,
    pub(super) write: bool,
    pub(super) gate: bool,
}

impl BenchOptions {
    /// Reads the arguments that follow `bench`.
    pub(super) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            quick: false,
            rows: Row::ALL.to_vec(),
            commands: true,
            gateway: true,
            clients: Client::ALL.to_vec(),
            cpus: None,
            callgrind: true,
            write: false,
            gate: false,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || {
                let value = arguments.next();
                value.ok_or_else(|| format!("{argument} needs a value\n\n{USAGE}"))
            };
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--no-callgrind" => options.callgrind = false,
                "--write" => options.write = true,
                "--gate" => options.gate = true,
                "--rows" => {
                    let chosen = list(&value()?, &Chosen::all(), |one| one.name())?;
                    options.commands = chosen.contains(&Chosen::Commands);
                    options.gateway = chosen.contains(&Chosen::Gateway);
                    options.rows = chosen.iter().filter_map(|one| one.row()).collect();
                }
                "--clients" => {
                    options.clients = list(&value()?, &Client::ALL, |client| client.name())?;
                }
                "--cpus" => options.cpus = Some(cpus(&value()?)?),
                _ => return Err(format!("unknown option {argument}\n\n{USAGE}")),
            }
        }
        if options.gate && !options.clients.contains(&Client::Ours) {
            return Err("--gate judges our client: --clients must have it".to_owned());
        }
        Ok(options)
    }
}

/// What can be chosen: a row of the clients, or one of those that have tables of their own.
#[derive(Clone, Copy, PartialEq)]
enum Chosen {
    Row(Row),
    Gateway,
    Commands,
}

impl Chosen {
    fn all() -> Vec<Self> {
        let rows = Row::ALL.into_iter().map(Self::Row);
        rows.chain([Self::Gateway, Self::Commands]).collect()
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Row(row) => row.name(),
            Self::Gateway => gateway::NAME,
            Self::Commands => commands::NAME,
        }
    }

    fn row(self) -> Option<Row> {
        match self {
            Self::Row(row) => Some(row),
            Self::Gateway | Self::Commands => None,
        }
    }
}

/// Reads names separated by commas; the order is that of `all`, whatever was written.
fn list<T: Copy>(names: &str, all: &[T], name: impl Fn(&T) -> &str) -> Result<Vec<T>, String> {
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    let known: Vec<&str> = all.iter().map(&name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!("{unknown:?} is none of {}", known.join(", ")));
    }
    let wanted = all.iter().filter(|item| names.contains(&name(item)));
    Ok(wanted.copied().collect())
}

fn cpus(text: &str) -> Result<(usize, usize), String> {
    let pair = text.split_once(',').and_then(|(client, server)| {
        Some((client.trim().parse().ok()?, server.trim().parse().ok()?))
    });
    pair.ok_or_else(|| format!("--cpus takes two numbers such as 0,1, not {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<BenchOptions, String> {
        BenchOptions::parse(arguments.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn everything_is_measured_unless_told_otherwise() {
        let options = parse("").unwrap();
        assert_eq!(options.rows, Row::ALL);
        assert_eq!(options.clients, Client::ALL);
        assert!(options.commands && options.gateway);
        assert!(options.callgrind && !options.quick && !options.write && !options.gate);
    }

    #[test]
    fn rows_and_cores_are_chosen_by_name() {
        let options = parse("--rows list,echo --cpus 2,3 --quick").unwrap();
        assert_eq!(options.rows, [Row::Echo, Row::List]);
        assert_eq!(options.cpus, Some((2, 3)));
        assert!(!options.commands);
        let options = parse("--rows commands").unwrap();
        assert!(options.rows.is_empty() && options.commands && !options.gateway);
        let options = parse("--rows gateway,echo").unwrap();
        assert_eq!(options.rows, [Row::Echo]);
        assert!(options.gateway && !options.commands);
    }

    #[test]
    fn mistakes_are_refused_with_what_is_possible() {
        let refused = |arguments: &str| parse(arguments).unwrap_err();
        assert!(refused("--rows ecco").contains("echo64"));
        assert!(refused("--fast").contains("usage"));
        assert!(refused("--cpus 1").contains("0,1"));
        assert!(refused("--rows").contains("needs a value"));
        assert!(refused("--gate --clients raw").contains("--clients"));
    }
}
