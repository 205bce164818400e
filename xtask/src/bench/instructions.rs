//! Instructions of the client per operation, counted by callgrind: they repeat on a noisy machine.
//!
//! Two runs of different lengths are subtracted, so that starting up, connecting and shutting down
//! cancel out. What the kernel does is not counted, nor what the server does.

use super::plan::{Client, Contender, Row, Runtime};
use super::programs::Programs;

/// The counts of a row, in the order of the clients.
pub(super) struct Instructions {
    pub(super) row: Row,
    pub(super) per_op: Vec<(Client, f64)>,
}

impl Instructions {
    /// Counts a row for each client, on the current thread. `None` where it makes no sense.
    pub(super) fn measure(
        programs: &Programs,
        row: Row,
        clients: &[Client],
    ) -> Result<Option<Self>, String> {
        let Some((short, long)) = row.lengths() else {
            return Ok(None);
        };
        let mut per_op = Vec::with_capacity(clients.len());
        for &client in clients {
            let who = Contender {
                client,
                runtime: Runtime::Current,
            };
            let count = |times| collected(&programs.count(row, who, times)?);
            let difference = count(long)? - count(short)?;
            per_op.push((client, difference / f64::from(long - short)));
        }
        Ok(Some(Self { row, per_op }))
    }

    /// The count of one client.
    pub(super) fn of(&self, client: Client) -> Option<f64> {
        let found = self.per_op.iter().find(|(one, _)| *one == client)?;
        Some(found.1)
    }

    /// Our count as a part of rmcp's.
    pub(super) fn to_rmcp(&self) -> Option<f64> {
        Some(self.of(Client::Ours)? / self.of(Client::Rmcp)?)
    }
}

/// Reads the count off what valgrind says.
pub(super) fn collected(said: &str) -> Result<f64, String> {
    // Children that fail to start would report too; the client itself reports last.
    let line = said
        .lines()
        .rev()
        .find_map(|line| line.split_once("Collected :"));
    line.and_then(|(_, count)| count.trim().parse().ok())
        .ok_or_else(|| format!("callgrind gave no count:\n{}", said.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_what_callgrind_says() {
        let said = "==7== Events    : Ir\n==7== Collected : 4964447\n==7==\n";
        assert_eq!(collected(said), Ok(4_964_447.0));
        assert!(collected("==7== nothing").is_err());
    }
}
