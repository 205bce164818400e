//! A partner made of rmcp 3.8: speaks both eras, or with `--legacy` only the one that shakes hands.

use rmcp3::{ServiceExt, transport};
use switchboard_tests::rmcp_server::Partner;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let partner = match std::env::args().nth(1).as_deref() {
        None => Partner::new(),
        Some("--legacy") => Partner::new().legacy(),
        Some(other) => return Err(format!("unknown argument: {other}").into()),
    };
    let running = partner.serve(transport::stdio()).await?;
    running.waiting().await?;
    Ok(())
}
