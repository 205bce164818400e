//! The arguments of `cargo xtask check`.

use super::steps::{Step, When};

/// The steps to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CheckOptions {
    /// The checks that every change must pass.
    Usual,
    /// That, and what takes long.
    Full,
    /// The named step, with the ones that it builds on.
    Only(&'static str),
    /// Nothing but the list of steps.
    Help,
}

impl CheckOptions {
    /// Tells whether `step` is part of the run.
    pub(super) fn includes(&self, step: &Step) -> bool {
        match self {
            Self::Usual => step.when != When::Full,
            Self::Full => step.when != When::Usual,
            Self::Only(name) => step.name == *name || step.before.contains(name),
            Self::Help => false,
        }
    }
}

/// Reads the arguments.
///
/// # Errors
///
/// Lists the steps when one is named that does not exist.
pub(super) fn parse(args: &[String], steps: &[Step]) -> Result<CheckOptions, String> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok(CheckOptions::Usual),
        ["--full"] => Ok(CheckOptions::Full),
        ["--help" | "-h"] | ["--only", "help"] => Ok(CheckOptions::Help),
        ["--only", name] => match steps.iter().find(|step| step.name == *name) {
            Some(step) => Ok(CheckOptions::Only(step.name)),
            None => Err(format!("no step is called `{name}`\n\n{}", help(steps))),
        },
        _ => Err(format!(
            "cannot read `{}`\n\n{}",
            words.join(" "),
            help(steps)
        )),
    }
}

/// Writes how to call the command, with its steps.
pub(super) fn help(steps: &[Step]) -> String {
    let mut lines = vec![
        "cargo xtask check [--full | --only STEP]".to_owned(),
        String::new(),
        "Steps, in order:".to_owned(),
    ];
    for step in steps {
        let when = match step.when {
            When::Always => "",
            When::Usual => " (not with --full, where `soak` contains it)",
            When::Full => " (with --full)",
        };
        lines.push(format!("  {:<11} {}{when}", step.name, step.what));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::steps;
    use super::*;

    fn chosen(args: &[&str]) -> Vec<&'static str> {
        let all = steps::all();
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let options = parse(&args, &all).unwrap();
        let included = all.iter().filter(|step| options.includes(step));
        included.map(|step| step.name).collect()
    }

    #[test]
    fn the_usual_run_ends_with_interop_and_the_full_one_with_the_release() {
        assert_eq!(
            chosen(&[]),
            [
                "fmt",
                "clippy",
                "features",
                "deps",
                "package",
                "build",
                "partners",
                "test",
                "daemon",
                "endure",
                "doc",
                "conformance",
                "interop"
            ]
        );
        assert_eq!(
            chosen(&["--full"]),
            [
                "fmt",
                "clippy",
                "features",
                "deps",
                "package",
                "build",
                "partners",
                "test",
                "daemon",
                "doc",
                "book",
                "conformance",
                "fixture",
                "soak",
                "fleet",
                "release"
            ]
        );
    }

    #[test]
    fn one_step_alone_brings_the_partners_that_it_needs() {
        assert_eq!(chosen(&["--only", "fmt"]), ["fmt"]);
        assert_eq!(chosen(&["--only", "interop"]), ["partners", "interop"]);
        assert_eq!(
            chosen(&["--only", "conformance"]),
            ["partners", "conformance"]
        );
        assert_eq!(chosen(&["--only", "soak"]), ["partners", "soak"]);
        // The fleet has servers of its own, and installs them itself.
        assert_eq!(chosen(&["--only", "fleet"]), ["fleet"]);
    }

    #[test]
    fn an_unknown_step_or_flag_is_an_error_that_lists_the_steps() {
        for args in [vec!["--only", "fnt"], vec!["--fast"], vec!["--only"]] {
            let args: Vec<String> = args.into_iter().map(str::to_owned).collect();
            let error = parse(&args, &steps::all()).unwrap_err();
            assert!(error.contains("  clippy"), "{error}");
        }
    }
}
