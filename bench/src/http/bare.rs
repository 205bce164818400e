//! A client that does nothing but HTTP: hyper on one connection, the same body each time, answers
//! read to their end and held against the first one. No client over HTTP does less.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use memchr::memmem;
use tokio::net::TcpStream;

use super::Hosted;
use crate::Fault;
use crate::facts::message;
use crate::sample::Sample;
use crate::work::ServerCommand;

/// Number of answers that are not timed.
const WARM_UP: u32 = 64;

/// Says the same `count` times.
///
/// # Errors
/// Fails if an answer is missing or wrong.
pub fn run(count: u32, server: &ServerCommand) -> Result<Sample, Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let hosted = Hosted::start(server)?;
    let address = hosted.address().to_owned();
    // In a task of its own, as the other clients do it.
    let elapsed = runtime
        .block_on(async move { tokio::spawn(async move { measure(count, &address).await }).await });
    hosted.end()?;
    Ok(Sample {
        elapsed: elapsed??,
        ops: count,
    })
}

async fn measure(count: u32, address: &str) -> Result<Duration, Fault> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await?;
    drop(tokio::spawn(connection));
    let said = message(0);
    let body = Bytes::from(format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","#,
            r#""arguments":{{"message":"{}"}},"_meta":{{"#,
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientInfo":{{"name":"bare","version":"1"}},"#,
            r#""io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        ),
        said
    ));
    let first = ask(&mut sender, address, &body).await?;
    if memmem::find(&first, said.as_bytes()).is_none() {
        return Err("the first answer has another text".into());
    }
    for _ in 0..WARM_UP {
        ask(&mut sender, address, &body).await?;
    }
    let started = Instant::now();
    for _ in 0..count {
        if ask(&mut sender, address, &body).await? != first {
            return Err("an answer is not the first one again".into());
        }
    }
    Ok(started.elapsed())
}

async fn ask(
    sender: &mut SendRequest<Full<Bytes>>,
    address: &str,
    body: &Bytes,
) -> Result<Bytes, Fault> {
    // The headers that any client of 2026-07-28 sends.
    let request = Request::post("/mcp")
        .header("host", address)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "echo")
        .body(Full::new(body.clone()))?;
    sender.ready().await?;
    let response = sender.send_request(request).await?;
    if response.status() != 200 {
        return Err(format!("the server answered with {}", response.status()).into());
    }
    Ok(response.into_body().collect().await?.to_bytes())
}
