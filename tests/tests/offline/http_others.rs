//! The faults that are not of HTTP, over HTTP: every call ends in time, and the next one works.

use switchboard::protocol::Era;
use switchboard_testkit::chaos::{Flag, Group, Takes};
use switchboard_testkit::http::Answers;

use crate::support::http::{ERAS, SOON, add, connect, echo, server_with};

/// A fault that strikes `echo` where it can be told whom to strike, in numbers that take no long
/// time.
fn fault(flag: Flag) -> String {
    let name = flag.name();
    let number = match flag {
        Flag::HugeLine | Flag::BigResult => 2,
        Flag::ManyTools => 3000,
        Flag::LogFlood | Flag::RequestFlood | Flag::PingFlood | Flag::ListChangedStorm => 500,
        _ => flag.default_number().unwrap_or_default(),
    };
    match flag.takes() {
        Takes::Nothing => name.to_owned(),
        Takes::Tool => format!("{name}=echo"),
        Takes::Number(..) if name.ends_with('N') => name.replace('N', "1"),
        Takes::Number(..) => format!("{name}={number}"),
        Takes::NumberAndTool(..) => format!("{name}={number}@echo"),
    }
}

async fn ends_in_time(era: Era, flag: Flag, answers: Answers) {
    let fault = fault(flag);
    let what = format!("{fault} in {era:?} as {answers:?}");
    let server = server_with(era, &[&fault], answers).await;
    let session = connect(&server, era).await;
    let begun = tokio::time::Instant::now();
    let outcome = echo(&session).await;
    // Twice its time, so that a busy machine is no failure; without a clock it would be for ever.
    let most = 2 * SOON;
    assert!(begun.elapsed() < most, "{what}: {:?}", begun.elapsed());
    let harmless = [
        Flag::Bom,
        Flag::Crlf,
        Flag::BlankLines,
        Flag::SplitEveryByte,
        Flag::NoiseBetween,
        Flag::ReplyTwice,
        Flag::OutOfOrder,
        Flag::ProgressBackwards,
        Flag::LogFlood,
        Flag::RequestFlood,
        Flag::PingFlood,
        Flag::Delay,
    ];
    let is_harmless = harmless.contains(&flag) || flag.group() == Group::Lists;
    if is_harmless {
        assert_eq!(
            outcome
                .as_deref()
                .unwrap_or_else(|error| panic!("{what}: {error:?}")),
            "hello"
        );
    }
    let dies = matches!(flag, Flag::DieOnCall | Flag::DieAfterN);
    if dies {
        // It may take a moment until it is gone.
        if let Err(error) = add(&session).await {
            assert!(error.fault().is_some(), "{what}: {error:?}");
        }
    } else {
        let next = add(&session).await;
        assert_eq!(
            next.unwrap_or_else(|error| panic!("{what}: {error:?}")),
            "3"
        );
    }
    session.close().await;
}

async fn all_of(group: Group) {
    let flags = Flag::ALL.iter().copied();
    let flags = flags.filter(|flag| flag.group() == group && flag.over_http());
    let mut tried = 0;
    for flag in flags {
        let ways = ERAS.into_iter().flat_map(|era| {
            let answers = [Answers::Auto, Answers::Json, Answers::Sse];
            answers.map(|answers| tokio::spawn(ends_in_time(era, flag, answers)))
        });
        for one in ways.collect::<Vec<_>>() {
            one.await.unwrap();
            tried += 1;
        }
    }
    assert!(tried >= 6 * 9, "{tried}");
}

#[tokio::test]
async fn faults_of_framing_end_in_time() {
    all_of(Group::Framing).await;
}

#[tokio::test]
async fn faults_of_messages_end_in_time() {
    all_of(Group::Rpc).await;
}

#[tokio::test]
async fn faults_of_lists_end_in_time() {
    all_of(Group::Lists).await;
}

#[tokio::test]
async fn faults_of_calls_end_in_time() {
    all_of(Group::Calls).await;
}
