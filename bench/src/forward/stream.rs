//! The load on a byte stream: blocking reads and writes, several calls in flight on the one pipe.

use std::collections::VecDeque;
use std::io::Write as _;
use std::time::{Duration, Instant};

use super::program::Program;
use super::{INITIALIZE, INITIALIZED, Load, call};
use crate::Fault;
use crate::facts::message;
use crate::server::Era;

/// Begins a session, where there is one.
pub(super) fn begin(program: &mut Program, era: Era) -> Result<(), Fault> {
    if era == Era::Legacy {
        writeln!(program.input, "{INITIALIZE}")?;
        let answer = program.line()?;
        if !answer.contains(r#""serverInfo""#) {
            return Err(format!("the session does not begin: {answer}").into());
        }
        writeln!(program.input, "{INITIALIZED}")?;
    }
    Ok(())
}

/// Does `count` calls; gives the time of each.
pub(super) fn calls(
    program: &mut Program,
    load: &Load,
    first: u64,
    count: u32,
) -> Result<Vec<Duration>, Fault> {
    let mut times = Vec::with_capacity(usize::try_from(count)?);
    let mut sent = VecDeque::new();
    let mut numbers = first..first + u64::from(count);
    loop {
        while sent.len() < load.lanes
            && let Some(number) = numbers.next()
        {
            let text = message(number);
            let line = call(load.era, number, &load.tool, &text);
            sent.push_back((Instant::now(), number, text));
            writeln!(program.input, "{line}")?;
        }
        if sent.is_empty() {
            return Ok(times);
        }
        let answer = program.line()?;
        // Answers come in any order; each has the text of the call with its id.
        let place = sent.iter().position(|(_, number, text)| {
            answer.contains(&format!(r#""id":{number},"#)) && answer.contains(text.as_str())
        });
        let place = place.ok_or_else(|| format!("an answer to no call: {answer}"))?;
        if let Some((started, ..)) = sent.remove(place) {
            times.push(started.elapsed());
        }
    }
}
