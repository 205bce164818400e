//! `cargo xtask docs`: writes the parts of the documentation that the program itself says.
//!
//! The test that checks them also writes them, because it has the parser.

use crate::{public_api, tool};

/// Writes what the parser says into `docs/cli.md`, and what rustdoc lists into `docs/public-names.txt`.
///
/// # Errors
///
/// Fails if the program does not compile.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    if let Some(unknown) = args.first() {
        return Err(format!("docs takes no arguments, not `{unknown}`"));
    }
    let mut test = tool::cargo();
    test.args(["test", "--locked", "--package", "switchboard-cli"]);
    test.args(["--bin", "switchboard", "the_reference_in_the_docs"]);
    tool::run(test.env("SWITCHBOARD_WRITE_DOCS", "1"))?;
    let mut doc = tool::cargo();
    doc.args(["doc", "--locked", "--no-deps", "--workspace"]);
    tool::run(doc.args(["--exclude", "switchboard-cli"]))?;
    public_api::write()
}
