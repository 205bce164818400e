//! Servers that do not start as they should.

use std::time::Duration;

use switchboard::protocol::Era;
use switchboard::session::{OpenError, Session};
use switchboard::spec::Protocol;
use tokio::time::Instant;

use crate::chaos_support::{ERAS, add, echo, is_borne, open, options, server, struck, try_open};

const ALL: [Protocol; 3] = [Protocol::Auto, Protocol::Legacy, Protocol::Modern];

#[tokio::test(start_paused = true)]
async fn a_server_that_exits_at_once_fails_the_handshake() {
    for protocol in ALL {
        for fault in ["exit-0", "exit-3", "exit-N"] {
            let begin = Instant::now();
            let error = try_open(fault, protocol).await.unwrap_err();
            assert!(matches!(error, OpenError::Handshake { .. }), "{error:?}");
            assert!(begin.elapsed() < Duration::from_secs(1));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_crashes_after_the_handshake_fails_the_first_call() {
    for protocol in ALL {
        let begin = Instant::now();
        match try_open("crash-after-init", protocol).await {
            Ok(session) => assert!(echo(&session).await.unwrap_err().close_reason().is_some()),
            Err(error) => assert!(matches!(error, OpenError::Handshake { .. }), "{error:?}"),
        }
        assert!(begin.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_start_is_waited_for_until_the_deadline() {
    is_borne("slow-start=2").await;
    for protocol in ERAS {
        let begin = Instant::now();
        let error = try_open("slow-start=60", protocol).await.unwrap_err();
        assert!(matches!(error, OpenError::Handshake { .. }), "{error:?}");
        assert_eq!(begin.elapsed(), Duration::from_secs(5));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_bear_the_probe_is_spoken_to_in_the_legacy_era() {
    for fault in ["exit-on-probe", "silent-on-probe"] {
        let (session, outcome) = struck(fault, Protocol::Auto).await;
        assert_eq!(session.negotiated().era(), Era::Legacy, "{fault}");
        assert_eq!(outcome.unwrap(), "hello", "{fault}");
        let session = open(fault, Protocol::Legacy).await;
        assert_eq!(add(&session).await.unwrap(), "3", "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn faults_add_up() {
    let faults = ["noise-before", "crlf", "string-id=echo", "split-every-byte"];
    for protocol in ERAS {
        let session = Session::connect(&server(&faults), options(protocol))
            .await
            .unwrap();
        assert!(echo(&session).await.unwrap_err().is_timeout());
        assert_eq!(add(&session).await.unwrap(), "3");
        assert_eq!(session.counts().noise_lines, 3);
    }
}
