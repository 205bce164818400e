//! A partner made of rmcp 3.8, over streamable HTTP.
//!
//! `rmcp3-http-server PORT [--legacy] [--stateless] [--json]`. It writes where it listens to stdout,
//! and then a line for each request: its method and the status of the answer.

use std::convert::Infallible;
use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp3::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp3::transport::{StreamableHttpServerConfig, StreamableHttpService};
use switchboard_tests::rmcp_server::Partner;
use tokio::net::TcpListener;

fn say(line: &str) {
    let mut stdout = std::io::stdout();
    // Whoever does not read does not want to know.
    writeln!(stdout, "{line}").ok();
    stdout.flush().ok();
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let port: u16 = args.next().ok_or("no port")?.parse()?;
    let mut partner = Partner::new().counting();
    let mut config = StreamableHttpServerConfig::default();
    for arg in args {
        match arg.as_str() {
            "--legacy" => partner = partner.legacy(),
            "--stateless" => config = config.with_legacy_session_mode(false),
            "--json" => config = config.with_json_response(true),
            other => return Err(format!("unknown argument: {other}").into()),
        }
    }
    let make = move || Ok(partner.clone());
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(make, sessions, config);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    say(&format!(
        "listening on http://{}/mcp",
        listener.local_addr()?
    ));
    loop {
        let (stream, _) = listener.accept().await?;
        let service = service.clone();
        let respond = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let service = service.clone();
            async move {
                let method = request.method().clone();
                let response = service.handle(request).await;
                say(&format!("{method} {}", response.status().as_u16()));
                Ok::<_, Infallible>(response)
            }
        });
        let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), respond);
        tokio::spawn(async move { serving.await.ok() });
    }
}
