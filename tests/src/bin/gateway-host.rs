//! A gateway over HTTP in front of bundled servers in the same process.
//!
//! `gateway-host FOLDER SERVERS IDLE_MS`. The servers are `s00`, `s01` and so on, each with a journal of that name in
//! the folder; sessions that are idle for that long end. It writes its address to stdout, then a line with its
//! open and its expired sessions for each line of stdin, and drains at the end of stdin.

use std::error::Error;
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::time::Duration;

use switchboard::Host;
use switchboard::catalog::ExposedNames;
use switchboard::policy::{AgentPolicy, Level};
use switchboard::spec::{ServerName, Settings};
use switchboard::transport::Memory;
use switchboard_gateway::http::{HttpAuth, HttpListener, HttpOptions};
use switchboard_gateway::{Gateway, GatewayOptions};
use switchboard_testkit::{Journal, Options};
use tokio::sync::{mpsc, oneshot};

/// The one of the command line.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn say(line: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout();
    stdout.write_all(format!("{line}\n").as_bytes())?;
    stdout.flush()
}

fn host(folder: &Path, servers: usize) -> Result<Host, Box<dyn Error>> {
    let mut builder = Host::builder()
        .exposed_names(ExposedNames::unprefixed())
        .default_agent("gateway", AgentPolicy::everything(Level::Yolo));
    for number in 0..servers {
        let name = format!("s{number:02}");
        let mut options = Options::default();
        options.journal = Some(Journal::open(folder.join(&name))?);
        let memory = Memory::new(&name, move |input, output| {
            let options = options.clone();
            async move {
                // Ends with its connection.
                drop(switchboard_testkit::serve(input, output, options).await);
            }
        });
        builder = builder.transport(ServerName::parse(&name)?, memory, Settings::default());
    }
    Ok(builder.build()?)
}

async fn run(folder: &Path, servers: usize, idle: Duration) -> Result<(), Box<dyn Error>> {
    let host = host(folder, servers)?;
    host.connect_all().await;
    let mut options = GatewayOptions::default();
    options.limits.session_idle = idle;
    let service = Gateway::new(host.clone(), options)?.http(HttpOptions::new(HttpAuth::None)?)?;
    let listener = HttpListener::tcp("127.0.0.1:0".parse()?).await?;
    say(&listener.address().ok_or("no address")?.to_string())?;
    let (tell, mut told) = mpsc::channel(1);
    std::thread::spawn(move || {
        let lines = std::io::stdin().lock().lines();
        for line in lines.map_while(Result::ok) {
            if tell.blocking_send(line).is_err() {
                return;
            }
        }
    });
    let (stop, stopped) = oneshot::channel::<()>();
    let served = service.clone();
    let serving = tokio::spawn(async move {
        let stopped = async { drop(stopped.await) };
        served.serve(listener, stopped).await
    });
    while told.recv().await.is_some() {
        let stats = service.stats();
        say(&format!("{} {}", stats.sessions, stats.sessions_expired))?;
    }
    drop(stop);
    serving.await??;
    host.shutdown().await;
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let folder = args.next().ok_or("no folder")?;
    let servers = args.next().ok_or("no number of servers")?.parse()?;
    let idle = args.next().ok_or("no idle time")?.parse()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(run(
        Path::new(&folder),
        servers,
        Duration::from_millis(idle),
    ))
}
