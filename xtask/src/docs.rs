//! `cargo xtask docs`: writes the parts of the documentation that the program itself says.
//!
//! The test that holds them writes them: it has the parser, and nobody else need.

use crate::tool;

/// Writes what the parser says into `docs/cli.md`.
///
/// # Errors
///
/// When the program does not compile.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(unknown) = args.first() {
        return Err(format!("docs takes no arguments, not `{unknown}`"));
    }
    let mut test = tool::cargo();
    test.args(["test", "--locked", "--package", "switchboard-cli"]);
    test.args(["--bin", "switchboard", "the_reference_in_the_docs"]);
    tool::run(test.env("SWITCHBOARD_WRITE_DOCS", "1"))
}
