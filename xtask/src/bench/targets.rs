//! Targets for the figures.

use super::commands::{Commands, Task, Who};
use super::gateway::{Era, Gateway, Through, Way, Work};
use super::instructions::Instructions;
use super::plan::{Client, Contender, Row, Runtime};
use super::wall::Wall;

/// A limit and the figure that has to stay within it.
#[derive(Debug, PartialEq)]
pub(super) struct Target {
    pub(super) what: String,
    pub(super) limit: String,
    pub(super) seen: Option<f64>,
    pub(super) verdict: Verdict,
}

/// The state of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Met,
    Missed,
    NotMeasured,
}

impl Target {
    fn new(what: String, limit: (f64, &str), seen: Option<f64>) -> Self {
        let verdict = match seen {
            None => Verdict::NotMeasured,
            Some(seen) if seen <= limit.0 => Verdict::Met,
            Some(_) => Verdict::Missed,
        };
        Self {
            what,
            limit: limit.1.to_owned(),
            seen,
            verdict,
        }
    }
}

/// Holds all figures against their targets. A row that was left out is not measured.
pub(super) fn judge(walls: &[Wall], counts: &[Instructions]) -> Vec<Target> {
    let count = |row| counts.iter().find(|count| count.row == row);
    let wall = |row| walls.iter().find(|wall| wall.row == row);
    let ours = |runtime| Contender {
        client: Client::Ours,
        runtime,
    };
    let mut targets = vec![Target::new(
        "echo: instructions of ours".to_owned(),
        (15_000.0, "at most 15,000"),
        count(Row::Echo).and_then(|count| count.of(Client::Ours)),
    )];
    targets.push(Target::new(
        "host-echo: instructions of ours".to_owned(),
        (22_000.0, "at most 22,000"),
        count(Row::HostEcho).and_then(|count| count.of(Client::Ours)),
    ));
    targets.push(Target::new(
        "host-echo-agent: instructions of ours".to_owned(),
        (25_000.0, "at most 25,000"),
        count(Row::HostEchoAgent).and_then(|count| count.of(Client::Ours)),
    ));
    let connected = |row| wall(row).and_then(|wall| wall.per_op_us(ours(Runtime::Current)));
    targets.push(Target::new(
        "host-connect20: time / host-connect1".to_owned(),
        (1.2, "at most 1.2"),
        match (connected(Row::HostConnect20), connected(Row::HostConnect1)) {
            (Some(many), Some(one)) => Some(many / one),
            _ => None,
        },
    ));
    for (row, limit) in [
        (Row::Echo64, (1.0 / 6.0, "at most 1/6 (0.167)")),
        (Row::Big, (0.5, "at most 1/2 (0.500)")),
        (Row::List, (0.2, "at most 1/5 (0.200)")),
        (Row::HostEcho, (1.0 / 3.0, "under 1/3 (0.333)")),
    ] {
        targets.push(Target::new(
            format!("{}: instructions, ours / rmcp", row.name()),
            limit,
            count(row).and_then(Instructions::to_rmcp),
        ));
    }
    let ours_of = |row| count(row).and_then(|count| count.of(Client::Ours));
    targets.push(Target::new(
        "http-echo-token: instructions / http-echo-header".to_owned(),
        (1.03, "at most 1.03"),
        match (ours_of(Row::HttpEchoToken), ours_of(Row::HttpEchoHeader)) {
            (Some(token), Some(header)) => Some(token / header),
            _ => None,
        },
    ));
    for (row, limit) in [
        (Row::Echo, (2.0, "at most 2.0")),
        (Row::Echo64, (4.0, "at most 4.0")),
        (Row::HttpEcho, (1.5, "at most 1.5")),
        (Row::HttpEchoSse, (1.5, "at most 1.5")),
    ] {
        targets.push(Target::new(
            format!("{}: time, ours / raw, current", row.name()),
            limit,
            wall(row).and_then(|wall| wall.to_raw(ours(Runtime::Current))),
        ));
    }
    for (row, limit) in [
        (Row::CatalogFind, (1.0, "at most 1 us")),
        (Row::CatalogRebuild, (10_000.0, "at most 10,000 us")),
    ] {
        targets.push(Target::new(
            format!("{}: time of ours, in us", row.name()),
            limit,
            wall(row).and_then(|wall| wall.per_op_us(ours(Runtime::Current))),
        ));
    }
    for row in Row::ALL {
        for other in row.clients(&[Client::Rmcp, Client::RmcpPooled]) {
            for runtime in Runtime::ALL {
                let (row_name, name, on) = (row.name(), other.name(), runtime.name());
                targets.push(Target::new(
                    format!("{row_name}: time, ours / {name}, {on}"),
                    (1.0, "ahead (at most 1.0)"),
                    wall(row).and_then(|wall| wall.to(other, ours(runtime))),
                ));
            }
        }
    }
    targets
}

/// Holds the gateway against fixed counts, and against the bare proxy.
pub(super) fn judge_gateway(gateway: Option<&Gateway>) -> Vec<Target> {
    let mut targets = Vec::new();
    for (way, limit) in [
        (Way::HttpStdio, (60_000.0, "at most 60,000")),
        (Way::HttpHttp, (130_000.0, "at most 130,000")),
    ] {
        for era in Era::ALL {
            targets.push(Target::new(
                format!("gateway: instructions, {}, {}", way.name(), era.name()),
                limit,
                gateway.and_then(|seen| seen.count(way, era)),
            ));
        }
    }
    let to_proxy = |work, of| gateway?.to_proxy(work, Through::Gateway, of);
    targets.push(Target::new(
        "gateway: median of one call, gateway / hyper proxy".to_owned(),
        (1.3, "at most 1.30"),
        to_proxy(Work::ONE, |run| run.p50_us),
    ));
    // The inverse of calls per core: as many calls as processor time has room for.
    targets.push(Target::new(
        "gateway: processor time with 64 in flight, gateway / hyper proxy".to_owned(),
        (1.0 / 0.65, "at most 1 / 0.65 (1.538)"),
        to_proxy(Work::MANY, |run| run.processor_us),
    ));
    targets.push(Target::new(
        "gateway: median of one call, gateway / hyper and a raw pipe".to_owned(),
        (1.25, "at most 1.25"),
        gateway.and_then(|seen| {
            let both = (Through::Gateway, Through::Pipe);
            seen.ratio(Work::PIPE_ONE, both, |run| run.p50_us)
        }),
    ));
    targets.push(Target::new(
        "gateway: 99 % of calls beside hostile clients, attacked / quiet".to_owned(),
        (2.0, "at most 2.0"),
        gateway.and_then(|seen| {
            let both = (Through::Attacked, Through::Gateway);
            seen.ratio(Work::NEIGHBOURS, both, |run| run.p99_us)
        }),
    ));
    for peer in Through::PEERS {
        for work in [Work::PIPE_ONE, Work::PIPE_MANY] {
            let both = (Through::Gateway, peer);
            targets.push(Target::new(
                format!("gateway: {}, gateway / {}", work.name(), peer.name()),
                (1.0, "ahead (at most 1.0)"),
                gateway.and_then(|seen| seen.ratio(work, both, |run| run.per_call_us)),
            ));
        }
    }
    targets
}

/// Holds whole commands against what a person does not notice.
pub(super) fn judge_commands(commands: Option<&Commands>) -> [Target; 3] {
    let version = commands.and_then(|seen| seen.time(Task::Version, Who::Ours));
    let tools = commands.and_then(|seen| seen.over_server(Who::Ours));
    let lent = commands.and_then(|seen| seen.time(Task::Daemon, Who::Ours));
    [
        Target::new(
            "commands: `switchboard --version`, in ms".to_owned(),
            (5.0, "at most 5"),
            version,
        ),
        Target::new(
            "commands: `switchboard tools` over the server alone, in ms".to_owned(),
            (15.0, "at most 15"),
            tools,
        ),
        Target::new(
            "commands: a call through the daemon, in ms".to_owned(),
            (10.0, "at most 10"),
            lent,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::commands::tests::commands;
    use super::super::gateway::tests::figures;
    use super::super::wall::tests::wall;
    use super::*;

    fn verdict(targets: &[Target], what: &str) -> Verdict {
        let found = targets.iter().find(|target| target.what == what);
        found.unwrap().verdict
    }

    #[test]
    fn a_figure_at_its_limit_meets_it_and_one_over_it_does_not() {
        let ours = |per_op| Instructions {
            row: Row::Echo,
            per_op: vec![(Client::Ours, per_op)],
        };
        let at = judge(&[wall(Row::Echo, &[[10.0, 20.0, 30.0]])], &[ours(15_000.0)]);
        assert_eq!(verdict(&at, "echo: instructions of ours"), Verdict::Met);
        assert_eq!(
            verdict(&at, "echo: time, ours / raw, current"),
            Verdict::Met
        );
        let over = judge(&[wall(Row::Echo, &[[10.0, 20.1, 20.0]])], &[ours(15_000.1)]);
        assert_eq!(
            verdict(&over, "echo: instructions of ours"),
            Verdict::Missed
        );
        assert_eq!(
            verdict(&over, "echo: time, ours / raw, current"),
            Verdict::Missed
        );
        assert_eq!(
            verdict(&over, "echo: time, ours / rmcp, current"),
            Verdict::Missed
        );
    }

    #[test]
    fn commands_are_judged_by_themselves_and_by_what_they_add_to_their_server() {
        let good = commands(5.0, [[20.0, 35.0, 900.0], [30.0, 45.0, 900.0]]);
        let verdicts = |seen: Option<&Commands>| judge_commands(seen).map(|one| one.verdict);
        assert_eq!(verdicts(Some(&good)), [Verdict::Met; 3]);
        let bad = commands(5.1, [[20.0, 35.1, 900.0], [30.0, 45.1, 900.0]]);
        assert_eq!(verdicts(Some(&bad)), [Verdict::Missed; 3]);
        assert_eq!(verdicts(None), [Verdict::NotMeasured; 3]);
    }

    #[test]
    fn the_gateway_is_held_against_fixed_counts_and_the_bare_proxy() {
        let verdicts = |seen: Option<&Gateway>| {
            let judged = judge_gateway(seen);
            judged.iter().map(|one| one.verdict).collect::<Vec<_>>()
        };
        let good = figures(60_000.0, &[[100.0, 130.0]]);
        // The pipe, hostile clients and the gateways of others are not among these figures.
        let others = [Verdict::NotMeasured; 8];
        assert_eq!(
            verdicts(Some(&good)),
            [&[Verdict::Met; 6][..], &others].concat()
        );
        let bad = figures(130_000.1, &[[100.0, 154.0]]);
        assert_eq!(
            verdicts(Some(&bad)),
            [&[Verdict::Missed; 6][..], &others].concat()
        );
        assert_eq!(verdicts(None), [Verdict::NotMeasured; 14]);
    }

    #[test]
    fn what_was_left_out_is_not_measured() {
        let targets = judge(&[], &[]);
        assert!(
            targets
                .iter()
                .all(|target| target.verdict == Verdict::NotMeasured)
        );
        let among = |is: fn(&Row) -> bool| Row::ALL.iter().filter(|row| is(row)).count();
        let (over_http, alone) = (among(|row| row.is_http()), among(|row| row.is_ours_alone()));
        assert_eq!(targets.len(), 15 + 2 * (Row::ALL.len() + over_http - alone));
    }
}
