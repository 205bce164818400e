//! Time and memory: every contender in every round, one after the other, so that whatever slows
//! the machine down for a while slows all of them down.

use super::plan::{Client, Contender, Row, Runtime};
use super::programs::Programs;

/// One run of one contender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Run {
    pub(super) per_op_us: f64,
    pub(super) peak_rss_kb: f64,
}

/// All rounds of a row; each has the runs in the order of the contenders.
pub(super) struct Wall {
    pub(super) row: Row,
    pub(super) contenders: Vec<Contender>,
    pub(super) rounds: Vec<Vec<Run>>,
}

impl Wall {
    /// Runs all rounds of a row.
    pub(super) fn measure(
        programs: &Programs,
        row: Row,
        contenders: &[Contender],
        rounds: usize,
        count: u32,
    ) -> Result<Self, String> {
        let mut measured = Vec::with_capacity(rounds);
        for round in 0..rounds {
            let mut runs = vec![None; contenders.len()];
            // Each round starts with another contender: none is always the first after a pause.
            let order = (0..contenders.len()).cycle().skip(round);
            for at in order.take(contenders.len()) {
                if let (Some(who), Some(run)) = (contenders.get(at), runs.get_mut(at)) {
                    *run = Some(read(&programs.run(row, *who, count)?)?);
                }
            }
            measured.push(runs.into_iter().flatten().collect());
        }
        Ok(Self {
            row,
            contenders: contenders.to_vec(),
            rounds: measured,
        })
    }

    /// The median time of an operation, in microseconds.
    pub(super) fn per_op_us(&self, who: Contender) -> Option<f64> {
        median(self.of(who)?.map(|run| run.per_op_us))
    }

    /// The median of the largest amounts of memory, in KiB.
    pub(super) fn peak_rss_kb(&self, who: Contender) -> Option<f64> {
        median(self.of(who)?.map(|run| run.peak_rss_kb))
    }

    /// The median of the ratios to the raw client, each within one round.
    pub(super) fn to_raw(&self, who: Contender) -> Option<f64> {
        self.ratio(who, Client::Raw, Runtime::Current)
    }

    /// The median of the ratios to rmcp on the same runtime, each within one round.
    pub(super) fn to_rmcp(&self, who: Contender) -> Option<f64> {
        self.to(Client::Rmcp, who)
    }

    /// The median of the ratios to another client on the same runtime, each within one round.
    pub(super) fn to(&self, client: Client, who: Contender) -> Option<f64> {
        self.ratio(who, client, who.runtime)
    }

    fn ratio(&self, who: Contender, client: Client, runtime: Runtime) -> Option<f64> {
        let other = self.of(Contender { client, runtime })?;
        let pairs = self.of(who)?.zip(other);
        median(pairs.map(|(one, other)| one.per_op_us / other.per_op_us))
    }

    fn of(&self, who: Contender) -> Option<impl Iterator<Item = &Run>> {
        let at = self.contenders.iter().position(|one| *one == who)?;
        Some(self.rounds.iter().filter_map(move |round| round.get(at)))
    }
}

fn read(line: &str) -> Result<Run, String> {
    let number = |key: &str| {
        let (_, rest) = line.split_once(&format!("\"{key}\":"))?;
        let end = rest.find([',', '}'])?;
        rest.get(..end)?.trim().parse().ok()
    };
    let run = || {
        Some(Run {
            per_op_us: number("per_op_us")?,
            peak_rss_kb: number("peak_rss_kb")?,
        })
    };
    run().ok_or_else(|| format!("the client printed no measurement but {line:?}"))
}

/// The middle of the values, or between the two in the middle.
pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2)?;
    let lower = values.get(values.len().saturating_sub(1) / 2)?;
    Some(f64::midpoint(*lower, *upper))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Rounds made of the times of raw, ours and rmcp on the current thread.
    pub(in crate::bench) fn wall(row: Row, times: &[[f64; 3]]) -> Wall {
        let run = |per_op_us| Run {
            per_op_us,
            peak_rss_kb: 2048.0,
        };
        let mut contenders = Contender::among(row, &Client::ALL);
        contenders.truncate(3);
        Wall {
            row,
            contenders,
            rounds: times.iter().map(|round| round.map(run).to_vec()).collect(),
        }
    }

    #[test]
    fn ratios_are_taken_within_a_round_before_the_median() {
        // The second round ran on a machine three times as slow.
        let wall = wall(
            Row::Echo,
            &[[10.0, 20.0, 40.0], [30.0, 60.0, 120.0], [10.0, 21.0, 40.0]],
        );
        let ours = Contender {
            client: Client::Ours,
            runtime: Runtime::Current,
        };
        assert_eq!(wall.to_raw(ours), Some(2.0));
        assert_eq!(wall.to_rmcp(ours), Some(0.5));
        assert_eq!(wall.per_op_us(ours), Some(21.0));
    }

    #[test]
    fn a_measurement_is_read_from_its_line() {
        let line = r#"{"seconds":0.5,"per_op_us":12.250,"ops":9,"peak_rss_kb":5124}"#;
        let run = Run {
            per_op_us: 12.25,
            peak_rss_kb: 5124.0,
        };
        assert_eq!(read(line), Ok(run));
        assert!(read("oops").is_err());
    }

    #[test]
    fn the_median_lies_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0].into_iter()), Some(2.5));
        assert_eq!(median(std::iter::empty()), None);
    }
}
