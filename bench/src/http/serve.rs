//! The server: hyper around the prepared answers.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::LocalSet;

use super::Answers;
use crate::server::Server;

/// The body of an answer, in one piece.
struct Answer {
    piece: Option<Bytes>,
    /// True for a stream, whose length is not announced.
    is_stream: bool,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.piece.take().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.piece.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.piece, self.is_stream) {
            (_, true) => SizeHint::default(),
            (Some(piece), false) => SizeHint::with_exact(u64::try_from(piece.len()).unwrap_or(0)),
            (None, false) => SizeHint::with_exact(0),
        }
    }
}

/// Serves until the future is dropped: connections that are kept, no Nagle, nothing else.
///
/// # Errors
/// Fails if no connection can be accepted.
pub async fn serve(server: Server, listener: TcpListener, answers: Answers) -> io::Result<()> {
    let server = Rc::new(server);
    let connections = LocalSet::new();
    connections
        .run_until(async {
            loop {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                let server = Rc::clone(&server);
                let service = service_fn(move |request| {
                    let server = Rc::clone(&server);
                    async move { answer(&server, answers, request).await }
                });
                let http = hyper::server::conn::http1::Builder::new();
                let connection = http.serve_connection(TokioIo::new(stream), service);
                // Ignored: a client that breaks off fails on its own side.
                drop(tokio::task::spawn_local(async move {
                    connection.await.ok();
                }));
            }
        })
        .await
}

async fn answer(
    server: &Server,
    answers: Answers,
    request: Request<Incoming>,
) -> Result<Response<Answer>, hyper::Error> {
    if request.method() != Method::POST {
        return Ok(empty(StatusCode::METHOD_NOT_ALLOWED));
    }
    let message = request.into_body().collect().await?.to_bytes();
    let mut out = Vec::with_capacity(512);
    let prefix: &[u8] = match answers {
        Answers::Json => b"",
        Answers::Sse => b"event: message\ndata: ",
    };
    out.extend_from_slice(prefix);
    server.answer(&message, &mut out);
    if out.len() == prefix.len() {
        return Ok(empty(StatusCode::ACCEPTED));
    }
    let kind = match answers {
        Answers::Json => "application/json",
        Answers::Sse => {
            // The end of the line is there already; one more ends the event.
            out.push(b'\n');
            "text/event-stream"
        }
    };
    let mut response = Response::new(Answer {
        piece: Some(out.into()),
        is_stream: answers == Answers::Sse,
    });
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

fn empty(status: StatusCode) -> Response<Answer> {
    let mut response = Response::new(Answer {
        piece: None,
        is_stream: false,
    });
    *response.status_mut() = status;
    response
}
