//! Tool arguments on a command line, read without holding up the runtime.

use std::collections::BTreeMap;

use switchboard_args::values::{Argument, names_file, to_texts};
pub(crate) use switchboard_args::values::{apply_types, read};

use crate::blocking::run_blocking;
use crate::report::{Failure, Report};
use crate::role;

/// Parses like [`read`], on a thread of its own if a file or stdin must be read.
///
/// # Errors
/// Fails as [`read`] does, and if an agent at its own prompt names a file: it would be read with the person's
/// rights.
pub(crate) async fn read_off_thread(
    object: Option<&str>,
    words: &[String],
) -> Result<Vec<Argument>, Failure> {
    // Before anything is opened: an agent's arguments must not read the person's files.
    if words.iter().any(|word| names_file(word)) {
        role::person_only("have files read")?;
    }
    // Only files and stdin may block; other arguments need no thread.
    let arguments = if object != Some("-") && !words.iter().any(|word| names_file(word)) {
        read(object, words)
    } else {
        let (object, words) = (object.map(str::to_owned), words.to_vec());
        run_blocking(move || read(object.as_deref(), &words)).await
    };
    arguments.map_err(|error| Report::usage(error.to_string()))
}

/// Parses `key=value` words whose values are all strings.
///
/// # Errors
/// Fails if a word is not an argument or its value is not a string, or two have the same name.
pub(crate) async fn texts(words: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let texts = to_texts(read_off_thread(None, words).await?);
    texts.map_err(|error| Report::usage(error.to_string()))
}
