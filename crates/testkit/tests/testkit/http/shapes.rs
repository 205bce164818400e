//! Results that are odd but valid, over HTTP.

use serde_json::json;
use switchboard_testkit::http::{Answers, Http};
use switchboard_testkit::{Options, shapes};

use crate::http::client::{Legacy, Modern};

#[tokio::test]
async fn odd_results_arrive_byte_for_byte_as_json_and_as_events() {
    let options = Options {
        shapes: true,
        ..Options::default()
    };
    for answers in [Answers::Json, Answers::Sse] {
        let http = Http::new(options.clone()).answers(answers);
        let server = http.serve().await.unwrap();
        let client = Legacy::open(&server, "2025-11-25").await;
        for (index, both) in shapes::legacy().iter().zip(shapes::modern()).enumerate() {
            let arguments = json!({"number": index + 1});
            let modern = Modern::call("shape", arguments.clone());
            let found = [
                client.call("shape", arguments).await,
                modern.send(&server).await,
            ];
            for (answer, shape) in found.into_iter().zip([both.0, both.1]) {
                let expected = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{shape}}}"#);
                let text = if answers == Answers::Sse {
                    let events = answer.events().await;
                    events.into_iter().map(|event| event.data).collect()
                } else {
                    answer.text().await
                };
                assert!(text == expected, "{}: {text}", index + 1);
            }
        }
    }
}
