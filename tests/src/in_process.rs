//! Servers that run in the process of a test, and how a host gets them.

use std::sync::Arc;

use serde_json::Value;
use switchboard::host::HostBuilder;
use switchboard::spec::{ServerName, Settings};
use switchboard::transport::Memory;
use switchboard_testkit::Options;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

/// Buffer of the pipe between an observer and the server behind it.
const PIPE_BYTES: usize = 64 * 1024;

/// Creates the bundled server, without a process.
pub fn testkit(options: Options) -> Memory {
    Memory::new("testkit", move |input, output| {
        let options = options.clone();
        async move {
            switchboard_testkit::serve(input, output, options)
                .await
                .ok();
        }
    })
}

/// Creates the bundled server, and shows every message to `observe` before the server gets it.
pub fn observed(options: Options, observe: impl Fn(Value) + Send + Sync + 'static) -> Memory {
    let observe = Arc::new(observe);
    Memory::new("testkit", move |input, output| {
        let (options, observe) = (options.clone(), Arc::clone(&observe));
        async move {
            let (mut inner, served) = tokio::io::duplex(PIPE_BYTES);
            let mut lines = BufReader::new(input).lines();
            let forward = async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    observe(serde_json::from_str(&line).expect("clients write JSON"));
                    let line = format!("{line}\n");
                    if inner.write_all(line.as_bytes()).await.is_err() {
                        // The server has ended, which closes the connection below.
                        return std::future::pending().await;
                    }
                }
            };
            let serve = switchboard_testkit::serve(served, output, options);
            tokio::select! {
                _ = serve => {}
                () = forward => {}
            }
        }
    })
}

/// Creates a server that never says a word.
pub fn silent() -> Memory {
    Memory::new("silent", |input, output| async move {
        std::future::pending::<()>().await;
        drop((input, output));
    })
}

/// Creates a server that ends at once.
pub fn crashing() -> Memory {
    Memory::new("crashing", |_, _| async {})
}

/// Parses a server's name.
///
/// # Panics
/// Panics if it is not one.
#[must_use]
pub fn name(text: &str) -> ServerName {
    ServerName::parse(text).expect("the name of a server")
}

/// Adds servers to a host.
pub trait With {
    /// Adds a server with the usual settings.
    #[must_use]
    fn with(self, server: &str, memory: Memory) -> Self;
}

impl With for HostBuilder {
    fn with(self, server: &str, memory: Memory) -> Self {
        self.transport(name(server), memory, Settings::default())
    }
}
