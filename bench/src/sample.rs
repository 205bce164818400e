//! One measurement, and how it is told.

use std::time::Duration;

use crate::Fault;

/// The time that a number of operations took.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The time in all, without connecting and warming up.
    pub elapsed: Duration,
    /// Number of operations.
    pub ops: u32,
}

impl Sample {
    /// The line of JSON that `cargo xtask bench` reads.
    ///
    /// # Errors
    /// Fails if the system does not report the memory of the process.
    pub fn line(&self) -> Result<String, Fault> {
        let seconds = self.elapsed.as_secs_f64();
        Ok(format!(
            r#"{{"seconds":{seconds:.6},"per_op_us":{:.3},"ops":{},"peak_rss_kb":{}}}"#,
            seconds * 1e6 / f64::from(self.ops.max(1)),
            self.ops,
            peak_rss_kb(&std::fs::read_to_string("/proc/self/status")?)?,
        ))
    }
}

fn peak_rss_kb(status: &str) -> Result<u64, Fault> {
    let value = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .ok_or("the process status names no peak memory")?;
    Ok(value.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_process_status() {
        let status = "Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t    5124 kB\n";
        assert_eq!(peak_rss_kb(status).unwrap(), 5124);
        assert!(peak_rss_kb("Name:\tx\n").is_err());
    }
}
