//! The line loop: one message a line, both ways.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::Options;
use crate::chaos::{self, Close, Ending};
use crate::lines::{Line, Lines};
use crate::service::{Connection, Incoming, Service, Sink};

/// Maximum number of answers waiting to be written before the server stops reading.
const WAITING_LINES: usize = 256;

/// Maximum number of answers in one write.
const LINES_PER_WRITE: usize = 128;

/// Serves one client over this process's stdin and stdout, until stdin ends.
///
/// If it returns because the client stopped reading, stdin may still be open and tokio's blocking
/// reader with it: exit the process rather than wait for the runtime to shut down.
///
/// With [`Options::chaos`] the process may also end here, or never.
///
/// # Errors
/// Fails when stdin cannot be read or stdout cannot be written, or with a fault that only HTTP has.
/// A client that has gone is not an error.
///
/// # Cancel safety
/// Dropping the future ends the connection.
pub async fn serve_stdio(options: Options) -> io::Result<()> {
    let (stdin, stdout) = (tokio::io::stdin(), tokio::io::stdout());
    match serve_to_the_end(stdin, stdout, options, chaos::close).await? {
        Ending::Done => Ok(()),
        // A misbehaving server does not shut down in order.
        Ending::Exit(status) => std::process::exit(status),
        Ending::Abort => std::process::abort(),
    }
}

/// Serves one client until `reader` ends; operations that still run then are cancelled.
///
/// Needs a tokio runtime with time; one thread is enough.
///
/// # Cancel safety
/// Dropping the future ends the connection.
///
/// # Errors
/// Fails when reading or writing fails. A client that has gone is not an error.
pub async fn serve<R, W>(reader: R, writer: W, options: Options) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    serve_to_the_end(reader, writer, options, |_| {})
        .await
        .map(|_| ())
}

async fn serve_to_the_end<R, W>(
    reader: R,
    writer: W,
    options: Options,
    close: Close,
) -> io::Result<Ending>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    // Refuse faults of HTTP at once, before a client waits for them in vain.
    if let Some(chaos) = options
        .chaos
        .iter()
        .find(|chaos| !chaos.flag().over_stdio())
    {
        let what = format!("{chaos} is no fault of a server over stdio");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    if let Some(delay) = options.start_delay {
        tokio::time::sleep(delay).await;
    }
    let ended = if options.chaos.is_empty() {
        correctly(reader, writer, options)
            .await
            .map(|()| Ending::Done)
    } else {
        chaos::serve(reader, writer, options, close).await
    };
    match ended {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Ending::Done),
        ended => ended,
    }
}

async fn correctly<R, W>(reader: R, writer: W, options: Options) -> io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let (sender, lines) = mpsc::channel(WAITING_LINES);
    let reading = std::pin::pin!(read(reader, Sink::new(sender), options));
    let mut writing = std::pin::pin!(write(writer, lines));
    tokio::select! {
        // Reading first: all requests that have arrived are answered before one write.
        biased;
        read = reading => match read {
            Ok(()) => writing.await,
            Err(error) => Err(error),
        },
        // The writer ends on its own only by failing: the reader still holds the sink.
        written = &mut writing => written,
    }
}

async fn read(reader: impl AsyncRead + Unpin, sink: Sink, options: Options) -> io::Result<()> {
    let mut lines = Lines::new(reader);
    let mut connection = Connection::new(Arc::new(Service::new(&options)), sink);
    while let Some(line) = lines.next().await? {
        let incoming = match line {
            Line::Text(text) if text.trim().is_empty() => continue,
            Line::Text(text) => Incoming::parse(&text),
            Line::Garbled => Incoming::unreadable("the line is not UTF-8"),
            Line::TooLong => Incoming::unreadable("the line is too long"),
        };
        connection.receive(incoming).await;
        // The server ended the connection: the rest of the input is not read.
        if connection.is_over() {
            break;
        }
    }
    connection.close().await;
    Ok(())
}

async fn write(
    mut writer: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<String>,
) -> io::Result<()> {
    let mut ready = Vec::new();
    let mut bytes = Vec::new();
    while lines.recv_many(&mut ready, LINES_PER_WRITE).await > 0 {
        for line in ready.drain(..) {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        }
        writer.write_all(&bytes).await?;
        writer.flush().await?;
        bytes.clear();
    }
    Ok(())
}
