//! The load: so many calls, some at a time, each answer checked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HeaderValue;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use memchr::memmem;
use tokio::net::TcpStream;

use super::hostile::Hostile;
use super::program::Program;
use super::{Front, INITIALIZE, INITIALIZED, TOKEN, call, stream};
use crate::Fault;
use crate::facts::message;
use crate::server::Era;

/// Number of calls that are not timed.
const WARM_UP: u32 = 64;
const SESSION: &str = "mcp-session-id";

/// The load to put on a program.
#[derive(Clone, Debug)]
pub struct Load {
    /// The side of the program that is used.
    pub front: Front,
    /// The era of the calls.
    pub era: Era,
    /// The path of its endpoint over HTTP.
    pub path: String,
    /// The name of the tool that echoes.
    pub tool: String,
    /// Number of calls.
    pub count: u32,
    /// Number of calls in flight.
    pub lanes: usize,
    /// Whether hostile clients are beside it, over HTTP.
    pub hostile: bool,
}

/// Puts the load on a program that it starts with `command`; returns a line of JSON.
///
/// # Errors
/// Fails if an answer is missing or wrong, or the program does not end as it should.
pub fn run(load: &Load, command: &[String]) -> Result<String, Fault> {
    let mut program = Program::start(command)?;
    let (elapsed, processor, mut times) = match load.front {
        Front::Stream => {
            stream::begin(&mut program, load.era)?;
            stream::calls(&mut program, load, 1, WARM_UP)?;
            let (before, started) = (program.processor_time()?, Instant::now());
            let times = stream::calls(&mut program, load, 1000, load.count)?;
            let elapsed = started.elapsed();
            (elapsed, program.processor_time()? - before, times)
        }
        Front::Http => {
            let address: Arc<str> = program.address()?.into();
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(over_http(&program, load, &address))?
        }
    };
    program.end()?;
    times.sort_unstable();
    let part = |percent: usize| {
        let at = times.len().saturating_mul(percent) / 100;
        let time = times.get(at.min(times.len().saturating_sub(1)));
        time.map_or(0.0, |time| time.as_secs_f64() * 1e6)
    };
    let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(load.count.max(1));
    Ok(format!(
        r#"{{"per_op_us":{:.3},"p50_us":{:.3},"p99_us":{:.3},"processor_us":{:.3},"ops":{}}}"#,
        each(elapsed),
        part(50),
        part(99),
        each(processor),
        times.len(),
    ))
}

async fn over_http(
    program: &Program,
    load: &Load,
    address: &Arc<str>,
) -> Result<(Duration, Duration, Vec<Duration>), Fault> {
    let mut lanes = Vec::with_capacity(load.lanes);
    let mut session = None;
    let path: Arc<str> = load.path.as_str().into();
    for _ in 0..load.lanes {
        let mut lane = Lane::open(address, &path).await?;
        if load.era == Era::Legacy && session.is_none() {
            session = lane.begin().await?;
        }
        lane.session.clone_from(&session);
        lanes.push(lane);
    }
    let start = || Hostile::start(Arc::clone(address), load.path.clone(), load.tool.clone());
    let hostile = load.hostile.then(start);
    let warm_up = WARM_UP.max(u32::try_from(load.lanes)?);
    let (lanes, _) = all(lanes, load, 1, warm_up).await?;
    let (before, started) = (program.processor_time()?, Instant::now());
    let (lanes, times) = all(lanes, load, 1000, load.count).await?;
    let elapsed = started.elapsed();
    let processor = program.processor_time()? - before;
    drop(lanes);
    hostile.map_or(Ok(()), Hostile::end)?;
    Ok((elapsed, processor, times))
}

/// Does `count` calls over all lanes; gives the time of each.
async fn all(
    lanes: Vec<Lane>,
    load: &Load,
    first: u64,
    count: u32,
) -> Result<(Vec<Lane>, Vec<Duration>), Fault> {
    let next = Arc::new(AtomicU64::new(first));
    let end = first + u64::from(count);
    let mut running = Vec::with_capacity(lanes.len());
    for mut lane in lanes {
        let (next, era, tool) = (Arc::clone(&next), load.era, load.tool.clone());
        running.push(tokio::spawn(async move {
            let mut times = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= end {
                    return Ok::<_, Fault>((lane, times));
                }
                let said = message(number);
                let text = call(era, number, &tool, &said);
                let started = Instant::now();
                let answer = lane.call(era, &tool, text).await?;
                times.push(started.elapsed());
                // The member ends there: the id of another call may begin with this one.
                let ids = [",", "}"].map(|end| format!(r#""id":{number}{end}"#));
                let has = |part: &str| memmem::find(&answer, part.as_bytes()).is_some();
                if !ids.iter().any(|id| has(id)) || !has(&said) {
                    let answer = String::from_utf8_lossy(&answer);
                    return Err(format!("a wrong answer to call {number}: {answer}").into());
                }
            }
        }));
    }
    let (mut lanes, mut times) = (Vec::new(), Vec::new());
    for lane in running {
        let (lane, some) = lane.await??;
        lanes.push(lane);
        times.extend(some);
    }
    Ok((lanes, times))
}

/// One connection, on which one call follows the other.
struct Lane {
    sender: SendRequest<Full<Bytes>>,
    address: Arc<str>,
    path: Arc<str>,
    session: Option<HeaderValue>,
}

impl Lane {
    async fn open(address: &Arc<str>, path: &Arc<str>) -> Result<Self, Fault> {
        let stream = TcpStream::connect(&**address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        drop(tokio::spawn(connection));
        Ok(Self {
            sender,
            address: Arc::clone(address),
            path: Arc::clone(path),
            session: None,
        })
    }

    /// Begins a session of the legacy era; gives its id, if the program uses one.
    async fn begin(&mut self) -> Result<Option<HeaderValue>, Fault> {
        let response = self.post(Era::Legacy, None, INITIALIZE.to_owned()).await?;
        self.session = response.headers().get(SESSION).cloned();
        self.post(Era::Legacy, None, INITIALIZED.to_owned()).await?;
        Ok(self.session.clone())
    }

    async fn call(&mut self, era: Era, tool: &str, text: String) -> Result<Bytes, Fault> {
        let response = self.post(era, Some(tool), text).await?;
        Ok(response.into_body())
    }

    /// Posts a message with the headers that any client of the era sends.
    async fn post(
        &mut self,
        era: Era,
        tool: Option<&str>,
        text: String,
    ) -> Result<Response<Bytes>, Fault> {
        let mut request = Request::post(&*self.path)
            .header("host", &*self.address)
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        if let (Era::Modern, Some(tool)) = (era, tool) {
            request = request
                .header("mcp-protocol-version", "2026-07-28")
                .header("mcp-method", "tools/call")
                .header("mcp-name", tool);
        }
        if let Some(session) = &self.session {
            request = request
                .header("mcp-protocol-version", "2025-11-25")
                .header(SESSION, session);
        }
        self.sender.ready().await?;
        let request = request.body(Full::new(text.into()))?;
        let (head, body) = self.sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        if !head.status.is_success() {
            let said = String::from_utf8_lossy(&body);
            return Err(format!("answered with {}: {said}", head.status).into());
        }
        Ok(Response::from_parts(head, body))
    }
}
