//! The server's answers, checked with a real JSON parser.

use serde_json::{Value, json};

use super::*;

/// Hands out its parts one read at a time.
struct Parts<'a>(Vec<&'a str>);

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Ok(0);
        }
        let part = self.0.remove(0).as_bytes();
        buffer[..part.len()].copy_from_slice(part);
        Ok(part.len())
    }
}

/// Keeps every write apart.
#[derive(Default)]
struct Writes(Vec<Vec<u8>>);

impl Write for &mut Writes {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.push(buffer.to_vec());
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn answers(era: Era, parts: Vec<&str>) -> Vec<Vec<Value>> {
    let mut writes = Writes::default();
    Server::new(era, 3)
        .serve(Parts(parts), &mut writes)
        .unwrap();
    let read = |write: Vec<u8>| {
        let lines = String::from_utf8(write).unwrap();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    writes.0.into_iter().map(read).collect()
}

fn answer(era: Era, request: &Value) -> Value {
    let all = answers(era, vec![&format!("{request}\n")]);
    assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [1]);
    all[0][0].clone()
}

#[test]
fn an_echo_keeps_its_id_and_its_escapes() {
    for id in [json!(7), json!("seven \"7\""), json!(-1)] {
        let message = "tab\t quote\" back\\ \u{1F600}";
        let got = answer(
            Era::Legacy,
            &json!({"params": {"_meta": {"name": "x", "id": 9}, "arguments": {"other": [1], "message": message}, "name": "echo"},
                "method": "tools/call", "id": id, "jsonrpc": "2.0"}),
        );
        assert_eq!(
            got,
            json!({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": message}], "isError": false}})
        );
    }
}

#[test]
fn the_answers_of_one_read_go_out_in_one_write() {
    let ping = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
    let three = [ping(1), ping(2), ping(3)].concat();
    let (head, tail) = three.split_at(70);
    let ids: Vec<Vec<i64>> = answers(Era::Legacy, vec![head, tail])
        .iter()
        .map(|write| {
            write
                .iter()
                .filter_map(|answer| answer["id"].as_i64())
                .collect()
        })
        .collect();
    assert_eq!(ids, [vec![1], vec![2, 3]]);
}

#[test]
fn notifications_and_noise_get_no_answer() {
    let lines = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\nnoise\n\n";
    assert!(answers(Era::Legacy, vec![lines]).concat().is_empty());
}

#[test]
fn each_era_knows_its_own_first_request() {
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}});
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    assert_eq!(answer(Era::Legacy, &discover)["error"]["code"], -32601);
    assert_eq!(
        answer(Era::Legacy, &initialize)["result"]["protocolVersion"],
        "2025-11-25"
    );
    assert_eq!(answer(Era::Modern, &initialize)["error"]["code"], -32601);
    let discovered = answer(Era::Modern, &discover);
    assert_eq!(
        discovered["result"]["supportedVersions"],
        json!(["2026-07-28"])
    );
    assert_eq!(discovered["result"]["resultType"], "complete");
}

#[test]
fn lists_and_big_texts_are_what_the_clients_expect() {
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for era in [Era::Legacy, Era::Modern] {
        assert_eq!(
            answer(era, &list)["result"]["tools"]
                .as_array()
                .unwrap()
                .len(),
            3
        );
        for big in [Big::Plain, Big::Lines] {
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": big.tool()}});
            assert_eq!(
                answer(era, &call)["result"]["content"][0]["text"],
                big.text()
            );
        }
    }
}
