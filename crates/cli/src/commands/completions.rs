//! `switchboard completions`.

use crate::args::Completions;
use crate::complete;
use crate::exit::Exit;
use crate::report::Report;
use crate::screen::Screen;

/// Prints a script that completes names in a shell.
pub(crate) fn run(args: &Completions) -> Exit {
    let screen = Screen::plain(false);
    let Some(script) = complete::script(args.shell.name()) else {
        let report = Report::new(Exit::Internal, "internal", "there is no such script");
        return screen.fail(&report);
    };
    match screen.result(&script) {
        Ok(()) => Exit::Ok,
        Err(report) => screen.fail(&report),
    }
}
