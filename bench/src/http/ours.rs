//! Our session over HTTP, used the way its documentation shows.

use std::sync::Arc;

use switchboard::transport::Http;
use switchboard::{Session, SessionOptions};

use super::Hosted;
use crate::Fault;
use crate::drive::Client;
use crate::work::ServerCommand;

/// A connection over HTTP.
#[derive(Clone)]
pub struct Ours {
    client: crate::ours::Ours,
    hosted: Arc<Hosted>,
}

impl Client for Ours {
    async fn connect(server: &ServerCommand) -> Result<Self, Fault> {
        let hosted = Hosted::start(server)?;
        let http = Http::new(&hosted.url())?;
        // The era is found out, as it is by default.
        let session = Session::connect(&http, SessionOptions::default()).await?;
        Ok(Self {
            client: crate::ours::Ours(session),
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
