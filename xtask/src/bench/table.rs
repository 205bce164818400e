//! The figures as Markdown tables, which also read well in a terminal.

use std::fmt::Write;

use super::commands::{Commands, Task, Who};
use super::gateway::{Gateway, Run, Through};
use super::instructions::Instructions;
use super::plan::{Client, Contender, Row};
use super::targets::{Target, Verdict};
use super::wall::Wall;

const NONE: &str = "-";

/// Time, ratios and memory of every contender.
pub(super) fn walls(walls: &[Wall]) -> String {
    let mut lines = vec![cells([
        "work", "client", "runtime", "per op", "/ raw", "/ rmcp", "peak RSS",
    ])];
    for wall in walls {
        for &who in &wall.contenders {
            lines.push(wall_line(wall, who));
        }
    }
    render(&lines)
}

fn wall_line(wall: &Wall, who: Contender) -> Vec<String> {
    let runtime = match who.client {
        Client::Raw => NONE,
        _ => who.runtime.name(),
    };
    let to_rmcp = match who.client {
        Client::Rmcp => None,
        _ => wall.to_rmcp(who),
    };
    let memory = wall.peak_rss_kb(who);
    vec![
        wall.row.name().to_owned(),
        who.client.name().to_owned(),
        runtime.to_owned(),
        wall.per_op_us(who).map_or(NONE.to_owned(), time),
        ratio(wall.to_raw(who).filter(|_| who.client != Client::Raw)),
        ratio(to_rmcp),
        memory.map_or(NONE.to_owned(), |kb| format!("{:.1} MiB", kb / 1024.0)),
    ]
}

/// Instructions per operation.
pub(super) fn counts(counts: &[Instructions]) -> String {
    let mut lines = vec![cells([
        "work",
        "raw",
        "ours",
        "rmcp",
        "rmcp-pooled",
        "ours / rmcp",
    ])];
    for count in counts {
        let of = |client| count.of(client).map_or(NONE.to_owned(), grouped);
        lines.push(vec![
            count.row.name().to_owned(),
            of(Client::Raw),
            of(Client::Ours),
            of(Client::Rmcp),
            of(Client::RmcpPooled),
            ratio(count.to_rmcp()),
        ]);
    }
    render(&lines)
}

/// Whole commands: their times, and what of them is the client's own.
pub(super) fn commands(commands: &Commands) -> String {
    let mut lines = vec![cells([
        "command",
        "client",
        "time",
        "over the server alone",
        "/ ours",
    ])];
    for (task, who) in commands.all() {
        let over = commands.over_server(who);
        let over = over.filter(|_| task == Task::Tools && who != Who::Server);
        lines.push(vec![
            task.name().to_owned(),
            who.name().to_owned(),
            milliseconds(commands.time(task, who)),
            milliseconds(over),
            ratio(commands.to_ours(task, who).filter(|_| who != Who::Ours)),
        ]);
    }
    render(&lines)
}

/// Calls through the gateway and what stands beside it.
pub(super) fn gateway_times(gateway: &Gateway) -> String {
    let mut lines = vec![cells([
        "calls",
        "through",
        "median",
        "99 %",
        "/ hyper proxy",
        "processor time",
        "/ hyper proxy",
    ])];
    for one in gateway.timed() {
        let is_other = one.through != Through::Proxy;
        let [median, processor] =
            [|run: &Run| run.p50_us, |run: &Run| run.processor_us].map(|of| {
                ratio(
                    gateway
                        .to_proxy(one.work, one.through, of)
                        .filter(|_| is_other),
                )
            });
        let shown = |of| one.median(of).map_or(NONE.to_owned(), time);
        lines.push(vec![
            one.work.name(),
            one.through.name().to_owned(),
            shown(|run| run.p50_us),
            shown(|run| run.p99_us),
            median,
            shown(|run| run.processor_us),
            processor,
        ]);
    }
    render(&lines)
}

/// Instructions of the gateway per call.
pub(super) fn gateway_counts(gateway: &Gateway) -> String {
    let mut lines = vec![cells(["calls", "era of the client", "instructions"])];
    for (way, era, count) in gateway.counts() {
        let names = [way.name().to_owned(), era.name().to_owned()];
        lines.push([&names[..], &[grouped(*count)]].concat());
    }
    render(&lines)
}

fn milliseconds(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{value:.2} ms"))
}

/// Targets beside what was seen.
pub(super) fn targets(targets: &[Target]) -> String {
    let mut lines = vec![cells(["target", "limit", "seen", ""])];
    for target in targets {
        let mark = match target.verdict {
            Verdict::Met => "pass",
            Verdict::Missed => "FAIL",
            Verdict::NotMeasured => "not measured",
        };
        let seen = match target.seen {
            Some(large) if large >= 1000.0 => grouped(large),
            seen => ratio(seen),
        };
        lines.push(vec![
            target.what.clone(),
            target.limit.clone(),
            seen,
            mark.to_owned(),
        ]);
    }
    render(&lines)
}

/// Describes each row of the tables.
pub(super) fn meanings(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        let _ = writeln!(text, "- `{}`: {}", row.name(), row.meaning());
    }
    text
}

fn cells<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_owned).to_vec()
}

fn ratio(value: Option<f64>) -> String {
    value.map_or(NONE.to_owned(), |value| format!("{value:.3}"))
}

fn time(us: f64) -> String {
    if us < 1000.0 {
        format!("{us:.2} us")
    } else {
        format!("{:.2} ms", us / 1000.0)
    }
}

/// A whole number with its thousands apart.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) && !text.ends_with('-') {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Lines of cells, the first with the headings. Figures stand to the right.
fn render(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|at| {
            let cells = lines.iter().filter_map(|line| line.get(at));
            cells
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
                .max(3)
        })
        .collect();
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        for (cell, &width) in line.iter().zip(&widths) {
            // A cell of text is one that starts with a letter; writing to a string cannot fail.
            let is_figure = cell == NONE || cell.starts_with(|first: char| first.is_ascii_digit());
            let _ = if is_figure || is_negative(cell) {
                write!(text, "| {cell:>width$} ")
            } else {
                write!(text, "| {cell:<width$} ")
            };
        }
        text.push_str("|\n");
        if at == 0 {
            for &width in &widths {
                let _ = write!(text, "|{:-<1$}", "", width + 2);
            }
            text.push_str("|\n");
        }
    }
    text
}

fn is_negative(cell: &str) -> bool {
    let rest = cell.strip_prefix('-');
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::super::commands::tests::commands as timed;
    use super::super::gateway::tests::figures;
    use super::super::wall::tests::wall;
    use super::*;

    #[test]
    fn a_wall_table_shows_times_ratios_and_memory() {
        let table = walls(&[wall(Row::Echo, &[[10.0, 20.0, 4000.0]])]);
        let expected = "\
| work | client | runtime | per op   | / raw   | / rmcp | peak RSS |
|------|--------|---------|----------|---------|--------|----------|
| echo | raw    |       - | 10.00 us |       - |  0.003 |  2.0 MiB |
| echo | ours   | current | 20.00 us |   2.000 |  0.005 |  2.0 MiB |
| echo | rmcp   | current |  4.00 ms | 400.000 |      - |  2.0 MiB |
";
        assert_eq!(table, expected);
    }

    #[test]
    fn a_table_of_commands_shows_what_is_the_clients_own() {
        let table = commands(&timed(2.5, [[1.0, 10.0, 200.0], [2.0, 12.0, 240.0]]));
        let expected = "\
| command           | client              | time      | over the server alone | / ours |
|-------------------|---------------------|-----------|-----------------------|--------|
| --version         | switchboard         |   2.50 ms |                     - |      - |
| tools of a server | the server alone    |   1.50 ms |                     - |  0.133 |
| tools of a server | switchboard         |  11.00 ms |               9.50 ms |      - |
| tools of a server | mcp-inspector --cli | 220.00 ms |             218.50 ms | 20.000 |
| call, with daemon | switchboard         |   5.00 ms |                     - |      - |
";
        assert_eq!(table, expected);
    }

    #[test]
    fn tables_of_the_gateway_show_counts_and_ratios_to_the_proxy() {
        let seen = figures(51_234.4, &[[100.0, 125.0]]);
        let counts = gateway_counts(&seen);
        assert!(
            counts.contains("| HTTP to stdio   | modern            |       51,234 |"),
            "{counts}"
        );
        let times = gateway_times(&seen);
        let expected = "| HTTP to HTTP, 1 in flight  | gateway     | 125.00 us | 250.00 us |         1.250 |       62.50 us |         1.250 |";
        assert!(times.contains(expected), "{times}");
    }

    #[test]
    fn large_numbers_have_their_thousands_apart() {
        assert_eq!(grouped(999.4), "999");
        assert_eq!(grouped(15_000.0), "15,000");
        assert_eq!(grouped(1_234_567.0), "1,234,567");
        assert_eq!(grouped(-123_456.0), "-123,456");
    }
}
