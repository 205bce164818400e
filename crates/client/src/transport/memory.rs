//! A transport inside one process, for tests and for servers that live in the program itself.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use tokio::io::DuplexStream;

use super::{Connect, Connecting, Link};

/// Capacity of each direction; beyond it the writer waits.
const PIPE_BYTES: usize = 64 * 1024;

type Serve = dyn Fn(DuplexStream, DuplexStream) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>
    + Send
    + Sync;

/// Connects to a server that runs as a task of this program.
///
/// Each connection starts the server again with a reader and a writer of its own.
#[derive(Clone)]
pub struct Memory {
    name: String,
    serve: Arc<Serve>,
}

impl Memory {
    /// Creates a transport to the server that `serve` runs, given its input and its output.
    pub fn new<F, Running>(name: impl Into<String>, serve: F) -> Self
    where
        F: Fn(DuplexStream, DuplexStream) -> Running + Send + Sync + 'static,
        Running: Future<Output = ()> + Send + 'static,
    {
        Self {
            name: name.into(),
            serve: Arc::new(move |input, output| Box::pin(serve(input, output))),
        }
    }
}

impl Connect for Memory {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let (to_server, input) = tokio::io::duplex(PIPE_BYTES);
            let (output, from_server) = tokio::io::duplex(PIPE_BYTES);
            // The server's task ends with its input: dropping the link drops both streams.
            drop(tokio::spawn((self.serve)(input, output)));
            Ok(Link::new(from_server, to_server))
        })
    }

    fn identity(&self) -> String {
        format!("memory:{}", self.name)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({:?})", self.name)
    }
}
