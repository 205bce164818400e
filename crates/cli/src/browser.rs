//! Opens addresses in the person's browser, without a shell.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use switchboard::transport::{Environment, Search, resolve};

/// Opens an address in a browser; false where no program could be started for it. No shell sees it: it is
/// one argument of one program.
pub(crate) fn open(url: &str, environment: &Environment) -> bool {
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
            // It may live as long as the browser; its end is taken note of.
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

/// Returns true if the person would see a browser: on Linux that takes a display, unless `$BROWSER` is set.
pub(crate) fn is_likely(environment: &Environment) -> bool {
    let is_set = |name: &str| {
        let value = environment.get(name);
        value.is_some_and(|value| !value.expose().is_empty())
    };
    let needs_display = cfg!(unix) && !cfg!(target_os = "macos");
    !needs_display
        || ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"]
            .into_iter()
            .any(is_set)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        variables.iter().map(pair).collect()
    }

    #[test]
    fn without_a_display_no_browser_is_likely_unless_one_is_named() {
        assert!(!is_likely(&environment(&[])));
        assert!(!is_likely(&environment(&[("DISPLAY", "")])));
        assert!(is_likely(&environment(&[("WAYLAND_DISPLAY", "wayland-0")])));
        assert!(is_likely(&environment(&[("BROWSER", "/bin/true")])));
    }

    #[test]
    fn a_browser_that_is_a_command_line_or_a_path_of_the_folder_is_not_run() {
        for own in ["/bin/true --flag", "./true", "bin/true"] {
            assert_eq!(program(&environment(&[("BROWSER", own)])), None, "{own}");
        }
        let own = program(&environment(&[("BROWSER", "/bin/true")]));
        assert_eq!(own.map(|(_, before)| before), Some(&[] as &[&str]));
    }
}
