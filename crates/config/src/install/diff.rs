//! The difference of two texts as a unified diff, with secrets masked.

use std::ops::Range;
use std::path::Path;

use switchboard_core::secret::MASK;
use switchboard_core::spec::Layer;
use switchboard_core::text::sanitise_line;

use crate::Client;
use crate::source::Source;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// Longest line that is shown, in characters.
const LINE: usize = 200;

/// Returns the difference; `None` stands for a file that does not exist.
pub(super) fn diff(
    client: Client,
    file: &Path,
    before: Option<&str>,
    after: Option<&str>,
) -> String {
    if before == after {
        return String::new();
    }
    let lines = |text: Option<&str>| masked_lines(client, file, text.unwrap_or_default());
    let (old, new) = (lines(before), lines(after));
    let same = |(old, new): &(&String, &String)| old == new;
    let head = old.iter().zip(&new).take_while(same).count();
    let tails = old.iter().skip(head).rev().zip(new.iter().skip(head).rev());
    let tail = tails.take_while(same).count();
    let from = head.saturating_sub(CONTEXT);
    let changed = |lines: &[String]| head..lines.len() - tail;
    let around = |lines: &[String]| from..(lines.len() - tail + CONTEXT).min(lines.len());
    let name = |text: Option<&str>| match text {
        Some(_) => sanitise_line(&file.display().to_string()).into_owned(),
        None => "/dev/null".to_owned(),
    };
    let mut out = format!("--- {}\n+++ {}\n", name(before), name(after));
    out.push_str(&format!(
        "@@ -{} +{} @@\n",
        span(&around(&old)),
        span(&around(&new))
    ));
    let mut put = |sign: char, lines: &[String], range: Range<usize>| {
        for line in lines.get(range).unwrap_or_default() {
            out.push(sign);
            out.push_str(line);
            out.push('\n');
        }
    };
    put(' ', &old, from..head);
    put('-', &old, changed(&old));
    put('+', &new, changed(&new));
    put(' ', &old, changed(&old).end..around(&old).end);
    out
}

fn span(range: &Range<usize>) -> String {
    let start = if range.is_empty() {
        range.start
    } else {
        range.start + 1
    };
    format!("{start},{}", range.len())
}

/// Returns the lines of a text, safe to show.
fn masked_lines(client: Client, file: &Path, text: &str) -> Vec<String> {
    let source = Source::new(text, file, Layer::User, client.syntax());
    let mut masked = String::new();
    let mut at = 0;
    for mask in source.masks() {
        // Masks may overlap: an entry in a list that is masked as a whole.
        if mask.start < at {
            at = at.max(mask.end);
            continue;
        }
        masked.push_str(source.text().get(at..mask.start).unwrap_or_default());
        masked.push_str(MASK);
        at = mask.end;
    }
    masked.push_str(source.text().get(at..).unwrap_or_default());
    masked.lines().map(line).collect()
}

fn line(line: &str) -> String {
    let short: String = line.chars().take(LINE).collect();
    let mut out = sanitise_line(&short).into_owned();
    if short.len() < line.len() {
        out.push('…');
    }
    out
}
