//! The server over HTTP, as a client that forgives nothing sees it.

mod chaos;
mod chaos_messages;
mod client;
mod conformance;
mod legacy;
mod library;
mod mirrored;
mod modern;
mod oauth;
mod older;
mod shapes;

use switchboard_testkit::http::{Http, Server};
use switchboard_testkit::{Eras, Options};

async fn plain() -> Server {
    Http::default().serve().await.unwrap()
}

async fn only(eras: Eras) -> Server {
    let options = Options {
        eras,
        ..Options::default()
    };
    Http::new(options).serve().await.unwrap()
}
