//! rmcp's client over HTTP, used the way its documentation shows: with its own HTTP client, which keeps
//! no connection, and with one that does.

use std::sync::Arc;

use rmcp::service::ClientServiceExt as _;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::Hosted;
use crate::Fault;
use crate::drive::Client;
use crate::work::ServerCommand;

/// A connection over HTTP; with a pool or without.
#[derive(Clone)]
pub struct Theirs<const POOLED: bool> {
    client: crate::theirs::Theirs,
    hosted: Arc<Hosted>,
}

impl<const POOLED: bool> Client for Theirs<POOLED> {
    async fn connect(server: &ServerCommand) -> Result<Self, Fault> {
        let hosted = Hosted::start(server)?;
        let url = hosted.url();
        // The HTTP client requires a provider of cryptography even for plain HTTP.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let transport = if POOLED {
            StreamableHttpClientTransport::with_client(
                reqwest::Client::builder().tcp_nodelay(true).build()?,
                StreamableHttpClientTransportConfig::with_uri(url),
            )
        } else {
            StreamableHttpClientTransport::from_uri(url)
        };
        let lifecycle = crate::theirs::lifecycle(server.era);
        let service = ().serve_with_lifecycle(transport, lifecycle).await?;
        Ok(Self {
            client: crate::theirs::Theirs(Arc::new(service)),
            hosted: Arc::new(hosted),
        })
    }

    async fn call(
        &self,
        tool: &'static str,
        message: Option<&str>,
        check: impl Fn(&str) -> Result<(), Fault> + Send,
    ) -> Result<(), Fault> {
        self.client.call(tool, message, check).await
    }

    async fn list(&self, expected: usize) -> Result<(), Fault> {
        self.client.list(expected).await
    }

    async fn close(self) -> Result<(), Fault> {
        self.client.close().await?;
        let hosted = Arc::into_inner(self.hosted).ok_or("the server is still in use")?;
        hosted.end()
    }
}
