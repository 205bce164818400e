//! Arguments in headers.

use serde_json::{Value, json};
use switchboard_testkit::http::{Http, Server};
use switchboard_testkit::{HeaderTools, Options};

use crate::http::client::Modern;

async fn serve(header_tools: HeaderTools) -> Server {
    let options = Options {
        header_tools,
        ..Options::default()
    };
    Http::new(options).serve().await.unwrap()
}

fn route(arguments: Value, headers: &[(&str, &str)]) -> Modern {
    let call = Modern::call("route_request", arguments);
    headers
        .iter()
        .fold(call, |call, (name, value)| call.with(name, value))
}

#[tokio::test]
async fn headers_that_mirror_the_arguments_are_accepted() {
    let server = serve(HeaderTools::Good).await;
    let arguments = json!({
        "region": " S\u{e3}o Paulo", "priority": 3, "dry_run": true, "client": {"tenant": "a b"}, "query": "x",
    });
    let headers = [
        ("Mcp-Param-Region", "=?base64?IFPDo28gUGF1bG8=?="),
        ("mcp-param-priority", "3"),
        ("Mcp-Param-Dry-Run", "true"),
        ("Mcp-Param-Tenant", "a b"),
    ];
    let answer = route(arguments.clone(), &headers).send(&server).await;
    assert_eq!(answer.status, 200);
    let text = answer.json().await["result"]["content"][0]["text"].take();
    assert_eq!(
        serde_json::from_str::<Value>(text.as_str().unwrap()).unwrap(),
        arguments
    );
    let nothing = json!({"region": "", "priority": null});
    assert_eq!(
        route(nothing, &[("Mcp-Param-Region", "")])
            .send(&server)
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn headers_that_say_something_else_are_refused() {
    let server = serve(HeaderTools::Good).await;
    let region = json!({"region": "eu"});
    for headers in [
        &[][..],
        &[("Mcp-Param-Region", "us")],
        &[("Mcp-Param-Region", "EU")],
        &[("Mcp-Param-Region", "=?base64?ZXU?=")],
        &[("Mcp-Param-Region", "eu"), ("Mcp-Param-Region", "eu")],
        &[("Mcp-Param-Region", "eu"), ("Mcp-Param-Priority", "1")],
    ] {
        let answer = route(region.clone(), headers).send(&server).await;
        assert_eq!(answer.status, 400, "{headers:?}");
        assert_eq!(answer.json().await["error"]["code"], -32020);
    }
}

#[tokio::test]
async fn tools_with_headers_are_listed_only_when_they_are_wanted() {
    for (header_tools, count) in [
        (HeaderTools::None, 7),
        (HeaderTools::Good, 8),
        (HeaderTools::Bad, 25),
    ] {
        let server = serve(header_tools).await;
        let list = Modern::new("tools/list", json!({})).send(&server).await;
        let tools = list.json().await["result"]["tools"].take();
        assert_eq!(tools.as_array().map(Vec::len), Some(count));
    }
}
