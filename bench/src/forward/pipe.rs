//! An HTTP server of hyper before a raw pipe: each body goes to the server as one line, and its next line is
//! the answer. No gateway to a server on a pipe can do less.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Write as _};
use std::process::Stdio;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use memchr::memmem;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, oneshot};
use tokio::task::LocalSet;

use super::{input_ends, proxy};
use crate::Fault;
use crate::work::ServerCommand;

/// The pipe to the server, and those who wait for its answers, in the order of their requests.
struct Pipe {
    input: Mutex<ChildStdin>,
    waiting: RefCell<VecDeque<oneshot::Sender<Bytes>>>,
}

/// Forwards to one server until stdin ends.
///
/// # Errors
/// Fails if the server does not start, or no connection can be accepted.
pub fn run(server: &ServerCommand) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let connections = LocalSet::new();
    runtime.block_on(connections.run_until(async {
        let mut child = Command::new(&server.program)
            .args(&server.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let input = child.stdin.take().ok_or("the server has no input")?;
        let output = child.stdout.take().ok_or("the server has no output")?;
        let pipe = Rc::new(Pipe {
            input: Mutex::new(input),
            waiting: RefCell::default(),
        });
        drop(tokio::task::spawn_local(read(Rc::clone(&pipe), output)));
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(io::stdout(), "{}", listener.local_addr()?)?;
        let answer = move |request| {
            let pipe = Rc::clone(&pipe);
            async move { pipe.forward(request).await }
        };
        tokio::select! {
            accepted = proxy::accept(listener, answer) => accepted,
            _ = input_ends() => Ok(()),
        }
    }))
}

/// Hands out the lines of the server, which answers in the order of its requests.
async fn read(pipe: Rc<Pipe>, output: ChildStdout) {
    let mut output = BufReader::with_capacity(256 << 10, output);
    let mut line = Vec::new();
    while output
        .read_until(b'\n', &mut line)
        .await
        .is_ok_and(|read| read > 0)
    {
        line.pop();
        if let Some(waiting) = pipe.waiting.borrow_mut().pop_front() {
            // A client that has broken off does not wait any more.
            waiting.send(Bytes::copy_from_slice(&line)).ok();
        }
        line.clear();
    }
    // The server has ended: the requests that still wait fail.
    pipe.waiting.borrow_mut().clear();
}

impl Pipe {
    async fn forward(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Fault> {
        let body = request.into_body().collect().await?.to_bytes();
        let mut line = Vec::with_capacity(body.len() + 1);
        line.extend_from_slice(&body);
        line.push(b'\n');
        let is_request = memmem::find(&body, br#""id":"#).is_some();
        let mut input = self.input.lock().await;
        if !is_request {
            input.write_all(&line).await?;
            let mut accepted = Response::new(Full::default());
            *accepted.status_mut() = StatusCode::ACCEPTED;
            return Ok(accepted);
        }
        // Before the line is written, and under the same lock: answers come in the order of the lines.
        let (answer, answered) = oneshot::channel();
        self.waiting.borrow_mut().push_back(answer);
        input.write_all(&line).await?;
        drop(input);
        let answer = Full::new(answered.await?);
        Ok(Response::builder()
            .header("content-type", "application/json")
            .body(answer)?)
    }
}
