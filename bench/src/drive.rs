//! Does the work with an asynchronous client: the same calls, tasks and checks for each of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::Fault;
use crate::facts::{check_big, check_echo, message};
use crate::sample::Sample;
use crate::work::{LANES, Runtime, SERVERS, ServerCommand, Work};

/// An asynchronous client, reduced to what is measured. Clones share one connection.
pub trait Client: Clone + Send + Sync + 'static {
    /// Starts a server and gets ready to call it.
    fn connect(server: &ServerCommand) -> impl Future<Output = Result<Self, Fault>> + Send;

    /// Calls a tool, with a message if there is one, and hands the text of its result to `check`.
    fn call(
        &self,
        tool: &'static str,
        message: Option<&str>,
        check: impl Fn(&str) -> Result<(), Fault> + Send,
    ) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Lists the tools and checks them.
    fn list(&self, expected: usize) -> impl Future<Output = Result<(), Fault>> + Send;

    /// Ends the connection and the server.
    fn close(self) -> impl Future<Output = Result<(), Fault>> + Send;
}

/// Does `work` `count` times on a new runtime.
///
/// # Errors
/// Fails if an answer is missing or wrong.
pub fn run<C: Client>(
    runtime: Runtime,
    work: Work,
    count: u32,
    server: ServerCommand,
) -> Result<Sample, Fault> {
    let mut builder = match runtime {
        Runtime::Current => tokio::runtime::Builder::new_current_thread(),
        Runtime::Multi => tokio::runtime::Builder::new_multi_thread(),
    };
    if runtime == Runtime::Multi {
        builder.worker_threads(2);
    }
    let runtime = builder.enable_all().build()?;
    // In a task of its own, as the work of a program usually is: what `block_on` runs itself is
    // never on a worker, and would pay for a thread switch at every wake-up.
    runtime.block_on(async move { tokio::spawn(measure::<C>(work, count, server)).await? })
}

async fn measure<C: Client>(
    work: Work,
    count: u32,
    server: ServerCommand,
) -> Result<Sample, Fault> {
    if work == Work::Connect20 {
        return connect_many::<C>(count, server).await;
    }
    let client = C::connect(&server).await?;
    let elapsed = match work.big() {
        Some(big) => {
            let expected = big.text();
            // The first answer is compared whole, and has the server prepare the text.
            let whole = |text: &str| check_echo(text, &expected);
            client.call(big.tool(), None, whole).await?;
            let started = Instant::now();
            for _ in 0..count {
                let ends = |text: &str| check_big(text, &expected);
                client.call(big.tool(), None, ends).await?;
            }
            started.elapsed()
        }
        None if work == Work::List => {
            client.list(server.tool_count).await?;
            let started = Instant::now();
            for _ in 0..count {
                client.list(server.tool_count).await?;
            }
            started.elapsed()
        }
        None => {
            let lanes = if work == Work::Echo64 { LANES } else { 1 };
            echo(&client, lanes, LANES.try_into()?).await?;
            let started = Instant::now();
            echo(&client, lanes, count).await?;
            started.elapsed()
        }
    };
    client.close().await?;
    Ok(Sample {
        elapsed,
        ops: count,
    })
}

/// Says `count` messages over `lanes` tasks, each waiting for its answer before the next.
async fn echo<C: Client>(client: &C, lanes: usize, count: u32) -> Result<(), Fault> {
    let mut tasks = JoinSet::new();
    for lane in 0..lanes {
        let client = client.clone();
        let numbers = (u64::try_from(lane)?..u64::from(count)).step_by(lanes);
        tasks.spawn(async move {
            for number in numbers {
                let said = message(number);
                let check = |text: &str| check_echo(text, &said);
                client.call("echo", Some(&said), check).await?;
            }
            Ok::<_, Fault>(())
        });
    }
    while let Some(lane) = tasks.join_next().await {
        lane??;
    }
    Ok(())
}

/// Connects to many servers at once and lists their tools; closing them is not measured.
async fn connect_many<C: Client>(count: u32, server: ServerCommand) -> Result<Sample, Fault> {
    let server = Arc::new(server);
    let mut elapsed = Duration::ZERO;
    for _ in 0..count {
        let started = Instant::now();
        let mut starting = JoinSet::new();
        for _ in 0..SERVERS {
            let server = Arc::clone(&server);
            starting.spawn(async move {
                let client = C::connect(&server).await?;
                client.list(server.tool_count).await?;
                Ok::<_, Fault>(client)
            });
        }
        let mut clients = Vec::with_capacity(SERVERS);
        while let Some(client) = starting.join_next().await {
            clients.push(client??);
        }
        elapsed += started.elapsed();
        let mut closing = JoinSet::new();
        for client in clients {
            closing.spawn(client.close());
        }
        while let Some(closed) = closing.join_next().await {
            closed??;
        }
    }
    Ok(Sample {
        elapsed,
        ops: count,
    })
}
