//! Servers that are real processes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard::transport::{Environment, Stdio};

/// A legacy handshake for shell scripts, followed by what the test wants.
///
/// `initialize` is answered with the id that our client gives it after a probe, or without one:
/// the script reads it off the line.
pub(crate) const HANDSHAKE: &str = r#"
reply() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; }
id_of() { rest=${1#*\"id\":}; printf '%s' "${rest%%,*}"; }
hello='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}'
greet() { read -r line; reply "$(id_of "$line")" "$hello"; read -r line; }
done='{"content":[{"type":"text","text":"done"}]}'
"#;

/// A server that a shell script is, with the handshake at hand.
pub(crate) fn sh(script: &str) -> Stdio {
    Stdio::new("/bin/sh")
        .args(["-c", &format!("{HANDSHAKE}\n{script}")])
        .environment(&Environment::of_process())
}

/// A server that a Python script is.
pub(crate) fn python(script: &str) -> Stdio {
    Stdio::new("python3")
        .args(["-u", "-c", script])
        .environment(&Environment::of_process())
}

/// Whether a process is there, dead ones that nobody has fetched left out.
pub(crate) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").starts_with(" Z"))
}

/// Waits until something is so; fails after a time that no machine needs.
pub(crate) async fn until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..2000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("waited in vain until {what}");
}

/// The numbers that scripts wrote to a file, one a line.
pub(crate) fn pids_in(file: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// A file in a folder of the test's own, as text for a script.
pub(crate) fn file(folder: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let path = folder.path().join(name);
    let text = path.display().to_string();
    (path, text)
}
