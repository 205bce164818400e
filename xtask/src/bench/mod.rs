//! `cargo xtask bench`: our session between the limit and the official SDK.
//!
//! It builds and runs the programs of the bench crate, in one go, pinned and interleaved, and holds
//! the figures against the targets. What it promises is comparison: ratios and instruction counts
//! that repeat, not absolute times.

mod commands;
mod gateway;
mod instructions;
mod options;
mod page;
mod plan;
mod programs;
mod table;
mod targets;
mod wall;

use commands::Commands;
use gateway::Gateway;
use instructions::Instructions;
use options::{BenchOptions, USAGE};
use page::Setting;
use plan::Contender;
use programs::Programs;
use targets::{Target, Verdict};
use wall::Wall;

/// Runs the benchmark with the arguments that follow its name.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        println!("{USAGE}");
        return Ok(());
    }
    let options = BenchOptions::parse(args.iter().cloned())?;
    let root = crate::workspace::root();
    let is_counted = options.gateway || !options.rows.is_empty();
    let counts = options.callgrind && is_counted;
    let programs = Programs::prepare(&root, options.cpus, counts)?;
    if options.commands {
        crate::partners::clients::install()?;
    }
    warn_when_busy();
    let setting = Setting::read(&root)?;

    let (walls, counts) = measure(&programs, &options)?;
    let gateway = measure_gateway(&programs, &options)?;
    let commands = measure_commands(&programs, &options)?;
    let mut judged = targets::judge(&walls, &counts);
    judged.extend(targets::judge_gateway(gateway.as_ref()));
    judged.extend(targets::judge_commands(commands.as_ref()));
    let mut tables = tables(&options, &walls, &counts);
    tables.push_str(&page::gateway(gateway.as_ref()));
    tables.push_str(&page::commands(commands.as_ref()));
    tables.push_str(&format!("\n## Targets\n\n{}", table::targets(&judged)));
    println!("{}\n\n{tables}", setting.line());
    if options.write {
        let docs = root.join("docs");
        let written = std::fs::create_dir_all(&docs).and_then(|()| {
            let page = page::page(&setting, &options, &tables);
            std::fs::write(docs.join("benchmarks.md"), page)
        });
        written.map_err(|error| format!("docs/benchmarks.md cannot be written: {error}"))?;
        eprintln!("wrote docs/benchmarks.md");
    }
    if options.gate { gate(&judged) } else { Ok(()) }
}

fn measure(
    programs: &Programs,
    options: &BenchOptions,
) -> Result<(Vec<Wall>, Vec<Instructions>), String> {
    let (mut walls, mut counts) = (Vec::new(), Vec::new());
    for &row in &options.rows {
        eprintln!("{}: {}", row.name(), row.meaning());
        let rounds = plan::rounds(options.quick);
        let count = row.count(options.quick);
        let contenders = Contender::among(row, &options.clients);
        walls.push(Wall::measure(programs, row, &contenders, rounds, count)?);
        if options.callgrind {
            counts.extend(Instructions::measure(
                programs,
                row,
                &row.clients(&options.clients),
            )?);
        }
    }
    Ok((walls, counts))
}

fn measure_gateway(programs: &Programs, options: &BenchOptions) -> Result<Option<Gateway>, String> {
    if !options.gateway {
        return Ok(None);
    }
    eprintln!("{}: {}", gateway::NAME, gateway::MEANING);
    Gateway::measure(programs, options.quick, options.callgrind).map(Some)
}

fn measure_commands(
    programs: &Programs,
    options: &BenchOptions,
) -> Result<Option<Commands>, String> {
    if !options.commands {
        return Ok(None);
    }
    eprintln!("{}: {}", commands::NAME, commands::MEANING);
    Commands::measure(programs.folder(), options.quick).map(Some)
}

fn tables(options: &BenchOptions, walls: &[Wall], counts: &[Instructions]) -> String {
    let mut text = format!(
        "## Time and memory\n\n{}\n{}",
        table::meanings(&options.rows),
        table::walls(walls)
    );
    text.push_str("\n## Instructions per operation\n\n");
    if counts.is_empty() {
        text.push_str("Left out of this run.\n");
    } else {
        text.push_str(&table::counts(counts));
    }
    text
}

fn gate(judged: &[Target]) -> Result<(), String> {
    let missed: Vec<&str> = judged
        .iter()
        .filter(|target| target.verdict == Verdict::Missed)
        .map(|target| target.what.as_str())
        .collect();
    if !missed.is_empty() {
        return Err(format!("missed targets:\n  {}", missed.join("\n  ")));
    }
    if judged
        .iter()
        .all(|target| target.verdict == Verdict::NotMeasured)
    {
        return Err("no target was measured, so none is met".to_owned());
    }
    Ok(())
}

/// Ratios survive a busy machine better than times do, but not unharmed.
fn warn_when_busy() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load
        .split(' ')
        .next()
        .and_then(|load| load.parse::<f64>().ok());
    if let Some(load) = load.filter(|load| *load > 1.5) {
        eprintln!("the machine is busy (load {load}): expect noise in the times");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(verdict: Verdict) -> Target {
        Target {
            what: "echo".to_owned(),
            limit: String::new(),
            seen: None,
            verdict,
        }
    }

    #[test]
    fn the_gate_fails_on_a_missed_target_and_when_there_is_none() {
        let left_out = || target(Verdict::NotMeasured);
        assert!(gate(&[target(Verdict::Met), left_out()]).is_ok());
        assert!(gate(&[target(Verdict::Met), target(Verdict::Missed)]).is_err());
        assert!(gate(&[left_out()]).is_err());
    }
}
