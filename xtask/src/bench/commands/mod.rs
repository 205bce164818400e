//! Whole commands: what a person waits for who types one.
//!
//! Each is a process from its start to its end, with the server that it starts. All of them take turns, so
//! that whatever slows the machine down for a while slows all of them down; what is told are medians over
//! the rounds, and of the ratios and the differences within a round.

mod daemon;
mod server;
mod who;

use std::path::Path;

use super::wall::median;
use daemon::Daemon;
use server::Server;
pub(super) use who::{Task, Who};

/// The name that selects it among the rows.
pub(super) const NAME: &str = "commands";

/// Description of the row.
pub(super) const MEANING: &str = "whole commands, from their start to their end";

/// The times of one command, a round each, in milliseconds.
#[derive(Debug)]
struct Timed {
    task: Task,
    who: Who,
    rounds: Vec<f64>,
}

/// The times of all commands.
#[derive(Debug)]
pub(super) struct Commands(Vec<Timed>);

impl Commands {
    /// Runs all rounds. The programs have to be there.
    pub(super) fn measure(programs: &Path, quick: bool) -> Result<Self, String> {
        let home = crate::workspace::root().join("target").join("bench-home");
        std::fs::create_dir_all(&home)
            .map_err(|error| format!("{} cannot be made: {error}", home.display()))?;
        let server = Server::at(programs)?;
        let _daemon = Daemon::start(programs, &home)?;
        let all = Task::ALL.into_iter().flat_map(|task| {
            let who = Who::ALL.into_iter().filter(move |who| who.does(task));
            who.map(move |who| (task, who))
        });
        let mut timed: Vec<Timed> = all
            .map(|(task, who)| Timed {
                task,
                who,
                rounds: Vec::new(),
            })
            .collect();
        let count = timed.len();
        for round in 0..rounds(quick) {
            for at in (0..count).cycle().skip(round).take(count) {
                if let Some(one) = timed.get_mut(at) {
                    let took = one.who.time(one.task, programs, &server, &home)?;
                    one.rounds.push(took.as_secs_f64() * 1000.0);
                }
            }
        }
        Ok(Self(timed))
    }

    /// Returns the timed tasks and programs, in the order of the table.
    pub(super) fn all(&self) -> impl Iterator<Item = (Task, Who)> {
        self.0.iter().map(|one| (one.task, one.who))
    }

    /// The median time, in milliseconds.
    pub(super) fn time(&self, task: Task, who: Who) -> Option<f64> {
        median(self.of(task, who)?.iter().copied())
    }

    /// The median of the ratios to our time.
    pub(super) fn to_ours(&self, task: Task, who: Who) -> Option<f64> {
        self.beside(task, who, Who::Ours, |one, ours| one / ours)
    }

    /// The median of what it takes longer than the server alone, in milliseconds.
    pub(super) fn over_server(&self, who: Who) -> Option<f64> {
        self.beside(Task::Tools, who, Who::Server, |one, server| one - server)
    }

    fn beside(
        &self,
        task: Task,
        who: Who,
        other: Who,
        hold: impl Fn(f64, f64) -> f64,
    ) -> Option<f64> {
        let pairs = self.of(task, who)?.iter().zip(self.of(task, other)?);
        median(pairs.map(|(one, other)| hold(*one, *other)))
    }

    fn of(&self, task: Task, who: Who) -> Option<&[f64]> {
        let found = |one: &&Timed| one.task == task && one.who == who;
        self.0.iter().find(found).map(|one| one.rounds.as_slice())
    }
}

/// A command takes as long as a whole run of another row, and is less steady.
fn rounds(quick: bool) -> usize {
    if quick { 5 } else { 21 }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Builds timings: our version, in two rounds the server alone, our list and the Inspector's, and our call
    /// through the daemon, which takes twice as long as the version.
    pub(crate) fn commands(version: f64, lists: [[f64; 3]; 2]) -> Commands {
        let mut all = vec![Timed {
            task: Task::Version,
            who: Who::Ours,
            rounds: vec![version],
        }];
        for (at, who) in [Who::Server, Who::Ours, Who::Inspector]
            .into_iter()
            .enumerate()
        {
            all.push(Timed {
                task: Task::Tools,
                who,
                rounds: lists.iter().map(|round| round[at]).collect(),
            });
        }
        all.push(Timed {
            task: Task::Daemon,
            who: Who::Ours,
            rounds: vec![2.0 * version],
        });
        Commands(all)
    }

    #[test]
    fn what_is_over_the_server_and_what_is_ours_is_taken_within_a_round() {
        let seen = commands(2.0, [[1.0, 10.0, 100.0], [21.0, 40.0, 800.0]]);
        assert_eq!(seen.time(Task::Version, Who::Ours), Some(2.0));
        assert_eq!(seen.time(Task::Version, Who::Mcporter), None);
        assert_eq!(seen.over_server(Who::Ours), Some(14.0));
        assert_eq!(seen.to_ours(Task::Tools, Who::Inspector), Some(15.0));
    }
}
