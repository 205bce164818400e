//! What the input has the server do, one request after the other.

use std::fmt::Write as _;

use super::List;
use crate::bytes::Bytes;

/// Decides about every answer; at its end, all further pages are good and have a next one.
#[derive(Clone)]
pub(crate) struct Script {
    list: List,
    data: Vec<u8>,
    at: usize,
    fresh: usize,
}

/// What a server does about one request, given the text of its id.
pub(crate) enum Act {
    /// Writes this.
    Write(Vec<u8>),
    /// Writes this and closes.
    WriteAndClose(Vec<u8>),
}

impl Script {
    pub(crate) fn new(list: List, data: &[u8]) -> Self {
        Self {
            list,
            data: data.to_vec(),
            at: 0,
            fresh: 0,
        }
    }

    /// The next thing to do.
    pub(crate) fn next(&mut self, id: &str) -> Act {
        let data = std::mem::take(&mut self.data);
        let mut bytes = Bytes::new(data.get(self.at..).unwrap_or_default());
        let act = self.act(&mut bytes, id);
        let left = bytes.rest().len();
        self.at = data.len() - left;
        self.data = data;
        act
    }

    fn act(&mut self, bytes: &mut Bytes<'_>, id: &str) -> Act {
        let mut out = Vec::new();
        if bytes.is_empty() {
            self.fresh += 1;
            let cursor = format!("\"n{}\"", self.fresh);
            let item = self.item(&format!("\"fresh{}\"", self.fresh));
            let page = self.page(&item, Some(&cursor), "");
            answer(&mut out, id, &page);
            return Act::Write(out);
        }
        match bytes.below(16) {
            // Nothing at all.
            0 => {}
            1 => {
                out.extend(noise(bytes));
                return Act::WriteAndClose(out);
            }
            2 => {
                let code = i64::from(bytes.byte()) - 32_700;
                let line = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"}}}}"#
                );
                out.extend(line.into_bytes());
                out.push(b'\n');
            }
            3 => {
                out.extend(noise(bytes));
                out.push(b'\n');
                let page = self.any_page(bytes);
                answer(&mut out, id, &page);
            }
            // Answered twice, or under an id that nobody has.
            4 => {
                let page = self.any_page(bytes);
                answer(&mut out, id, &page);
                answer(&mut out, id, &page);
            }
            5 => {
                let page = self.any_page(bytes);
                answer(
                    &mut out,
                    bytes.one_of(&["null", "\"x\"", "1.5", "-7"]),
                    &page,
                );
            }
            // The result is what the input says, JSON or not.
            6 => {
                let text = noise(bytes);
                out.extend(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#).into_bytes());
                out.extend(text);
                out.extend(b"}\n");
            }
            7 => {
                let other: &[u8] = bytes.one_of(&[
                    br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
                    br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#,
                    br#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#,
                    br#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#,
                    br#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{}}"#,
                    br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
                ]);
                out.extend(other);
                out.push(b'\n');
                let page = self.any_page(bytes);
                answer(&mut out, id, &page);
            }
            // Longer than any message may be, with the id at its start.
            8 => {
                let long = "x".repeat(usize::from(bytes.byte()) * 64);
                let page = self.page("", Some(&format!("\"{long}\"")), "");
                answer(&mut out, id, &page);
            }
            _ => {
                let page = self.any_page(bytes);
                answer(&mut out, id, &page);
            }
        }
        Act::Write(out)
    }

    /// A page of items, good and bad.
    fn any_page(&mut self, bytes: &mut Bytes<'_>) -> String {
        let items: Vec<String> = (0..bytes.below(8)).map(|_| self.any_item(bytes)).collect();
        let cursor = match bytes.below(8) {
            0 => None,
            1 => Some("\"\"".to_owned()),
            2 => Some("null".to_owned()),
            3 => Some(
                bytes
                    .one_of(&["5", "[]", "\"\\ud800\"", "\"\\n\\u0000\""])
                    .to_owned(),
            ),
            4 => Some(format!("\"{}\"", "c".repeat(bytes.below(32)))),
            5 => Some("\"same\"".to_owned()),
            _ => {
                self.fresh += 1;
                Some(format!("\"f{}\"", self.fresh))
            }
        };
        let more = bytes.one_of(&[
            "",
            r#","resultType":"complete""#,
            r#","resultType":"input_required","requestState":"s""#,
            r#","resultType":"task","taskId":"t""#,
            r#","resultType":7"#,
            r#","ttlMs":5,"cacheScope":"public""#,
            r#","ttlMs":-1e308"#,
            r#","ttlMs":1e400"#,
            r#","nextCursor":"twice""#,
            r#","_meta":[[[[[[[[]]]]]]]]"#,
        ]);
        self.page(&items.join(","), cursor.as_deref(), more)
    }

    fn any_item(&self, bytes: &mut Bytes<'_>) -> String {
        match bytes.below(8) {
            0 => bytes
                .one_of(&["null", "[]", "{}", "1e400", "\"t\""])
                .to_owned(),
            1 => self.item("\"\""),
            2 => self.item(bytes.one_of(&["null", "\"\\ud800\"", "5", "[[[[[[[[[[[]]]]]]]]]]]"])),
            3 => format!("[{}]", self.item("\"nested\"")),
            _ => self.item(&format!("\"t{}\"", bytes.below(32))),
        }
    }

    /// An item with this name, or what stands in for one.
    fn item(&self, name: &str) -> String {
        match self.list {
            List::Tools => format!(r#"{{"name":{name},"inputSchema":{{"type":"object"}}}}"#),
            List::Prompts => format!(r#"{{"name":{name},"arguments":[]}}"#),
            List::Resources => format!(r#"{{"name":"r","uri":{name}}}"#),
            List::Templates => format!(r#"{{"name":"r","uriTemplate":{name}}}"#),
        }
    }

    fn page(&self, items: &str, cursor: Option<&str>, more: &str) -> String {
        let key = match self.list {
            List::Tools => "tools",
            List::Prompts => "prompts",
            List::Resources => "resources",
            List::Templates => "resourceTemplates",
        };
        let mut page = format!(r#"{{"{key}":[{items}]"#);
        if let Some(cursor) = cursor {
            // Writing to a string never fails.
            let _ = write!(page, r#","nextCursor":{cursor}"#);
        }
        page.push_str(more);
        page.push('}');
        page
    }
}

/// Bytes of the input as they are, but for line ends: what comes after one is the next line.
fn noise(bytes: &mut Bytes<'_>) -> Vec<u8> {
    bytes.some(200).to_vec()
}

fn answer(out: &mut Vec<u8>, id: &str, result: &str) {
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
    out.extend(line.into_bytes());
}
