//! Opens an address in a browser. No shell sees it: it is one argument of one program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use switchboard::transport::{Environment, Search, resolve};

/// Opens an address; false where no program could be started for it.
pub(super) fn open(url: &str, environment: &Environment) -> bool {
    let Some((program, before)) = program(environment) else {
        return false;
    };
    let mut command = Command::new(program);
    command.args(before).arg(url);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match command.spawn() {
        Ok(mut child) => {
            // It may live as long as the browser. Whoever has ended is taken note of.
            std::thread::spawn(move || {
                child.wait().ok();
                // A browser may go on without it.
                switchboard::keeper::spare_orphans();
            });
            true
        }
        Err(_) => false,
    }
}

/// The program that opens addresses, with what stands before the address: `$BROWSER` where it names a program and
/// nothing else, or the system's own.
fn program(environment: &Environment) -> Option<(PathBuf, &'static [&'static str])> {
    let variable = |name: &str| environment.get(name).map(|value| value.expose().as_str());
    let find = |command: &str| {
        // A path that depends on the folder would let a project decide what runs.
        let is_name = !command.contains(['/', '\\']);
        if !is_name && !Path::new(command).is_absolute() {
            return None;
        }
        let search = Search {
            command,
            path: variable("PATH"),
            pathext: variable("PATHEXT"),
            cwd: None,
        };
        resolve(&search).ok()
    };
    let own = variable("BROWSER").filter(|own| !own.is_empty());
    if let Some(program) = own.and_then(find) {
        return Some((program, &[]));
    }
    let (command, before): (_, &[&str]) = if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if cfg!(target_os = "macos") {
        ("open", &[])
    } else {
        ("xdg-open", &[])
    };
    Some((find(command)?, before))
}
