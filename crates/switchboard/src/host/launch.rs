//! Servers that a launcher fetches before it starts them.

use crate::limits::{Deadline, Limits};
use crate::spec::packages::launched;
use crate::spec::{Endpoint, ServerSpec};

/// Gives a server that `npx`, `uvx` or another launcher may have to fetch first the time for that,
/// unless its settings differ from the usual ones.
pub(super) fn give_time(spec: &mut ServerSpec, limits: &Limits) {
    let Endpoint::Process(process) = &spec.endpoint else {
        return;
    };
    let args: Vec<&str> = process.args.iter().map(String::as_str).collect();
    let connect = &mut spec.settings.timeouts.connect;
    let is_usual = connect.idle == Deadline::default().idle;
    if is_usual && launched(&process.command, &args).is_some() {
        connect.idle = limits.fetch;
        connect.total = connect.total.max(limits.fetch);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn time(command: &str, args: &[&str], own: Option<u64>) -> Duration {
        let spec = ServerSpec::stdio("it", command).unwrap();
        let mut spec = spec.args(args.iter().copied());
        if let Some(seconds) = own {
            spec.settings.timeouts.connect = Deadline::within(Duration::from_secs(seconds));
        }
        give_time(&mut spec, &Limits::default());
        spec.settings.timeouts.connect.idle
    }

    #[test]
    fn launchers_get_two_minutes_and_others_half_of_one() {
        for (command, args) in [
            ("npx", &["-y", "@playwright/mcp"][..]),
            ("/usr/bin/npx", &["thing"]),
            ("uvx", &["mcp-server-time"]),
            ("bunx", &["thing"]),
            ("pnpm", &["dlx", "thing"]),
            ("pipx", &["run", "thing"]),
            ("uv", &["tool", "run", "thing"]),
            ("cmd", &["/c", "npx", "-y", "thing"]),
        ] {
            let seconds = time(command, args, None).as_secs();
            assert_eq!(seconds, 120, "{command} {args:?}");
            assert_eq!(time(command, args, Some(5)).as_secs(), 5, "{command}");
        }
        for (command, args) in [
            ("node", &["server.js"][..]),
            ("uv", &["run", "server.py"]),
            ("pnpm", &["start"]),
            ("docker", &["run", "-i", "thing"]),
        ] {
            assert_eq!(time(command, args, None).as_secs(), 30, "{command}");
        }
    }
}
