use super::*;

const BOUNDS: ChannelBounds = ChannelBounds {
    waiting: 3,
    waiting_bytes: 100,
    unread: None,
    kept: 2,
    kept_bytes: 10,
    all_bytes: 300,
};

fn channel() -> (Arc<Channel>, Arc<Counters>) {
    let counters = Arc::default();
    (Channel::new(1, BOUNDS, &counters), counters)
}

fn say(channel: &Channel, text: &'static str) -> bool {
    channel.send(Bytes::from_static(text.as_bytes()), Priority::CanDrop)
}

fn must_say(channel: &Channel, text: &'static str) -> bool {
    channel.send(Bytes::from_static(text.as_bytes()), Priority::MustArrive)
}

/// Reads what there is; `true` at the end of the stream.
fn read(channel: &Channel, reader: Reader) -> (Vec<(u64, String)>, bool) {
    let mut cx = Context::from_waker(Waker::noop());
    let mut all = Vec::new();
    loop {
        match channel.poll_next(reader, &mut cx) {
            Poll::Ready(Some((number, text))) => {
                all.push((number, String::from_utf8(text.to_vec()).unwrap()));
            }
            Poll::Ready(None) => return (all, true),
            Poll::Pending => return (all, false),
        }
    }
}

fn numbered(pairs: &[(u64, &str)]) -> Vec<(u64, String)> {
    let pairs = pairs.iter();
    pairs
        .map(|(number, text)| (*number, (*text).to_owned()))
        .collect()
}

#[test]
fn messages_are_read_in_order_and_numbered() {
    let (channel, _) = channel();
    assert!(say(&channel, "a") && say(&channel, "b"));
    let reader = channel.attach(None).unwrap();
    assert_eq!(
        read(&channel, reader),
        (numbered(&[(1, "a"), (2, "b")]), false)
    );
    channel.finish(Some(Bytes::from_static(b"c")));
    assert_eq!(read(&channel, reader), (numbered(&[(3, "c")]), true));
    assert!(channel.is_closed() && !say(&channel, "d"));
}

#[test]
fn a_reader_resumes_behind_what_it_saw() {
    let (channel, _) = channel();
    let reader = channel.attach(None).unwrap();
    for text in ["a", "b", "c"] {
        assert!(say(&channel, text));
        read(&channel, reader);
    }
    channel.detach(reader);
    assert!(say(&channel, "d"));
    // Two messages are kept: `a` is not.
    assert_eq!(channel.attach(Some(0)), Err(NotKept));
    assert_eq!(channel.attach(Some(4)), Err(NotKept), "never read");
    assert_eq!(channel.attach(Some(u64::MAX)), Err(NotKept));
    let again = channel.attach(Some(1)).unwrap();
    let rest = numbered(&[(2, "b"), (3, "c"), (4, "d")]);
    assert_eq!(read(&channel, again), (rest, false));
    let last = channel.attach(Some(3)).unwrap();
    assert_eq!(read(&channel, last), (numbered(&[(4, "d")]), false));
}

#[test]
fn a_new_reader_ends_the_stream_of_the_old_one() {
    let (channel, _) = channel();
    let old = channel.attach(None).unwrap();
    let new = channel.attach(None).unwrap();
    assert!(say(&channel, "a"));
    assert_eq!(read(&channel, old), (vec![], true));
    channel.detach(old);
    assert_eq!(read(&channel, new), (numbered(&[(1, "a")]), false));
}

#[test]
fn notifications_over_the_bound_are_dropped_and_counted() {
    let (channel, counters) = channel();
    channel.attach(None).unwrap();
    assert!(say(&channel, "a") && say(&channel, "b") && say(&channel, "c"));
    assert!(!say(&channel, "d"));
    assert_eq!(counters.read(0).dropped, 1);
    assert!(!channel.is_closed());
}

#[test]
fn what_must_arrive_ends_a_stream_that_is_full() {
    let (channel, counters) = channel();
    let reader = channel.attach(None).unwrap();
    assert!(say(&channel, "a") && say(&channel, "b") && say(&channel, "c"));
    assert!(!must_say(&channel, "d"));
    assert!(channel.is_closed());
    assert_eq!(read(&channel, reader), (vec![], true));
    assert_eq!(counters.read(0).dropped, 1);
}

#[test]
fn without_a_reader_the_oldest_make_room_for_what_must_arrive() {
    let (channel, _) = channel();
    for text in ["a", "b", "c", "d"] {
        assert!(must_say(&channel, text));
    }
    let reader = channel.attach(None).unwrap();
    let (all, _) = read(&channel, reader);
    let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["b", "c", "d"]);
}

#[test]
fn without_a_reader_as_many_make_room_as_a_long_message_needs() {
    let (channel, counters) = channel();
    let long: &'static str = "x".repeat(99).leak();
    for text in ["a", "b", "c", long, "d", long] {
        assert!(must_say(&channel, text));
    }
    let reader = channel.attach(None).unwrap();
    let (all, _) = read(&channel, reader);
    let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["d", long]);
    assert_eq!(counters.read(0).dropped, 4);
}

#[test]
fn a_channel_that_may_never_be_read_keeps_little() {
    let bounds = ChannelBounds {
        unread: Some(2),
        ..BOUNDS
    };
    let channel = Channel::new(0, bounds, &Arc::default());
    assert!(!say(&channel, "a"));
    for text in ["b", "c", "d"] {
        assert!(must_say(&channel, text));
    }
    let reader = channel.attach(None).unwrap();
    assert!(say(&channel, "e"));
    let (all, _) = read(&channel, reader);
    let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["c", "d", "e"]);
}

#[test]
fn bytes_are_bounded_but_one_message_always_fits() {
    let (channel, _) = channel();
    let long: &'static str = "x".repeat(200).leak();
    assert!(say(&channel, long));
    assert!(!say(&channel, "a"));
    let reader = channel.attach(None).unwrap();
    assert_eq!(read(&channel, reader).0.len(), 1);
    assert!(say(&channel, "a"));
    // The long one was too long to be kept.
    assert_eq!(channel.attach(Some(0)), Err(NotKept));
    assert!(channel.attach(Some(1)).is_ok());
}

#[test]
fn a_closed_channel_keeps_nothing() {
    let (channel, _) = channel();
    let reader = channel.attach(None).unwrap();
    assert!(say(&channel, "a"));
    channel.close();
    assert_eq!(read(&channel, reader), (vec![], true));
    channel.finish(Some(Bytes::from_static(b"b")));
    assert_eq!(read(&channel, reader), (vec![], true));
}

/// Channels that share their counters.
fn channels(count: usize) -> (Vec<Arc<Channel>>, Arc<Counters>) {
    let counters = Arc::default();
    let bounds = ChannelBounds {
        kept_bytes: 100,
        ..BOUNDS
    };
    let channels = (0..count).map(|_| Channel::new(1, bounds, &counters));
    (channels.collect(), counters)
}

#[test]
fn all_channels_together_keep_no_more_than_their_bound() {
    let (channels, counters) = channels(10);
    let long: &'static str = "x".repeat(60).leak();
    for channel in &channels {
        let reader = channel.attach(None).unwrap();
        assert!(say(channel, long));
        // A reader gets everything, whatever the others keep.
        assert_eq!(read(channel, reader).0.len(), 1);
        assert!(counters.held_bytes() <= BOUNDS.all_bytes);
    }
    let kept = channels.iter().filter(|it| it.attach(Some(0)).is_ok());
    assert_eq!(kept.count(), 5);
    drop(channels);
    assert_eq!(counters.held_bytes(), 0);
}

#[test]
fn nothing_waits_for_missing_readers_beyond_the_bound_of_all_channels() {
    let (channels, counters) = channels(10);
    let long: &'static str = "x".repeat(60).leak();
    let waiting = channels.iter().filter(|channel| must_say(channel, long));
    assert_eq!(waiting.count(), 5);
    assert_eq!(counters.read(0).dropped, 5);
    // An answer without a place ends its stream, so that the client is not told of an empty one.
    let last = channels.last().unwrap();
    last.finish(Some(Bytes::from_static(long.as_bytes())));
    assert!(last.is_closed());
    assert_eq!(counters.held_bytes(), BOUNDS.all_bytes);
    // A client that reads gets its answer all the same.
    let reader = channels[6].attach(None).unwrap();
    channels[6].finish(Some(Bytes::from_static(long.as_bytes())));
    assert_eq!(read(&channels[6], reader).0.len(), 1);
    drop(channels);
    assert_eq!(counters.held_bytes(), 0);
}

#[test]
fn what_a_channel_only_keeps_makes_room_for_what_waits() {
    let (channels, counters) = channels(5);
    let long: &'static str = "x".repeat(60).leak();
    for channel in &channels {
        let reader = channel.attach(None).unwrap();
        assert!(say(channel, long));
        read(channel, reader);
        channel.detach(reader);
    }
    assert_eq!(counters.held_bytes(), BOUNDS.all_bytes);
    assert!(must_say(&channels[0], long));
    assert_eq!(channels[0].attach(Some(0)), Err(NotKept));
    assert_eq!(counters.held_bytes(), BOUNDS.all_bytes);
}
