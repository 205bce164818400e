//! The gateway as people run it: a policy, decisions told to a listener, a token over HTTP.

use std::io::{self, Write as _};

use switchboard::ServerSpec;
use switchboard::catalog::ExposedNames;
use switchboard::host::{Caller, Host};
use switchboard::transport::Environment;
use switchboard_gateway::http::{HttpAuth, HttpListener, HttpOptions, Token};
use switchboard_gateway::{ClientIdentity, Gateway, GatewayOptions, Scope, stdio};

use super::{Front, TOKEN, Upstream, input_ends};
use crate::Fault;
use crate::hosted::{policy, spec};
use crate::http::Hosted;
use crate::work::ServerCommand;

/// Serves one server until stdin ends.
///
/// # Errors
/// Fails if the server cannot be connected to, or clients cannot be served.
pub fn run(front: Front, upstream: Upstream, server: &ServerCommand) -> Result<(), Fault> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let hosted = match upstream {
        Upstream::Http => Some(Hosted::start(server)?),
        Upstream::Stdio => None,
    };
    let spec = match &hosted {
        Some(hosted) => ServerSpec::http("bench", &hosted.url())?,
        None => spec("bench", server)?,
    };
    // In a task of its own, as a program on several threads would do it.
    runtime.block_on(async { tokio::spawn(serve(front, spec)).await })??;
    hosted.map_or(Ok(()), Hosted::end)
}

async fn serve(front: Front, spec: ServerSpec) -> Result<(), Fault> {
    let host = Host::builder()
        .environment(&Environment::of_process())
        .exposed_names(ExposedNames::unprefixed())
        .server(spec)
        .policy(policy()?)
        .build()?;
    let mut events = host.events();
    drop(tokio::spawn(
        async move { while events.recv().await.is_ok() {} },
    ));
    host.connect("bench").await?;
    let identity = ClientIdentity::local(Caller::agent("bench")?);
    let gateway = Gateway::new(host.clone(), GatewayOptions::default())?;
    match front {
        Front::Stream => {
            let (input, output) = stdio();
            gateway.serve(input, output, identity, Scope::All).await?;
        }
        Front::Http => {
            let auth = HttpAuth::Token(Token::new(TOKEN)?);
            let service = gateway.http(HttpOptions::with_identity(auth, identity))?;
            let listener = HttpListener::tcp(([127, 0, 0, 1], 0).into()).await?;
            let address = listener.address().ok_or("the gateway has no address")?;
            writeln!(io::stdout(), "{address}")?;
            let end = async { drop(input_ends().await) };
            service.serve(listener, end).await?;
        }
    }
    host.shutdown().await;
    Ok(())
}
