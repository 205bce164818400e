//! What arguments may be, and what is then got and read.

use serde_json::json;
use switchboard_testkit::Options;

use super::talking;
use crate::server::client::Client;

#[tokio::test]
async fn arguments_are_completed() {
    let prompt = json!({"type": "ref/prompt", "name": "travel"});
    let template = json!({"type": "ref/resource", "uri": "note://{topic}/{number}"});
    let cases = [
        (
            &prompt,
            "country",
            "",
            json!({}),
            json!(["France", "Japan", "Jordan"]),
        ),
        (
            &prompt,
            "country",
            "j",
            json!({}),
            json!(["Japan", "Jordan"]),
        ),
        (
            &prompt,
            "city",
            "",
            json!({"country": "Jordan"}),
            json!(["Amman", "Petra"]),
        ),
        (&prompt, "city", "P", json!({}), json!(["Paris", "Petra"])),
        (&prompt, "city", "P", json!({"country": "Japan"}), json!([])),
        (
            &template,
            "topic",
            "b",
            json!({}),
            json!(["birds", "books"]),
        ),
        (
            &template,
            "number",
            "11",
            json!({"topic": "birds"}),
            json!([
                "11", "110", "111", "112", "113", "114", "115", "116", "117", "118", "119",
            ]),
        ),
    ];
    for mut client in Client::both(talking()).await {
        for (reference, name, value, known, values) in &cases {
            let argument = json!({"name": name, "value": value});
            let mut params = json!({"ref": reference, "argument": argument});
            if known != &json!({}) {
                params["context"] = json!({"arguments": known});
            }
            let result = client.result("completion/complete", params).await;
            let total = values.as_array().unwrap().len();
            let wanted = json!({"values": values, "total": total, "hasMore": false});
            assert_eq!(result["completion"], wanted, "{name}={value}");
        }
        let params = json!({"ref": template, "argument": {"name": "number", "value": ""}});
        let completion = client.result("completion/complete", params).await["completion"].take();
        assert_eq!(completion["values"].as_array().unwrap().len(), 100);
        assert_eq!(
            (&completion["total"], &completion["hasMore"]),
            (&json!(120), &json!(true))
        );
    }
}

#[tokio::test]
async fn what_cannot_be_completed_is_refused() {
    let travel = json!({"type": "ref/prompt", "name": "travel"});
    let country = json!({"name": "country", "value": ""});
    let cases = [
        json!({"argument": country}),
        json!({"ref": travel}),
        json!({"ref": travel, "argument": {"name": "country"}}),
        json!({"ref": travel, "argument": {"name": "planet", "value": ""}}),
        json!({"ref": {"type": "ref/prompt", "name": "nope"}, "argument": country}),
        json!({"ref": {"type": "ref/tool", "name": "echo"}, "argument": country}),
        json!({"ref": {"type": "ref/resource", "uri": "note://birds/1"}, "argument": country}),
        json!({"ref": travel, "argument": country, "context": {"arguments": {"city": 5}}}),
    ];
    for mut client in Client::both(talking()).await {
        for params in &cases {
            let code = client.code("completion/complete", params.clone()).await;
            assert_eq!(code, -32602, "{params}");
        }
    }
}

#[tokio::test]
async fn what_was_completed_is_got_and_read() {
    for mut client in Client::both(talking()).await {
        let arguments = json!({"country": "Japan", "city": "Kyoto"});
        let params = json!({"name": "travel", "arguments": arguments});
        let result = client.result("prompts/get", params).await;
        let said = "Please plan a journey to Kyoto in Japan.";
        assert_eq!(result["messages"][0]["content"]["text"], said);
        let result = client
            .result("resources/read", json!({"uri": "note://birds/7"}))
            .await;
        assert_eq!(
            result["contents"],
            json!([{"uri": "note://birds/7", "mimeType": "text/plain", "text": "This is note 7 about birds.\n"}])
        );
    }
}

#[tokio::test]
async fn without_it_nothing_is_completed_and_no_such_note_is_there() {
    for mut client in Client::both(Options::default()).await {
        assert_eq!(client.code("completion/complete", json!({})).await, -32601);
        let error = client
            .error("resources/read", json!({"uri": "note://birds/1"}))
            .await;
        assert_eq!(error["message"], "no such resource");
    }
}
