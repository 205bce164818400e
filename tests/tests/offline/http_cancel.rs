//! Calls that nobody waits for any more: each era has its own way to say so.

use std::time::Duration;

use switchboard::protocol::Era;
use switchboard::session::Session;
use switchboard::{Deadline, Timeouts};

use crate::support::http::{self, add, connect, options, requests_of, server_of, slow};

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_the_way_of_its_era() {
    for era in http::ERAS {
        let server = server_of(era, &[]).await;
        let session = connect(&server, era).await;
        add(&session).await.unwrap();
        let before = server.counts().running;
        let call = slow(&session, 60);
        server.until(|counts| counts.running > before).await;
        call.abort();
        let told = || requests_of(&server, "notifications/cancelled");
        match era {
            Era::Modern => {
                server.until(|counts| counts.cancelled == 1).await;
                assert!(told().is_empty());
            }
            Era::Legacy => {
                while told().is_empty() {
                    tokio::task::yield_now().await;
                }
                let id = requests_of(&server, "tools/call")[1].json()["id"].clone();
                assert_eq!(told()[0].json()["params"]["requestId"], id);
                assert!(told()[0].header("mcp-session-id").is_some());
            }
        }
        assert_eq!(add(&session).await.unwrap(), "3");
    }
}

#[tokio::test]
async fn a_call_whose_time_is_up_is_cancelled_the_same_way() {
    for era in http::ERAS {
        let server = server_of(era, &[]).await;
        let brief = Timeouts::all(Deadline::within(Duration::from_millis(500)));
        let http = http::http(&server);
        let session = Session::connect(&http, options(era).timeouts(brief));
        let session = session.await.unwrap();
        let error = slow(&session, 60).await.unwrap().unwrap_err();
        assert!(error.is_timeout(), "{error:?}");
        match era {
            Era::Modern => drop(server.until(|counts| counts.cancelled == 1).await),
            Era::Legacy => {
                while requests_of(&server, "notifications/cancelled").is_empty() {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
}
