//! What is sent again, and how long that takes.

use super::*;

fn status(status: u16) -> Failure {
    Failure::Status {
        status,
        retry_after: false,
    }
}

fn with_retry_after(status: u16) -> Failure {
    Failure::Status {
        status,
        retry_after: true,
    }
}

fn of(method: &str, failure: Failure) -> Repeat {
    repeatable(method, failure, false, Sent::Maybe)
}

/// Everything that can happen, and whether a call, and a safe request, may be sent again.
fn table() -> Vec<(Failure, Repeat, Repeat)> {
    use Repeat::{AfterRepair, AfterWait, No};
    let mut table = vec![
        (Failure::UnknownSession, AfterRepair, AfterRepair),
        (Failure::Rpc(-32020), AfterRepair, AfterRepair),
        (Failure::Rpc(-32022), AfterRepair, AfterRepair),
        (Failure::Rpc(-32021), No, No),
        (Failure::Rpc(-32603), No, No),
        (Failure::Rpc(-32000), No, No),
        (status(401), AfterRepair, AfterRepair),
        (with_retry_after(429), AfterWait, AfterWait),
        (status(429), No, AfterWait),
        (with_retry_after(503), No, AfterWait),
        (Failure::Lost, No, AfterWait),
    ];
    for code in [500, 502, 503, 504] {
        table.push((status(code), No, AfterWait));
    }
    for code in [
        200, 202, 301, 307, 400, 403, 404, 405, 406, 408, 409, 410, 413, 415, 425, 501, 505,
    ] {
        table.push((status(code), No, No));
        table.push((with_retry_after(code), No, No));
    }
    table
}

#[test]
fn a_call_is_sent_again_only_where_it_cannot_have_run() {
    for (failure, call, safe) in table() {
        assert_eq!(of("tools/call", failure), call, "{failure:?}");
        let idempotent = repeatable("tools/call", failure, true, Sent::Maybe);
        assert_eq!(idempotent, safe, "{failure:?}");
    }
}

#[test]
fn safe_methods_are_sent_again_and_unknown_ones_are_not() {
    for (failure, once, safe) in table() {
        for method in SAFE {
            assert_eq!(of(method, failure), safe, "{method} {failure:?}");
        }
        for method in [
            "tasks/update",
            "vendor/act",
            "sampling/createMessage",
            "notifications/cancelled",
            "",
        ] {
            assert_eq!(of(method, failure), once, "{method} {failure:?}");
            // Only tools are called idempotent.
            let said = repeatable(method, failure, true, Sent::Maybe);
            assert_eq!(said, once, "{method} {failure:?}");
        }
    }
}

#[test]
fn what_never_left_may_be_sent_again() {
    for method in ["tools/call", "tools/list", "vendor/act"] {
        let found = repeatable(method, Failure::Lost, false, Sent::Never);
        assert_eq!(found, Repeat::AfterWait, "{method}");
    }
}

#[test]
fn every_safe_method_is_one_that_exists() {
    for method in SAFE {
        assert!(
            switchboard_wire::MethodInfo::find(method).is_some(),
            "{method}"
        );
    }
    assert!(!SAFE.contains(&"tools/call"));
}

#[test]
fn waits_double_up_to_the_longest_and_end() {
    let backoff = Backoff {
        retries: 6,
        ..Backoff::from(&Limits::default())
    };
    let longest: Vec<_> = (0..7).map(|n| backoff.wait(n, None, u64::MAX)).collect();
    let seconds = |n| Some(Duration::from_secs(n));
    let expected = [1, 2, 4, 8, 10, 10].map(seconds);
    assert_eq!(longest[..6], expected);
    assert_eq!(longest[6], None);
    assert_eq!(backoff.wait(2, None, 0), Some(Duration::ZERO));
    let half = backoff.wait(1, None, u64::MAX / 2).unwrap();
    assert!(
        half.abs_diff(Duration::from_secs(1)) < Duration::from_micros(1),
        "{half:?}"
    );
    let usual = Backoff::from(&Limits::default());
    assert!(usual.wait(2, None, 7).is_some());
    assert_eq!(usual.wait(3, None, 7), None);
    assert_eq!(usual.wait(u32::MAX, None, 7), None);
    let endless = Backoff {
        retries: u32::MAX,
        ..usual
    };
    assert_eq!(endless.wait(4_000_000, None, u64::MAX), seconds(10));
}

#[test]
fn what_the_server_asks_for_is_waited_in_full_and_no_longer_than_the_limit() {
    let backoff = Backoff::from(&Limits::default());
    let asked = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(backoff.wait(0, asked(30), 0), asked(30));
    assert_eq!(backoff.wait(2, asked(30), u64::MAX), asked(31));
    assert_eq!(backoff.wait(0, asked(60), 0), asked(60));
    assert_eq!(backoff.wait(0, asked(61), 0), asked(60));
    assert_eq!(backoff.wait(3, asked(1), 0), None);
}

#[test]
fn the_dice_fall_differently() {
    let throws: std::collections::HashSet<u64> =
        (0..64).map(|_| switchboard_core::limits::dice()).collect();
    assert!(throws.len() > 60, "{}", throws.len());
    assert!(throws.iter().any(|throw| throw % 2 == 0));
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
    let read = |value: &str| retry_after(value, now, Duration::from_secs(60));
    let seconds = |n| Some(Duration::from_secs(n));
    for (value, expected) in [
        ("0", seconds(0)),
        (" 7\t", seconds(7)),
        ("59", seconds(59)),
        ("60", seconds(60)),
        ("61", seconds(60)),
        ("99999999999999999999999999", seconds(60)),
        ("Sun, 06 Nov 1994 08:49:47 GMT", seconds(10)),
        ("Sunday, 06-Nov-94 08:49:47 GMT", seconds(10)),
        ("Sun Nov  6 08:49:47 1994", seconds(10)),
        ("Sun, 06 Nov 1994 08:49:36 GMT", seconds(0)),
        ("Sat, 06 Nov 2094 08:49:37 GMT", seconds(60)),
        ("", None),
        ("-1", None),
        ("+1", None),
        ("1.5", None),
        ("1s", None),
        ("soon", None),
        ("Sun, 06 Nov 1994 08:49:47", None),
        ("Sun, 06 Nov 1994 08:49:47 CET", None),
        ("Sun, 06 Nov 1994 24:00:00 GMT", None),
        ("Sun, 31 Nov 1994 08:49:47 GMT", None),
        ("Sat, 06 Nov 1994 08:49:47 GMT", None),
        ("Sat, 01 Jan 10000 00:00:00 GMT", None),
        ("Thu, 06 Nov 1969 08:49:47 GMT", None),
        ("Sun, 06 N\u{f6}v 1994 08:49:47 GMT", None),
    ] {
        assert_eq!(read(value), expected, "{value:?}");
    }
}

#[test]
fn what_a_stream_asks_to_wait_is_held_to_both_limits() {
    let millis = Duration::from_millis;
    let wait = |asked| reconnect_wait(asked, millis(1000), millis(100), millis(60_000));
    assert_eq!(wait(None), millis(1000));
    assert_eq!(wait(Some(Duration::ZERO)), millis(100));
    assert_eq!(wait(Some(millis(99))), millis(100));
    assert_eq!(wait(Some(millis(101))), millis(101));
    assert_eq!(wait(Some(millis(60_001))), millis(60_000));
    assert_eq!(wait(Some(Duration::MAX)), millis(60_000));
}

#[test]
fn ten_attempts_a_minute_and_no_more() {
    let start = Instant::now();
    let at = |seconds: u64| start + Duration::from_secs(seconds);
    let mut attempts = Attempts::new(10, Duration::from_secs(60));
    for n in 0..10 {
        assert_eq!(attempts.take(at(n)), Ok(()));
    }
    assert_eq!(attempts.take(at(10)), Err(Duration::from_secs(50)));
    assert_eq!(attempts.take(at(59)), Err(Duration::from_secs(1)));
    assert_eq!(attempts.take(at(60)), Ok(()));
    assert_eq!(attempts.take(at(60)), Err(Duration::from_secs(1)));
    assert_eq!(attempts.take(at(61)), Ok(()));
}

#[test]
fn in_any_minute_there_are_at_most_ten_attempts() {
    let start = Instant::now();
    let mut attempts = Attempts::new(10, Duration::from_secs(60));
    let mut taken = Vec::new();
    for step in 0..6000_u64 {
        // Uneven steps, about six a second.
        let now = start + Duration::from_millis(step * 170 + step * step % 97);
        if attempts.take(now).is_ok() {
            taken.push(now);
        }
        assert!(attempts.at.len() <= 10);
    }
    assert!(taken.len() > 100, "{}", taken.len());
    for group in taken.windows(11) {
        assert!(group[10] - group[0] >= Duration::from_secs(60));
    }
}

#[test]
fn a_clock_that_does_not_move_gives_no_more_attempts() {
    let now = Instant::now();
    let mut attempts = Attempts::new(0, Duration::from_secs(60));
    assert_eq!(attempts.take(now), Ok(()));
    assert_eq!(attempts.take(now), Err(Duration::from_secs(60)));
}

#[test]
fn attempts_that_came_to_something_are_given_back() {
    let now = Instant::now();
    let mut attempts = Attempts::new(2, Duration::from_secs(60));
    assert_eq!(attempts.take(now), Ok(()));
    assert_eq!(attempts.take(now), Ok(()));
    attempts.give_back(1);
    assert_eq!(attempts.take(now), Ok(()));
    assert_eq!(attempts.take(now), Err(Duration::from_secs(60)));
    // More than there are is all of them.
    attempts.give_back(5);
    assert_eq!(attempts.take(now), Ok(()));
    assert_eq!(attempts.take(now), Ok(()));
    assert!(attempts.take(now).is_err());
}
