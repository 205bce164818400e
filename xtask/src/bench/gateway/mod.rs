//! Calls through the gateway: instructions of its process, and its times beside a bare reverse proxy, an HTTP
//! server before a raw pipe, and gateways of others.
//!
//! The gateway has what people run it with: a policy, a listener to its decisions, and a token over HTTP.
//! Its instructions are the difference of two run lengths, as those of clients are. Times are compared
//! within a round, in which all programs take turns on the same core.

mod peers;
mod plan;

use std::process::{Command, Stdio};

use super::instructions::collected;
use super::plan::rounds;
use super::programs::Programs;
use super::wall::median;
use peers::Peer;
pub(super) use plan::{Era, Through, Way, Work};

/// The name that selects it among the rows.
pub(super) const NAME: &str = "gateway";

/// Description of the row.
pub(super) const MEANING: &str = "calls through the gateway, beside a bare reverse proxy";

/// The two lengths whose difference is counted.
const LENGTHS: (u32, u32) = (200, 1000);

/// One run of one program under load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    /// The time of the whole run, divided by the number of calls.
    pub(super) per_call_us: f64,
    /// The processor time of the program for one call.
    pub(super) processor_us: f64,
}

/// All rounds of one load on one program.
#[derive(Debug)]
pub(super) struct Timed {
    pub(super) work: Work,
    pub(super) through: Through,
    rounds: Vec<Run>,
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub(super) struct Gateway {
    counts: Vec<(Way, Era, f64)>,
    timed: Vec<Timed>,
}

impl Gateway {
    /// Runs all rounds, and counts if asked to.
    pub(super) fn measure(
        programs: &Programs,
        quick: bool,
        callgrind: bool,
    ) -> Result<Self, String> {
        let mut seen = Self::default();
        if callgrind {
            for way in Way::ALL {
                for era in Era::ALL {
                    let count = |calls| counted(programs, way, era, calls);
                    let difference = count(LENGTHS.1)? - count(LENGTHS.0)?;
                    let each = difference / f64::from(LENGTHS.1 - LENGTHS.0);
                    seen.counts.push((way, era, each));
                }
            }
        }
        let mut there = vec![
            Through::Proxy,
            Through::Pipe,
            Through::Gateway,
            Through::Attacked,
        ];
        if is_there("nginx") {
            there.push(Through::Nginx);
        } else {
            eprintln!("{NAME}: nginx is left out: it is not installed");
        }
        let peers = peers::prepare();
        there.extend(peers.iter().map(|peer| peer.through));
        for work in Work::ALL {
            seen.time(programs, work, (&there, &peers), quick)?;
        }
        Ok(seen)
    }

    fn time(
        &mut self,
        programs: &Programs,
        work: Work,
        (there, peers): (&[Through], &[Peer]),
        quick: bool,
    ) -> Result<(), String> {
        let contenders = work.contenders(there);
        let mut timed: Vec<Timed> = contenders
            .into_iter()
            .map(|through| Timed {
                work,
                through,
                rounds: Vec::new(),
            })
            .collect();
        let all = timed.len();
        for round in 0..rounds(quick) {
            // Each round starts with another one, as in the other rows.
            for at in (0..all).cycle().skip(round).take(all) {
                if let Some(one) = timed.get_mut(at) {
                    let calls = work.count(one.through, quick);
                    let said = loaded(programs, work, (one.through, peers), calls)?;
                    one.rounds.push(read(&said)?);
                }
            }
        }
        self.timed.extend(timed);
        Ok(())
    }

    /// The instructions of one call.
    pub(super) fn count(&self, way: Way, era: Era) -> Option<f64> {
        let is_it = |one: &&(Way, Era, f64)| (one.0, one.1) == (way, era);
        self.counts.iter().find(is_it).map(|one| one.2)
    }

    /// All counts, in the order of the table.
    pub(super) fn counts(&self) -> &[(Way, Era, f64)] {
        &self.counts
    }

    /// Everything that was timed, in the order of the table.
    pub(super) fn timed(&self) -> &[Timed] {
        &self.timed
    }

    /// The median of the ratios of two programs, each within one round.
    pub(super) fn ratio(
        &self,
        work: Work,
        (one, other): (Through, Through),
        of: fn(&Run) -> f64,
    ) -> Option<f64> {
        let find = |through| {
            let is_it = |one: &&Timed| one.work == work && one.through == through;
            self.timed.iter().find(is_it)
        };
        let (one, other) = (find(one)?, find(other)?);
        let pairs = one.rounds.iter().zip(&other.rounds);
        median(pairs.map(|(one, other)| of(one) / of(other)))
    }

    /// The same, to the bare proxy.
    pub(super) fn to_proxy(
        &self,
        work: Work,
        through: Through,
        of: fn(&Run) -> f64,
    ) -> Option<f64> {
        self.ratio(work, (through, Through::Proxy), of)
    }
}

impl Timed {
    /// The median of a figure over the rounds.
    pub(super) fn median(&self, of: fn(&Run) -> f64) -> Option<f64> {
        median(self.rounds.iter().map(of))
    }
}

fn counted(programs: &Programs, way: Way, era: Era, calls: u32) -> Result<f64, String> {
    let (_, gateway_cpu) = programs.cpus();
    let mut load = load(programs, way, era, calls, 1);
    load.args(["--tool", "bench__echo", "--"]);
    load.args(["taskset", "-c", &gateway_cpu.to_string()]);
    load.args(["valgrind", "--tool=callgrind", "--trace-children=no"]);
    load.arg("--callgrind-out-file=/dev/null");
    gateway(&mut load, programs, way);
    let what = format!("{} under callgrind", way.name());
    collected(&finish(load, &what)?.1)
}

/// Puts a load on a program; gives the line that it prints.
fn loaded(
    programs: &Programs,
    work: Work,
    (through, peers): (Through, &[Peer]),
    calls: u32,
) -> Result<String, String> {
    let (_, own_cpu) = programs.cpus();
    let mut load = load(programs, work.way, work.era(), calls, work.lanes);
    // The others forward names as they are; fastmcp does so for a single server.
    if matches!(
        through,
        Through::Gateway | Through::Attacked | Through::McpProxy | Through::Mcporter
    ) {
        load.args(["--tool", "bench__echo"]);
    }
    if through == Through::Attacked {
        load.arg("--hostile");
    }
    if through == Through::McpProxy {
        load.args(["--path", "/"]);
    }
    load.args(["--", "taskset", "-c", &own_cpu.to_string()]);
    match through {
        Through::Gateway | Through::Attacked => gateway(&mut load, programs, work.way),
        _ => {
            load.arg(programs.folder().join("bench-proxy"));
            server(&mut load, programs);
            match through {
                Through::Nginx => drop(load.arg("--nginx")),
                Through::Pipe => drop(load.arg("--pipe")),
                _ => {}
            }
            if let Some(name) = through.peer() {
                load.args(["--peer", name, "--"]);
            }
            let peer = peers.iter().find(|peer| peer.through == through);
            load.args(peer.map_or(&[][..], |peer| &peer.words));
        }
    }
    let what = format!("{} through {}", work.name(), through.name());
    Ok(finish(load, &what)?.0)
}

/// The load, on the core of the clients. The server shares it: what is measured has one of its own.
fn load(programs: &Programs, way: Way, era: Era, calls: u32, lanes: u32) -> Command {
    let (client_cpu, _) = programs.cpus();
    let mut load = Command::new("taskset");
    load.args(["-c", &client_cpu.to_string()]);
    load.arg(programs.folder().join("bench-load"));
    load.args(["--front", way.sides().0]);
    load.args(["--count", &calls.to_string()]);
    load.args(["--lanes", &lanes.to_string()]);
    if era == Era::Modern {
        load.arg("--modern");
    }
    load
}

fn gateway(load: &mut Command, programs: &Programs, way: Way) {
    let (front, upstream) = way.sides();
    load.arg(programs.folder().join("bench-gateway"));
    load.args(["--front", front, "--upstream", upstream]);
    server(load, programs);
}

fn server(load: &mut Command, programs: &Programs) {
    load.arg("--server")
        .arg(programs.folder().join("bench-server"));
    load.args(["--server-cpu", &programs.cpus().0.to_string()]);
}

fn finish(mut load: Command, what: &str) -> Result<(String, String), String> {
    let output = load
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{what} does not start: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let (said, told) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() {
        Ok((said, told))
    } else {
        Err(format!("{what} failed with {}:\n{told}", output.status))
    }
}

fn read(line: &str) -> Result<Run, String> {
    let values: serde_json::Value =
        serde_json::from_str(line).map_err(|error| format!("no figures in {line:?}: {error}"))?;
    let value = |key: &str| {
        let value = values.get(key).and_then(serde_json::Value::as_f64);
        value.ok_or_else(|| format!("no {key} in {line:?}"))
    };
    Ok(Run {
        p50_us: value("p50_us")?,
        p99_us: value("p99_us")?,
        per_call_us: value("per_op_us")?,
        processor_us: value("processor_us")?,
    })
}

/// Returns true if a program can be run.
fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("-v").stdin(Stdio::null());
    let ran = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    ran.is_ok_and(|status| status.success())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Builds figures: the same count for all ways, and in each round the proxy's and the gateway's run.
    pub(crate) fn figures(count: f64, rounds: &[[f64; 2]]) -> Gateway {
        let run = |us: f64| Run {
            p50_us: us,
            p99_us: us * 2.0,
            per_call_us: us,
            processor_us: us / 2.0,
        };
        let works = [Work::ONE, Work::MANY].into_iter();
        let timed = works.flat_map(|work| {
            let both = [Through::Proxy, Through::Gateway].into_iter().enumerate();
            both.map(move |(at, through)| Timed {
                work,
                through,
                rounds: rounds.iter().map(|round| run(round[at])).collect(),
            })
        });
        let ways = Way::ALL.into_iter();
        let counts = ways.flat_map(|way| Era::ALL.map(|era| (way, era, count)));
        Gateway {
            counts: counts.collect(),
            timed: timed.collect(),
        }
    }

    #[test]
    fn ratios_to_the_proxy_are_taken_within_a_round() {
        let seen = figures(1.0, &[[100.0, 120.0], [200.0, 280.0], [50.0, 65.0]]);
        let ratio = seen.to_proxy(Work::ONE, Through::Gateway, |run| run.p50_us);
        assert_eq!(ratio, Some(1.3));
        let none = seen.to_proxy(Work::ONE, Through::Nginx, |run| run.p50_us);
        assert_eq!(none, None);
    }

    #[test]
    fn the_line_of_a_load_is_read() {
        let line = r#"{"per_op_us":3.5,"p50_us":3.0,"p99_us":9.0,"processor_us":2.5,"ops":1000}"#;
        let expected = Run {
            p50_us: 3.0,
            p99_us: 9.0,
            per_call_us: 3.5,
            processor_us: 2.5,
        };
        assert_eq!(read(line), Ok(expected));
        assert!(read("{}").is_err() && read("").is_err());
    }

    #[test]
    fn what_reads_no_messages_takes_no_part_where_the_server_has_a_pipe() {
        let there = [
            Through::Proxy,
            Through::Pipe,
            Through::Gateway,
            Through::Attacked,
            Through::Nginx,
            Through::McpProxy,
        ];
        let through = |way| Work { way, lanes: 1 }.contenders(&there);
        let pipe = [Through::Pipe, Through::Gateway, Through::McpProxy];
        assert_eq!(through(Way::HttpStdio), pipe);
        let all = [Through::Proxy, Through::Gateway, Through::Nginx];
        assert_eq!(through(Way::HttpHttp), all);
        let neighbours = [Through::Gateway, Through::Attacked];
        assert_eq!(Work::NEIGHBOURS.contenders(&there), neighbours);
    }
}
