//! Writes arguments, some of which may be secret.

use crate::secret::{MASK, looks_secret, mask_args};
use serde_json::Value;

use super::WriteError;
use super::values::ValueWriter;

/// Writes the arguments of a command.
pub(super) fn write(args: &[String], values: &mut ValueWriter<'_>) -> Result<Value, WriteError> {
    let shown = mask_args(args);
    let mut previous = "";
    let mut out = Vec::with_capacity(args.len());
    for (at, (arg, shown)) in args.iter().zip(&shown).enumerate() {
        let is_secret = arg != shown && values.are_variables();
        out.push(if is_secret {
            write_masked(arg, shown, previous, at, values).into()
        } else {
            values.plain(&format!("arg_{}", at + 1), arg)?
        });
        // Only a bare option may name the variable of the next argument; others may contain a secret.
        previous = if is_option(arg) { arg } else { "" };
    }
    Ok(out.into())
}

/// Writes a reference in place of the masked part, or of the whole argument if that is ambiguous.
fn write_masked(
    arg: &str,
    shown: &str,
    previous: &str,
    at: usize,
    values: &mut ValueWriter<'_>,
) -> String {
    let whole = format!("arg_{}", at + 1);
    if shown == MASK {
        let hint = if previous.is_empty() {
            &whole
        } else {
            previous
        };
        return values.variable(hint, arg);
    }
    // Replace only the masked part, so that `--token=` stays readable.
    let parts = shown.split_once(MASK);
    // With several masks, or a normalised spelling, the parts do not match.
    let inner = parts.and_then(|(before, after)| {
        let inner = arg.strip_prefix(before)?.strip_suffix(after)?;
        let fits = !after.contains(MASK) && !inner.is_empty() && !arg.contains(MASK);
        (fits && values.is_literal(before) && values.is_literal(after))
            .then_some((before, inner, after))
    });
    match inner {
        Some((before, inner, after)) => {
            let reference = values.variable(hint(before, &whole), inner);
            format!("{before}{reference}{after}")
        }
        None => values.variable(&whole, arg),
    }
}

fn is_option(arg: &str) -> bool {
    arg.starts_with('-') && arg.chars().all(is_name) && looks_secret(arg)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// The name before a secret: `API_KEY` in `--env=API_KEY=`.
fn hint<'h>(before: &'h str, otherwise: &'h str) -> &'h str {
    if before.ends_with("://") {
        return "credentials";
    }
    let name = before.trim_end_matches(|c| !is_name(c));
    let name = name.rsplit(|c| !is_name(c)).next().unwrap_or_default();
    let name = name.trim_matches('-');
    if name.is_empty() { otherwise } else { name }
}
