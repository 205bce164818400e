//! The arguments of `cargo xtask fuzz`.

/// Default time for a target.
const MINUTES: f64 = 10.0;

/// The options of `cargo xtask fuzz`.
#[derive(Debug, PartialEq)]
pub(super) struct FuzzOptions {
    pub(super) targets: Vec<String>,
    /// Time for each target.
    pub(super) minutes: f64,
    /// True if new inputs are added to the stored corpus.
    pub(super) keep: bool,
}

/// Reads the arguments; `None` when they ask for help.
///
/// # Errors
///
/// Says what cannot be read, and lists the targets.
pub(super) fn parse(args: &[String], targets: &[String]) -> Result<Option<FuzzOptions>, String> {
    let wrong = |what: String| format!("{what}\n\n{}", usage(targets));
    let mut chosen = Vec::new();
    let (mut minutes, mut keep) = (MINUTES, false);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--help" | "-h" => return Ok(None),
            "--keep" => keep = true,
            "--minutes" => {
                let value = args.next().map(String::as_str).unwrap_or_default();
                minutes = value
                    .parse()
                    .ok()
                    .filter(|minutes| (0.0..=10_000.0).contains(minutes))
                    .ok_or_else(|| wrong(format!("--minutes takes a number, not {value:?}")))?;
            }
            name if targets.iter().any(|target| target == name) => chosen.push(name.to_owned()),
            name => return Err(wrong(format!("no target is called `{name}`"))),
        }
    }
    if chosen.is_empty() {
        chosen = targets.to_vec();
    }
    Ok(Some(FuzzOptions {
        targets: chosen,
        minutes,
        keep,
    }))
}

/// Writes how to call the command.
pub(super) fn usage(targets: &[String]) -> String {
    format!(
        "\
cargo xtask fuzz [TARGET]... [--minutes N] [--keep]

Runs the fuzz targets, all of them unless some are named, one after the other.

  --minutes N   CPU minutes that each target gets (default: {MINUTES}); wall time where the
                system does not tell
  --keep        put what adds coverage into fuzz/corpus, within its bounds

Targets: {}",
        targets.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &str) -> Result<Option<FuzzOptions>, String> {
        let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        parse(&args, &["lines".to_owned(), "text".to_owned()])
    }

    #[test]
    fn all_targets_run_for_ten_minutes_unless_told_otherwise() {
        let options = parsed("").unwrap().unwrap();
        assert_eq!(options.targets, ["lines", "text"]);
        assert!((options.minutes - 10.0).abs() < f64::EPSILON);
        assert!(!options.keep);
    }

    #[test]
    fn a_target_and_its_time_are_chosen() {
        let options = parsed("text --minutes 0.5 --keep").unwrap().unwrap();
        assert_eq!(options.targets, ["text"]);
        assert!((options.minutes - 0.5).abs() < f64::EPSILON);
        assert!(options.keep);
        assert_eq!(parsed("--help"), Ok(None));
    }

    #[test]
    fn mistakes_are_refused_with_the_targets_that_there_are() {
        for args in ["txt", "--minutes", "--minutes x", "--minutes -1", "--fast"] {
            let error = parsed(args).unwrap_err();
            assert!(error.contains("Targets: lines, text"), "{error}");
        }
    }
}
