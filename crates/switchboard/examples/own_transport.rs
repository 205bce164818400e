//! A transport of one's own: newline-delimited JSON-RPC over a TCP connection.
//!
//! `cargo run -p switchboard --example own_transport -- target/release/switchboard test-server`
//! puts that command behind a socket, to have something to connect to.

#![allow(clippy::print_stdout, reason = "a program for people at a terminal")]

use std::io;
use std::process::Stdio;

use switchboard::transport::{Connect, ConnectError, Connecting, Link};
use switchboard::{Server, ServerName, SessionOptions};
use tokio::io::copy;
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

struct Tcp {
    address: String,
}

impl Connect for Tcp {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async move {
            let stream = TcpStream::connect(&self.address).await;
            let (reader, writer) = stream.map_err(ConnectError::other)?.into_split();
            Ok(Link::new(reader, writer))
        })
    }

    fn identity(&self) -> String {
        format!("tcp:{}", self.address)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let far_side = tokio::spawn(put_behind(listener, words));
    let name = ServerName::parse("far")?;
    let server = Server::new(name, Tcp { address }, SessionOptions::default());
    for tool in &server.list_tools().await?.items {
        println!("{}", tool.name());
    }
    server.close().await;
    far_side.await??;
    Ok(())
}

/// Puts a command behind the first connection.
async fn put_behind(listener: TcpListener, words: Vec<String>) -> io::Result<()> {
    let (mut from_client, mut to_client) = listener.accept().await?.0.into_split();
    let mut child = Command::new(words.first().map_or("switchboard", String::as_str))
        .args(words.iter().skip(1))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let missing = || io::Error::other("the child has no pipes");
    let mut input = child.stdin.take().ok_or_else(missing)?;
    let mut output = child.stdout.take().ok_or_else(missing)?;
    let asked = async move {
        copy(&mut from_client, &mut input).await?;
        // Dropping the child's input tells it to end.
        drop(input);
        io::Result::Ok(())
    };
    let answered = async move { copy(&mut output, &mut to_client).await };
    tokio::try_join!(asked, answered)?;
    child.wait().await?;
    Ok(())
}
