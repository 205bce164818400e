//! `switchboard remove`.

use switchboard::config::edit::Change;

use crate::approvals::{Approval, Approvals};
use crate::args::Edit;
use crate::editing::{Done, change, is_of};
use crate::exit::Exit;
use crate::problems;
use crate::report::Failure;
use crate::scope::{Files, place, server_name};
use crate::screen::Screen;

/// Takes a server out of its config file.
pub(crate) fn run(args: &Edit) -> Exit {
    let screen = Screen::plain(args.json);
    match remove(args, &screen) {
        Ok(()) => Exit::Ok,
        Err(report) => screen.fail(&report),
    }
}

fn remove(args: &Edit, screen: &Screen) -> Result<(), Failure> {
    let name = server_name(&args.name)?;
    let mut files = Files::read(args.target.config.as_deref())?;
    let goal = files.owner(name.as_str(), &args.target)?;
    let approvals = Approvals::of(&files.config, &files.environment)?;
    let entry = files.config.get(name.as_str());
    let entry = entry.filter(|entry| is_of(entry, &goal));
    // Approvals that cannot be looked up are none, and no reason not to remove.
    let looked = entry.and_then(|entry| approvals.look(entry).ok());
    change(&goal, &Change::Remove { name: name.clone() })?;
    let mut done = Done::new(name, "removed", &goal);
    let mut line = format!("removed {} from {}", done.server, goal.file.display());
    // What comes back with the next checkout was not asked for.
    if let Some((Approval::Given, Some(question))) = looked {
        approvals.forget(&question.claim)?;
        line.push_str(", and its approval");
    }
    files.again();
    if let Some(entry) = files.config.get(done.server.as_str()) {
        let place = place(entry.origin());
        done.notes
            .push(format!("the server of that name in {place} is used now"));
    }
    problems::mention(&files.config, screen);
    done.print(&line, screen)
}
