//! Whole reports, as files beside the tests.
//!
//! `SWITCHBOARD_SNAPSHOTS=write cargo test -p switchboard-cli --test cli failure_table` writes them anew; what
//! changed is then for a person to read.

use std::fs;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/snapshots"))
}

/// How a report differs from its snapshot, if it does.
pub(super) fn differs(name: &str, text: &str) -> Option<String> {
    let path = folder().join(format!("{name}.txt"));
    if std::env::var_os("SWITCHBOARD_SNAPSHOTS").is_some_and(|what| what == "write") {
        fs::create_dir_all(folder()).unwrap();
        fs::write(path, text).unwrap();
        return None;
    }
    let Ok(expected) = fs::read_to_string(&path) else {
        return Some("it has no snapshot: run with SWITCHBOARD_SNAPSHOTS=write".to_owned());
    };
    (expected != text).then(|| format!("it differs from its snapshot:\n{expected}"))
}

/// Snapshots that no case has.
pub(super) fn strays(names: &[&str]) -> Vec<String> {
    let entries = fs::read_dir(folder()).unwrap();
    let files = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_stray = |file: &String| !names.contains(&file.trim_end_matches(".txt"));
    files.filter(is_stray).collect()
}

/// A text without what is another in each run and on each machine: ports, the time, this machine's
/// processor, and what its resolver says of names.
pub(super) fn filtered(text: &str) -> String {
    const LOOPBACK: &str = "127.0.0.1:";
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(LOOPBACK) {
        let (before, after) = rest.split_at(at + LOOPBACK.len());
        out.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() < after.len() {
            out.push_str("PORT");
        }
    }
    out.push_str(rest);
    let machine = format!("this machine is Linux on {}", std::env::consts::ARCH);
    let out = out.replace(&machine, "this machine is Linux on ARCH");
    let lines = out.split_inclusive('\n').map(|line| {
        const VARYING: &[&str] = &[
            "failed to lookup address information: ",
            "certificate expired: ",
        ];
        let cut = VARYING.iter().find_map(|words| {
            let (before, _) = line.split_once(words)?;
            // A report for programs is all on one line.
            (!line.starts_with('{')).then(|| format!("{before}{words}..\n"))
        });
        cut.unwrap_or_else(|| line.to_owned())
    });
    lines.collect()
}
