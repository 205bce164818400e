//! Streams of events, good and bad, however they are cut.

use proptest::prelude::*;

use super::*;

#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    pieces: Vec<Piece>,
    last_id: Option<String>,
    retry: Option<Duration>,
    comments: u64,
    ignored_ids: u64,
    data_bytes: u64,
}

fn read(stream: &[u8], reads: &[usize], limit: usize) -> Seen {
    let mut sse = Sse::new(limit);
    let mut pieces = Vec::new();
    let mut rest = stream;
    let mut reads = reads.iter().cycle();
    while !rest.is_empty() {
        let read = reads.next().map_or(1, |n| (*n).clamp(1, rest.len()));
        sse.push(&rest[..read]);
        rest = &rest[read..];
        while let Some(piece) = sse.next_piece() {
            pieces.push(piece);
        }
    }
    Seen {
        pieces,
        last_id: sse.last_event_id().map(str::to_owned),
        retry: sse.retry(),
        comments: sse.comments(),
        ignored_ids: sse.ignored_ids(),
        data_bytes: sse.data_bytes(),
    }
}

fn pieces(stream: impl AsRef<[u8]>) -> Vec<Piece> {
    read(stream.as_ref(), &[usize::MAX], 1024).pieces
}

fn message(data: impl AsRef<[u8]>) -> Piece {
    Piece::Event(Event {
        event: None,
        data: data.as_ref().to_vec(),
        id: None,
    })
}

/// Cuts a whole text into its lines, each with whether a line end follows.
fn naive_lines(stream: &[u8]) -> Vec<(Vec<u8>, bool)> {
    let mut lines = vec![(Vec::new(), false)];
    let mut bytes = stream.iter().peekable();
    while let Some(byte) = bytes.next() {
        if *byte == b'\r' && bytes.peek() == Some(&&b'\n') {
            bytes.next();
        }
        let line = lines.last_mut().unwrap();
        if matches!(byte, b'\r' | b'\n') {
            line.1 = true;
            lines.push((Vec::new(), false));
        } else {
            line.0.push(*byte);
        }
    }
    lines
}

/// The obvious way to do it, with the whole stream at hand.
fn naive(stream: &[u8], limit: usize) -> Seen {
    let mut seen = Seen::default();
    let (mut name, mut id, mut data) = (None::<String>, None::<String>, None::<Vec<u8>>);
    let is_over = |data: &Option<Vec<u8>>| data.as_ref().is_some_and(|data| data.len() > limit);
    for (line, ended) in naive_lines(stream.strip_prefix(BOM).unwrap_or(stream)) {
        if line.is_empty() {
            if !ended {
                continue;
            }
            let (name, id, data) = (name.take(), id.take(), data.take());
            if let Some(id) = &id {
                seen.last_id = Some(id.clone()).filter(|id| !id.is_empty());
            }
            match (data, id) {
                (Some(data), id) if data.len() > limit => {
                    seen.pieces.push(Piece::OverLimitEnd {
                        tail: data[data.len().saturating_sub(KEPT_ENDS)..].to_vec(),
                        bytes: data.len() as u64,
                        id,
                    });
                }
                (Some(data), id) if !data.is_empty() || id.is_none() => {
                    seen.pieces.push(Piece::Event(Event {
                        event: name,
                        data,
                        id,
                    }));
                }
                (_, Some(id)) => seen.pieces.push(Piece::Primed { id }),
                (_, None) => {}
            }
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(0) => {
                seen.comments += 1;
                continue;
            }
            Some(at) => {
                let value = &line[at + 1..];
                (&line[..at], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (&line[..], &line[line.len()..]),
        };
        if field == b"data" {
            let was_over = is_over(&data);
            // A line that has not ended begins with its first byte behind the colon.
            if !ended && colon.is_none_or(|at| at + 1 == line.len()) {
                continue;
            }
            let mut more = Vec::new();
            if data.is_some() {
                more.push(b'\n');
            }
            more.extend_from_slice(value);
            seen.data_bytes += more.len() as u64;
            data.get_or_insert_default().extend_from_slice(&more);
            if is_over(&data) && !was_over {
                let head = &data.as_ref().unwrap()[..KEPT_ENDS.min(limit)];
                seen.pieces.push(Piece::OverLimit {
                    head: head.to_vec(),
                });
            }
        }
        if !ended {
            continue;
        }
        let text = String::from_utf8_lossy(value).into_owned();
        match field {
            b"event" => name = Some(text).filter(|name| !matches!(&**name, "" | "message")),
            b"id" if value.contains(&0) => seen.ignored_ids += 1,
            b"id" => id = Some(text),
            b"retry" if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                seen.retry = Some(Duration::from_millis(text.parse().unwrap()));
            }
            _ => {}
        }
    }
    seen
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        4 => Just(&b"data: x"[..]),
        2 => Just(&b"data"[..]),
        2 => Just(&b"data:"[..]),
        2 => Just(&b"id: 7"[..]),
        1 => Just(&b"id"[..]),
        1 => Just(&b"id:\0"[..]),
        1 => Just(&b"event: ping"[..]),
        1 => Just(&b"event: message"[..]),
        1 => Just(&b"retry: 15"[..]),
        1 => Just(&b"retry: 1x"[..]),
        1 => Just(&b": keep alive"[..]),
        1 => Just(&b"unknown: field"[..]),
        1 => Just(BOM),
        1 => Just(&b"\xef\xbb"[..]),
        1 => Just(&b"\xff\xc3"[..]),
        3 => prop_oneof![Just(&b" "[..]), Just(&b":"[..])],
        4 => Just(&b"\r"[..]),
        8 => Just(&b"\n"[..]),
        4 => Just(&b"\r\n"[..]),
        2 => Just(&b"abcdefghijklmnopqrstuvwxyz"[..]),
    ];
    proptest::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn where_the_reads_end_makes_no_difference(
        stream in stream(),
        reads in proptest::collection::vec(1_usize..40, 1..8),
        limit in 0_usize..60,
    ) {
        let expected = naive(&stream, limit);
        prop_assert_eq!(&read(&stream, &[1], limit), &expected);
        prop_assert_eq!(&read(&stream, &[usize::MAX], limit), &expected);
        prop_assert_eq!(&read(&stream, &reads, limit), &expected);
    }
}

#[test]
fn every_line_end_ends_a_line() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = format!("data: a{end}data:b{end}{end}data:c{end}{end}");
        assert_eq!(pieces(stream), [message("a\nb"), message("c")], "{end:?}");
    }
    assert_eq!(
        pieces("data: a\r\r\ndata: b\n\r\n"),
        [message("a"), message("b")]
    );
}

#[test]
fn an_event_is_given_out_at_the_carriage_return_that_ends_it() {
    let mut sse = Sse::new(1024);
    sse.push(b"data: a\r\n\r");
    assert_eq!(sse.next_piece(), Some(message("a")));
    sse.push(b"\ndata: b\n\n");
    assert_eq!(sse.next_piece(), Some(message("b")));
    assert_eq!(sse.next_piece(), None);
}

#[test]
fn one_space_behind_the_colon_does_not_count() {
    assert_eq!(pieces("data:  a \n\n"), [message(" a ")]);
    // A space before the colon makes another name of it.
    assert_eq!(pieces("data : a\n\n"), []);
}

#[test]
fn a_byte_order_mark_counts_only_at_the_start() {
    assert_eq!(pieces(b"\xef\xbb\xbfdata: a\n\n"), [message("a")]);
    assert_eq!(
        pieces(b"\ndata: a\n\n\xef\xbb\xbfdata: b\n\n"),
        [message("a")]
    );
    assert_eq!(pieces(b"\xef\xbbdata: a\n\ndata: b\n\n"), [message("b")]);
}

#[test]
fn names_and_ids_belong_to_their_event() {
    let found =
        pieces("event: endpoint\nid: 1\ndata: /x\n\ndata: y\n\nevent: message\ndata: z\n\n");
    let endpoint = Piece::Event(Event {
        event: Some("endpoint".to_owned()),
        data: b"/x".to_vec(),
        id: Some("1".to_owned()),
    });
    assert_eq!(found, [endpoint, message("y"), message("z")]);
}

#[test]
fn an_id_without_data_primes() {
    let mut sse = Sse::new(1024);
    sse.push(b"id: 1\n\nid: 2\ndata:\n\nid: 3\ndata: x\n\nevent: ping\ndata\n\nevent: only\n\n");
    let primed = |id: &str| Piece::Primed { id: id.to_owned() };
    assert_eq!(sse.last_event_id(), None);
    assert_eq!(sse.next_piece(), Some(primed("1")));
    assert_eq!(sse.last_event_id(), Some("1"));
    assert_eq!(sse.next_piece(), Some(primed("2")));
    // The event with the id 3 has not been taken out.
    assert_eq!(sse.last_event_id(), Some("2"));
    assert!(matches!(sse.next_piece(), Some(Piece::Event(_))));
    assert_eq!(sse.last_event_id(), Some("3"));
    let ping = Event {
        event: Some("ping".to_owned()),
        data: Vec::new(),
        id: None,
    };
    assert_eq!(sse.next_piece(), Some(Piece::Event(ping)));
    assert_eq!(sse.next_piece(), None);
    sse.push(b"id\n\n");
    assert_eq!(sse.next_piece(), Some(primed("")));
    assert_eq!(sse.last_event_id(), None);
}

#[test]
fn an_id_counts_only_once_its_event_has_ended() {
    let mut sse = Sse::new(1024);
    sse.push(b"id: 1\ndata: x\n");
    assert_eq!((sse.next_piece(), sse.last_event_id()), (None, None));
    assert!(sse.is_midway());
    sse.push(b"\n");
    assert!(!sse.is_midway());
    assert!(sse.next_piece().is_some());
    assert_eq!(sse.last_event_id(), Some("1"));
}

#[test]
fn an_id_with_a_nul_or_over_the_limit_is_ignored_and_counted() {
    let long = format!("id: {}\ndata: x\n\n", "i".repeat(ID_BYTES + 1));
    let seen = read(
        format!("id: a\0b\ndata: x\n\n{long}").as_bytes(),
        &[1000],
        64,
    );
    assert_eq!((seen.ignored_ids, seen.last_id), (2, None));
    let seen = read(
        long.replacen('i', "", 2)
            .replacen("d: ", "id: ", 1)
            .as_bytes(),
        &[1000],
        64,
    );
    assert_eq!(seen.ignored_ids, 0);
    assert_eq!(seen.last_id.map(|id| id.len()), Some(ID_BYTES));
}

#[test]
fn retry_is_digits_alone() {
    let retry = |value: &str| read(format!("retry:{value}\n").as_bytes(), &[3], 64).retry;
    assert_eq!(retry("0"), Some(Duration::ZERO));
    assert_eq!(retry(" 1500"), Some(Duration::from_millis(1500)));
    assert_eq!(
        retry("99999999999999999999999"),
        Some(Duration::from_millis(u64::MAX))
    );
    for bad in ["", " ", "-1", "+1", "1.5", "1e3", "1 ", "  1", "\u{661}"] {
        assert_eq!(retry(bad), None, "{bad:?}");
    }
    assert_eq!(retry(&"0".repeat(RETRY_DIGITS + 1)), None);
}

#[test]
fn comments_are_counted_and_say_nothing() {
    let seen = read(b":\n: data: x\n\n:::\ndata: a\n:\n\n", &[2], 64);
    assert_eq!((seen.pieces, seen.comments), (vec![message("a")], 4));
    assert_eq!(seen.data_bytes, 1);
}

#[test]
fn bytes_that_are_no_text_are_kept_as_data() {
    assert_eq!(pieces(b"data: \xff\0\xc3\n\n"), [message(b"\xff\0\xc3")]);
}

#[test]
fn data_at_the_limit_passes_and_data_over_it_does_not() {
    let over = |head: &str, tail: &str| {
        let end = Piece::OverLimitEnd {
            tail: tail.into(),
            bytes: tail.len() as u64,
            id: Some("9".to_owned()),
        };
        vec![Piece::OverLimit { head: head.into() }, end, message("x")]
    };
    let at = |stream: &str| read(stream.as_bytes(), &[usize::MAX], 5);
    assert_eq!(
        at("data:12345\n\ndata:x\n\n").pieces,
        [message("12345"), message("x")]
    );
    assert_eq!(at("data:12\ndata:45\n\n").pieces, [message("12\n45")]);
    let seen = at("id:9\ndata:123456\n\ndata:x\n\n");
    assert_eq!(seen.pieces, over("12345", "123456"));
    // Or the same event would be sent again after each reconnection.
    assert_eq!(seen.last_id.as_deref(), Some("9"));
    let seen = at("data:123\ndata:45\nid:9\n\ndata:x\n\n").pieces;
    assert_eq!(seen, over("123\n4", "123\n45"));
}

#[test]
fn both_ends_of_a_long_event_are_kept() {
    let data: Vec<u8> = (b'a'..=b'w').cycle().take(200_000).collect();
    let (stream, head) = (
        [b"data:", &data[..], b"\n\n"].concat(),
        data[..KEPT_ENDS].to_vec(),
    );
    let end = Piece::OverLimitEnd {
        tail: data[data.len() - KEPT_ENDS..].to_vec(),
        bytes: data.len() as u64,
        id: None,
    };
    let expected = [Piece::OverLimit { head }, end];
    for reads in [1, 1000, KEPT_ENDS, usize::MAX] {
        assert_eq!(read(&stream, &[reads], 150_000).pieces, expected, "{reads}");
    }
}

#[test]
fn an_event_without_end_is_never_held() {
    let mut sse = Sse::new(64 * 1024);
    sse.push(b"data: ");
    let mut starts = 0;
    for _ in 0..10_000 {
        sse.push(&[b'x'; 1000]);
        while sse.next_piece().is_some() {
            starts += 1;
        }
        assert!(sse.block.data.capacity() <= 128 * 1024);
    }
    assert_eq!(starts, 1);
    assert_eq!(sse.data_bytes(), 10_000_000);
}

#[test]
fn long_comments_and_unknown_fields_are_never_held() {
    for start in [":", "unknown", "unknown:", "event:", "id:", "retry:"] {
        let mut sse = Sse::new(64 * 1024);
        sse.push(start.as_bytes());
        for _ in 0..1000 {
            sse.push(&[b'x'; 1000]);
        }
        assert!(sse.value.capacity() <= 2 * ID_BYTES + 8, "{start}");
        sse.push(b"\ndata: x\n\n");
        assert!(matches!(sse.next_piece(), Some(Piece::Event(_))), "{start}");
    }
}
