//! `cargo xtask check`: everything that a change has to pass, in one command.
//!
//! The steps run in order, cheap ones first, and the first failure ends the run: what comes after
//! would only bury it. Nothing is skipped quietly; what a step needs and does not find is a failure
//! that says what to install.

mod options;
mod steps;

use std::time::{Duration, Instant};

use options::CheckOptions;

/// Runs `cargo xtask check`.
///
/// # Errors
///
/// Names the step that failed and the command that repeats it alone.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let all = steps::all();
    let options = options::parse(args, &all)?;
    if options == CheckOptions::Help {
        println!("{}", options::help(&all));
        return Ok(());
    }
    let chosen: Vec<_> = all
        .into_iter()
        .filter(|step| options.includes(step))
        .collect();
    let mut done = Vec::new();
    for (index, step) in chosen.iter().enumerate() {
        println!(
            "\n==== {}/{} {}: {}",
            index + 1,
            chosen.len(),
            step.name,
            step.what
        );
        let start = Instant::now();
        let outcome = (step.run)();
        let took = start.elapsed();
        if let Err(error) = outcome {
            done.push((step.name, took, "FAILED"));
            println!("\n{}", table(&done));
            return Err(format!(
                "{}: {error}\nto run this step alone: cargo xtask check --only {}",
                step.name, step.name
            ));
        }
        done.push((step.name, took, "ok"));
    }
    println!("\n{}", table(&done));
    Ok(())
}

fn table(rows: &[(&str, Duration, &str)]) -> String {
    let mut lines = vec![format!("{:<11} {:>8}  result", "step", "seconds")];
    for (name, took, result) in rows {
        lines.push(format!("{name:<11} {:>8.1}  {result}", took.as_secs_f64()));
    }
    let total: Duration = rows.iter().map(|(_, took, _)| *took).sum();
    lines.push(format!("{:<11} {:>8.1}", "total", total.as_secs_f64()));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_every_step_with_its_seconds_and_the_sum() {
        let rows = [
            ("fmt", Duration::from_millis(1500), "ok"),
            ("clippy", Duration::from_secs(20), "FAILED"),
        ];
        assert_eq!(
            table(&rows),
            "step         seconds  result\n\
             fmt              1.5  ok\n\
             clippy          20.0  FAILED\n\
             total           21.5"
        );
    }
}
