//! The program under load: started, found, measured and ended.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::Fault;

/// A program that ends with its input.
pub(super) struct Program {
    child: Child,
    pub(super) input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// The process whose processor time counts.
    process: u32,
}

impl Program {
    /// Starts a command.
    pub(super) fn start(command: &[String]) -> Result<Self, Fault> {
        let (program, args) = command.split_first().ok_or("no program to start")?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("the program has no input")?;
        let output = child.stdout.take().ok_or("the program has no output")?;
        Ok(Self {
            process: child.id(),
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// The next line that it prints.
    pub(super) fn line(&mut self) -> Result<String, Fault> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err("the program ended before its time".into());
        }
        Ok(line.trim_end().to_owned())
    }

    /// The address that it prints when it listens. One that runs another program prints its process too.
    pub(super) fn address(&mut self) -> Result<String, Fault> {
        let line = self.line()?;
        let (address, process) = line.split_once(' ').unwrap_or((&line, ""));
        if !process.is_empty() {
            self.process = process.parse()?;
        }
        Ok(address.to_owned())
    }

    /// The processor time that it has taken so far. Its own children are not in it.
    pub(super) fn processor_time(&self) -> Result<Duration, Fault> {
        let tasks = format!("/proc/{}/task", self.process);
        let mut nanos = 0;
        for task in std::fs::read_dir(tasks)? {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            let first = text.split_whitespace().next();
            nanos += first.ok_or("no processor time is told")?.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanos))
    }

    /// Ends it.
    pub(super) fn end(self) -> Result<(), Fault> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        match child.wait()? {
            status if status.success() => Ok(()),
            status => Err(format!("the program ended with {status}").into()),
        }
    }
}
