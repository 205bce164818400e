//! `cargo xtask docs`: writes the parts of the documentation that the program itself says.
//!
//! The tests that check them also write them, because they have the parser, the tables and the terminal.

use crate::{public_api, tool};

/// Tests that write what they check.
struct Writer {
    package: &'static str,
    target: &'static [&'static str],
    /// A part of their names.
    filter: &'static str,
}

const WRITERS: [Writer; 3] = [
    Writer {
        package: "switchboard-config",
        target: &["--lib"],
        filter: "in_the_docs",
    },
    Writer {
        package: "switchboard-args",
        target: &["--test", "args"],
        filter: "in_the_docs",
    },
    Writer {
        package: "switchboard-cli",
        target: &["--test", "cli"],
        filter: "documented::",
    },
];

const PICTURE: Writer = Writer {
    package: "switchboard-cli",
    target: &["--test", "cli"],
    filter: "documented::picture",
};

/// Writes the reference, the output of commands in the guides, the picture of a session, the schema of config files,
/// and what rustdoc lists into `docs/public-names.txt`.
///
/// # Errors
///
/// Fails if the program does not compile.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(unknown) = args.first() {
        return Err(format!("docs takes no arguments, not `{unknown}`"));
    }
    for writer in &WRITERS {
        write(writer)?;
    }
    let mut doc = tool::cargo();
    doc.args(["doc", "--locked", "--no-deps", "--workspace"]);
    tool::run(doc.args(["--exclude", "switchboard-cli"]))?;
    public_api::write()
}

/// Draws the picture of a session again.
///
/// # Errors
///
/// Fails if the program does not compile.
pub(crate) fn screenshot(args: &[String]) -> Result<(), String> {
    if let Some(unknown) = args.first() {
        return Err(format!("screenshot takes no arguments, not `{unknown}`"));
    }
    write(&PICTURE)
}

fn write(writer: &Writer) -> Result<(), String> {
    let mut test = tool::cargo();
    test.args(["test", "--locked", "--package", writer.package]);
    test.args(writer.target).arg(writer.filter);
    tool::run(test.env("UPDATE_DOCS", "1"))
}
