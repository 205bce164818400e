//! A reverse proxy that does nothing else: hyper on both sides, bodies passed on as they come, connections
//! to the server kept. No proxy that reads messages can do less.

use std::cell::RefCell;
use std::io::{self, Write as _};
use std::rc::Rc;

use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{HOST, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::LocalSet;

use super::input_ends;
use crate::Fault;
use crate::http::Hosted;
use crate::work::ServerCommand;

/// The server, and connections to it that are free.
struct Target {
    address: String,
    host: HeaderValue,
    free: RefCell<Vec<SendRequest<Incoming>>>,
}

/// Forwards to one server until stdin ends.
///
/// # Errors
/// Fails if the server does not start, or no connection can be accepted.
pub fn run(server: &ServerCommand) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let hosted = Hosted::start(server)?;
    let target = Rc::new(Target {
        address: hosted.address().to_owned(),
        host: HeaderValue::from_str(hosted.address())?,
        free: RefCell::default(),
    });
    let connections = LocalSet::new();
    runtime.block_on(connections.run_until(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        writeln!(io::stdout(), "{}", listener.local_addr()?)?;
        let answer = move |request| {
            let target = Rc::clone(&target);
            async move { forward(&target, request).await }
        };
        tokio::select! {
            accepted = accept(listener, answer) => accepted,
            _ = input_ends() => Ok(()),
        }
    }))?;
    // Connections to the server end with their tasks.
    drop(connections);
    hosted.end()
}

/// Serves connections, each in a task of this thread.
pub(super) async fn accept<A, F, B>(listener: TcpListener, answer: A) -> Result<(), Fault>
where
    A: Fn(Request<Incoming>) -> F + Clone + 'static,
    F: Future<Output = Result<Response<B>, Fault>> + 'static,
    B: Body<Error: Into<Fault>> + 'static,
{
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let http = hyper::server::conn::http1::Builder::new();
        let connection = http.serve_connection(TokioIo::new(stream), service_fn(answer.clone()));
        // Ignored: a client that breaks off fails on its own side.
        drop(tokio::task::spawn_local(async move {
            connection.await.ok();
        }));
    }
}

async fn forward(
    target: &Target,
    mut request: Request<Incoming>,
) -> Result<Response<Incoming>, Fault> {
    request.headers_mut().insert(HOST, target.host.clone());
    let free = target.free.borrow_mut().pop();
    let mut sender = match free {
        Some(sender) => sender,
        None => connect(target).await?,
    };
    sender.ready().await?;
    let response = sender.send_request(request).await?;
    // The next request on it waits until this answer has been passed on.
    target.free.borrow_mut().push(sender);
    Ok(response)
}

async fn connect(target: &Target) -> Result<SendRequest<Incoming>, Fault> {
    let stream = TcpStream::connect(&target.address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    drop(tokio::task::spawn_local(async move {
        // Ignored: the next request on it fails then.
        connection.await.ok();
    }));
    Ok(sender)
}
