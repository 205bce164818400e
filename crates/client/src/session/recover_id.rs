//! Recovers the id of a message that cannot be parsed whole: too long, or malformed.

use switchboard_wire::RequestId;

/// The sender of a message, as far as a part of it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MessageOwner {
    /// The answer to this request of ours.
    Request(RequestId),
    /// A request or notification of the server's own; an id in it is not one of ours.
    Server,
    /// This part does not tell.
    Unknown,
}

/// Finds the owner of a message from the start of its text.
pub(crate) fn owner_in_head(head: &[u8]) -> MessageOwner {
    let mut seen = HeadSeen::default();
    // Reading stops at the first nested value; the members before it decide.
    read_head(head, &mut seen);
    match seen {
        HeadSeen { id: Some(id), .. } if seen.answers || !seen.asks => MessageOwner::Request(id),
        HeadSeen { asks: true, .. } if !seen.answers => MessageOwner::Server,
        _ => MessageOwner::Unknown,
    }
}

#[derive(Default)]
struct HeadSeen {
    id: Option<RequestId>,
    asks: bool,
    answers: bool,
}

fn read_head(head: &[u8], seen: &mut HeadSeen) -> Option<()> {
    let mut rest = head.trim_ascii_start().strip_prefix(b"{")?;
    loop {
        let (key, after) = string(rest.trim_ascii_start())?;
        let value = after
            .trim_ascii_start()
            .strip_prefix(b":")?
            .trim_ascii_start();
        match key {
            br#""method""# | br#""params""# => seen.asks = true,
            br#""result""# | br#""error""# => seen.answers = true,
            _ => {}
        }
        let (text, after) = scalar(value)?;
        if key == br#""id""# {
            seen.id = as_id(text);
        }
        rest = after.trim_ascii_start().strip_prefix(b",")?;
    }
}

/// Finds the id of a message from the end of its text: many servers write it last.
pub(crate) fn id_in_tail(tail: &[u8]) -> Option<RequestId> {
    let tail = tail.trim_ascii_end();
    memchr::memmem::rfind_iter(tail, br#""id""#).find_map(|at| {
        let before = tail.get(..at)?.trim_ascii_end().last()?;
        if !matches!(before, b',' | b'{') {
            return None;
        }
        let value = tail.get(at + 4..)?.trim_ascii_start().strip_prefix(b":")?;
        let (id, mut rest) = scalar(value.trim_ascii_start())?;
        // Only plain members and the end of the message may follow; otherwise it is an inner id.
        while let Some(more) = rest.trim_ascii_start().strip_prefix(b",") {
            let (_, after) = string(more.trim_ascii_start())?;
            let value = after.trim_ascii_start().strip_prefix(b":")?;
            rest = scalar(value.trim_ascii_start())?.1;
        }
        (rest.trim_ascii_start() == b"}")
            .then(|| as_id(id))
            .flatten()
    })
}

fn as_id(text: &[u8]) -> Option<RequestId> {
    RequestId::from_json(std::str::from_utf8(text).ok()?)
}

/// Splits off a string with its quotes.
fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    text.strip_prefix(b"\"")?;
    let mut end = 1;
    loop {
        end += memchr::memchr2(b'"', b'\\', text.get(end..)?)?;
        if text.get(end) == Some(&b'"') {
            return text.split_at_checked(end + 1);
        }
        end += 2;
    }
}

/// Splits off a string, number or literal; `None` for an object or array.
fn scalar(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if text.starts_with(b"\"") {
        return string(text);
    }
    let end = text
        .iter()
        .position(|byte| matches!(byte, b',' | b'}' | b' '))?;
    let is_plain = text
        .get(..end)?
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    (end > 0 && is_plain).then(|| text.split_at_checked(end))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: i64) -> MessageOwner {
        MessageOwner::Request(RequestId::Number(number))
    }

    #[test]
    fn the_id_is_found_before_the_result() {
        let head = br#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"text":"xxxx"#;
        assert_eq!(owner_in_head(head), of(7));
        let head = br#" { "id" : "a,b" , "result" : {"#;
        assert_eq!(owner_in_head(head), MessageOwner::Request("a,b".into()));
        assert_eq!(owner_in_head(br#"{"id":7,"error":"xxx"#), of(7));
        assert_eq!(owner_in_head(br#"{"id":7,"resu"#), of(7));
    }

    #[test]
    fn a_head_that_does_not_say_is_left_open() {
        for head in [
            &br#"{"jsonrpc":"2.0","result":{"id":7"#[..],
            br#"{"id":1.5,"result":{"#,
            br#"{"x":["#,
            b"not json",
            b"",
        ] {
            assert_eq!(owner_in_head(head), MessageOwner::Unknown);
        }
    }

    #[test]
    fn the_server_s_own_messages_are_not_answers() {
        for head in [
            &br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"id":7"#[..],
            br#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"#,
            br#"{"id":7,"params":{"#,
        ] {
            assert_eq!(owner_in_head(head), MessageOwner::Server);
        }
        // Some servers repeat the method in their answer.
        assert_eq!(owner_in_head(br#"{"method":"m","id":7,"result":{"#), of(7));
    }

    #[test]
    fn the_id_is_found_after_the_result() {
        let tail = br#"xxxx"}]},"jsonrpc":"2.0","id":7}"#;
        assert_eq!(id_in_tail(tail), Some(RequestId::Number(7)));
        let tail = br#"xxxx"}]},"id":"seven","jsonrpc":"2.0"}"#;
        assert_eq!(id_in_tail(tail), Some(RequestId::from("seven")));
    }

    #[test]
    fn an_inner_id_is_not_taken_for_the_message_s() {
        assert_eq!(id_in_tail(br#"xx"},"x":{"id":7}}"#), None);
        assert_eq!(id_in_tail(br#"xx \"id\":7}"}"#), None);
        assert_eq!(id_in_tail(br#"xx"}]}}"#), None);
    }
}
