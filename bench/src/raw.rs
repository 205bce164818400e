//! A client that does nothing but move bytes: blocking reads and writes on the pipe, ids counted
//! up, answers checked by searching their text. No client can be faster without other pipes.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use memchr::memmem;

use crate::Fault;
use crate::facts::{BIG_BYTES, Big, message, tool_name};
use crate::sample::Sample;
use crate::server::Era;
use crate::work::{LANES, SERVERS, ServerCommand, Work};

const READ_BYTES: usize = 256 << 10;
const TEXT: &[u8] = br#""text":""#;
const ECHO: &str = r#""tools/call","params":{"name":"echo","arguments":{"message":""#;

/// Does `work` `count` times.
///
/// # Errors
/// Fails if an answer is missing or wrong.
pub fn run(work: Work, count: u32, server: &ServerCommand) -> Result<Sample, Fault> {
    if server.era == Era::Modern {
        return Err("the raw client speaks the legacy era only".into());
    }
    if work == Work::Connect20 {
        return connect_many(count, server);
    }
    let mut pipe = Pipe::start(server)?;
    pipe.hello()?;
    pipe.welcomed()?;
    let warm_up = u32::try_from(LANES)?;
    let started = match work {
        Work::List => {
            pipe.list(1, server.tool_count)?;
            let started = Instant::now();
            for number in 0..u64::from(count) {
                pipe.list(number, server.tool_count)?;
            }
            started
        }
        Work::Big | Work::BigLines => {
            let big = work.big().unwrap_or(Big::Plain);
            let escapes = big.text().matches('\n').count();
            pipe.big(1, big, escapes)?;
            let started = Instant::now();
            for number in 0..u64::from(count) {
                pipe.big(number, big, escapes)?;
            }
            started
        }
        Work::HttpEcho
        | Work::HttpEchoSse
        | Work::HttpEchoHeader
        | Work::HttpEchoToken
        | Work::HostEcho
        | Work::HostEchoAgent
        | Work::HostConnect1
        | Work::HostConnect20
        | Work::CatalogFind
        | Work::CatalogRebuild => {
            return Err("this client knows pipes only".into());
        }
        Work::Echo | Work::Echo64 | Work::Connect20 => {
            let lanes = if work == Work::Echo64 { warm_up } else { 1 };
            pipe.echo(lanes, warm_up)?;
            let started = Instant::now();
            pipe.echo(lanes, count)?;
            started
        }
    };
    let elapsed = started.elapsed();
    pipe.close()?;
    Ok(Sample {
        elapsed,
        ops: count,
    })
}

/// Each step is taken for all servers before any answer is waited for.
fn connect_many(count: u32, server: &ServerCommand) -> Result<Sample, Fault> {
    let mut elapsed = Duration::ZERO;
    for _ in 0..count {
        let started = Instant::now();
        let mut pipes = Vec::with_capacity(SERVERS);
        for _ in 0..SERVERS {
            let mut pipe = Pipe::start(server)?;
            pipe.hello()?;
            pipes.push(pipe);
        }
        for pipe in &mut pipes {
            pipe.welcomed()?;
            pipe.ask_list(1)?;
        }
        for pipe in &mut pipes {
            pipe.take_list(1, server.tool_count)?;
        }
        elapsed += started.elapsed();
        for pipe in pipes {
            pipe.close()?;
        }
    }
    Ok(Sample {
        elapsed,
        ops: count,
    })
}

struct Pipe {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// The bytes that were read and not yet taken are `held[taken..filled]`.
    held: Vec<u8>,
    taken: usize,
    filled: usize,
    out: Vec<u8>,
}

impl Pipe {
    fn start(server: &ServerCommand) -> Result<Self, Fault> {
        let mut child = Command::new(&server.program)
            .args(&server.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or("the server has no input")?;
        let output = child.stdout.take().ok_or("the server has no output")?;
        Ok(Self {
            child,
            input,
            output,
            held: vec![0; READ_BYTES],
            taken: 0,
            filled: 0,
            out: Vec::new(),
        })
    }

    fn hello(&mut self) -> Result<(), Fault> {
        self.request(
            0,
            r#""initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}"#,
        );
        self.send()
    }

    fn welcomed(&mut self) -> Result<(), Fault> {
        let line = self.line()?;
        expect(line, 0, br#""serverInfo""#)?;
        self.out
            .extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        self.send()
    }

    /// Says `count` messages with `lanes` in flight. All answers of one read are checked, and what
    /// takes their place goes out in one write.
    fn echo(&mut self, lanes: u32, count: u32) -> Result<(), Fault> {
        let (mut asked, mut answered) = (0, 0);
        while asked < lanes.min(count) {
            self.ask_echo(asked.into());
            asked += 1;
        }
        while answered < count {
            self.send()?;
            loop {
                // The server answers in the order of the questions.
                let said = message(answered.into());
                expect_text(self.line()?, answered.into(), said.as_bytes())?;
                answered += 1;
                if asked < count {
                    self.ask_echo(asked.into());
                    asked += 1;
                }
                if answered == count || !self.has_line() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn ask_echo(&mut self, number: u64) {
        let said = message(number);
        self.request(number, &[ECHO, &said, "\"}}"].concat());
    }

    fn big(&mut self, number: u64, big: Big, escapes: usize) -> Result<(), Fault> {
        let params = format!("\"tools/call\",\"params\":{{\"name\":\"{}\"}}", big.tool());
        self.request(number, &params);
        self.send()?;
        let line = self.line()?;
        expect_id(line, number)?;
        let text = memmem::find(line, TEXT).map_or(0, |at| at + TEXT.len());
        let end = memmem::rfind(line, b"\"}],").unwrap_or(0);
        // An escape is spelled with one character more than it stands for.
        if end.checked_sub(text) != Some(BIG_BYTES + escapes) {
            return Err(
                format!("a big line of {} bytes is not the expected one", line.len()).into(),
            );
        }
        Ok(())
    }

    fn list(&mut self, number: u64, expected: usize) -> Result<(), Fault> {
        self.ask_list(number)?;
        self.take_list(number, expected)
    }

    fn ask_list(&mut self, number: u64) -> Result<(), Fault> {
        self.request(number, r#""tools/list""#);
        self.send()
    }

    fn take_list(&mut self, number: u64, expected: usize) -> Result<(), Fault> {
        let line = self.line()?;
        let last = tool_name(expected.saturating_sub(1));
        expect(line, number, last.as_bytes())?;
        let found = memmem::find_iter(line, b"\"inputSchema\":").count();
        if found != expected {
            return Err(format!("{found} tools instead of {expected}").into());
        }
        Ok(())
    }

    fn request(&mut self, id: u64, rest: &str) {
        let id = id.to_string();
        for part in [
            r#"{"jsonrpc":"2.0","id":"#,
            &id,
            r#","method":"#,
            rest,
            "}\n",
        ] {
            self.out.extend_from_slice(part.as_bytes());
        }
    }

    fn send(&mut self) -> Result<(), Fault> {
        self.input.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    fn has_line(&self) -> bool {
        let held = self.held.get(self.taken..self.filled).unwrap_or_default();
        memchr::memchr(b'\n', held).is_some()
    }

    fn line(&mut self) -> Result<&[u8], Fault> {
        let mut searched = self.taken;
        loop {
            let fresh = self.held.get(searched..self.filled).unwrap_or_default();
            if let Some(end) = memchr::memchr(b'\n', fresh) {
                let (start, end) = (self.taken, searched + end);
                self.taken = end + 1;
                return Ok(self.held.get(start..end).unwrap_or_default());
            }
            searched = self.filled;
            if self.taken == self.filled {
                (self.taken, self.filled, searched) = (0, 0, 0);
            } else if self.filled == self.held.len() && self.taken > 0 {
                self.held.copy_within(self.taken..self.filled, 0);
                self.filled -= self.taken;
                (self.taken, searched) = (0, self.filled);
            } else if self.filled == self.held.len() {
                self.held.resize(self.held.len() * 2, 0);
            }
            let room = self.held.get_mut(self.filled..).unwrap_or_default();
            let length = self.output.read(room)?;
            if length == 0 {
                return Err("the server ended".into());
            }
            self.filled += length;
        }
    }

    fn close(self) -> Result<(), Fault> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        child.wait()?;
        Ok(())
    }
}

fn expect(line: &[u8], id: u64, part: &[u8]) -> Result<(), Fault> {
    expect_id(line, id)?;
    if memmem::find(line, part).is_none() {
        let part = String::from_utf8_lossy(part);
        return Err(format!("the answer to {id} has no {part:?}").into());
    }
    Ok(())
}

/// The text is compared where it starts: searching for all of it costs more than the pipe.
fn expect_text(line: &[u8], id: u64, text: &[u8]) -> Result<(), Fault> {
    expect_id(line, id)?;
    let found = memmem::find(line, TEXT).and_then(|at| line.get(at + TEXT.len()..));
    if found.is_none_or(|found| !found.starts_with(text)) {
        return Err(format!("the answer to {id} has another text").into());
    }
    Ok(())
}

fn expect_id(line: &[u8], id: u64) -> Result<(), Fault> {
    let rest = line.strip_prefix(br#"{"jsonrpc":"2.0","id":"#);
    let digits = rest.map(|rest| rest.iter().take_while(|byte| byte.is_ascii_digit()));
    let found =
        digits.map(|digits| digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')));
    if found != Some(id) {
        return Err(format!("the answer to {id} has another id").into());
    }
    Ok(())
}
