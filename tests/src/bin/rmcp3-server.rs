//! A partner made of rmcp 3.8: speaks both eras, or with `--legacy` only the one that shakes hands; with `--talking`,
//! it talks back.

use rmcp3::{RoleServer, Service, ServiceExt, transport};
use switchboard_tests::rmcp_server::Partner;
use switchboard_tests::rmcp_talker::Talker;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    match std::env::args().nth(1).as_deref() {
        None => serve(Partner::new()).await,
        Some("--legacy") => serve(Partner::new().legacy()).await,
        Some("--talking") => serve(Talker::new()).await,
        Some(other) => Err(format!("unknown argument: {other}").into()),
    }
}

async fn serve(service: impl Service<RoleServer>) -> Result<(), Failure> {
    let running = service.serve(transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}
