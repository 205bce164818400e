//! Servers that ask a model: what reaches it in either API, and what comes back in either era.

use serde_json::json;
use switchboard::host::Host;
use switchboard::talk::Unasked;
use switchboard::talk::sampling::Sampler;
use switchboard_testkit::models::{self, Given, ModelApi};

use crate::sampling_support::{ERAS, anthropic, ask, call, host, openai, plain, text};

#[tokio::test]
async fn a_server_of_either_era_asks_either_api() {
    let (open, anth) = (
        ModelApi::start(models::openai),
        ModelApi::start(models::anthropic),
    );
    let (open, anth) = (open.unwrap(), anth.unwrap());
    for protocol in ERAS {
        let samplers = [
            Sampler::new(openai(&open), Unasked),
            Sampler::new(anthropic(&anth), Unasked),
        ];
        for sampler in samplers {
            let host = host(Host::builder().sample(sampler), protocol);
            let told = call(&host, json!({"prompt": "hello"})).await;
            assert_eq!(told, (true, "You said: hello".to_owned()), "{protocol:?}");
            host.shutdown().await;
        }
    }
    assert_eq!((open.requests().len(), anth.requests().len()), (2, 2));
}

#[tokio::test]
async fn everything_of_a_request_reaches_an_api_like_openais() {
    let api = ModelApi::start(models::openai).unwrap();
    let sampler = Sampler::new(openai(&api).models(["gpt-large".to_owned()]), Unasked);
    let question = json!({
        "messages": [
            {"role": "user", "content": [text("look"), {"type": "image", "data": "aGk=", "mimeType": "image/png"},
                {"type": "audio", "data": "aGk=", "mimeType": "audio/mpeg"}]},
            {"role": "assistant", "content": [text("I see"),
                {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Oslo"}},
                {"type": "tool_use", "id": "2", "name": "weather", "input": {"city": "Rome"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "toolUseId": "2", "content": [text("sun"), text("wind")]},
                {"type": "tool_result", "toolUseId": "1", "content": [], "structuredContent": {"rain": 1}, "isError": true}]},
        ],
        "systemPrompt": "Be brief.", "maxTokens": 70, "temperature": 1.5, "stopSequences": ["END", "STOP"],
        "includeContext": "allServers", "metadata": {"x": 1},
        "modelPreferences": {"hints": [{"name": "claude"}, {"name": "LARGE"}], "costPriority": 1.0},
        "tools": [{"name": "weather", "description": "Tells it.", "inputSchema": {"type": "object"}}],
        "toolChoice": {"mode": "required"},
    });
    let answer = ask(&sampler, &question).await.unwrap();
    assert_eq!(
        answer,
        json!({
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "call_abc123", "name": "weather", "input": {"city": "Paris"}}],
            "model": "gpt-large-2026-01-01",
            "stopReason": "toolUse",
        })
    );
    let asked = &api.requests()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.header("content-type"), Some("application/json"));
    let call = |id: &str, city: &str| {
        let arguments = format!("{{\"city\":\"{city}\"}}");
        json!({"id": id, "type": "function", "function": {"name": "weather", "arguments": arguments}})
    };
    assert_eq!(
        asked.body,
        json!({
            "model": "gpt-large",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [text("look"),
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}},
                    {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}}]},
                {"role": "assistant", "content": "I see", "tool_calls": [call("1", "Oslo"), call("2", "Rome")]},
                {"role": "tool", "tool_call_id": "2", "content": "sun\nwind"},
                {"role": "tool", "tool_call_id": "1", "content": "error: {\"rain\":1}"},
            ],
            "max_tokens": 70,
            "temperature": 1.5,
            "stop": ["END", "STOP"],
            "tools": [{"type": "function",
                "function": {"name": "weather", "description": "Tells it.", "parameters": {"type": "object"}}}],
            "tool_choice": "required",
        })
    );
}

#[tokio::test]
async fn everything_of_a_request_reaches_anthropics_api() {
    let api = ModelApi::start(models::anthropic).unwrap();
    let sampler = Sampler::new(anthropic(&api), Unasked);
    let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/webp"});
    let question = json!({
        "messages": [
            {"role": "user", "content": [text("look"), image]},
            {"role": "assistant", "content": {"type": "tool_use", "id": "1", "name": "weather", "input": {}}},
            {"role": "user", "content": {"type": "tool_result", "toolUseId": "1", "content": [text("sun"), image],
                "isError": true}},
        ],
        "systemPrompt": "Be brief.", "maxTokens": 70, "temperature": 1.5, "stopSequences": ["END"],
        "modelPreferences": {"hints": [{}, {"name": ""}, {"name": "gpt"}]},
        "tools": [{"name": "weather", "inputSchema": {"type": "object"}}], "toolChoice": {"mode": "required"},
    });
    let answer = ask(&sampler, &question).await.unwrap();
    let used = json!({"type": "tool_use", "id": "toolu_01", "name": "weather", "input": {"city": "Paris"}});
    assert_eq!(
        answer,
        json!({"role": "assistant", "content": [text("I look it up."), used], "model": "claude-small",
            "stopReason": "toolUse"})
    );
    let asked = &api.requests()[0];
    assert_eq!(asked.path, "/v1/messages");
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": "aGk="}});
    assert_eq!(
        asked.body,
        json!({
            "model": "claude-small",
            "max_tokens": 70,
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": [text("look"), image]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "weather", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1",
                    "content": [text("sun"), image], "is_error": true}]},
            ],
            "temperature": 1.0,
            "stop_sequences": ["END"],
            "tools": [{"name": "weather", "input_schema": {"type": "object"}}],
            "tool_choice": {"type": "any"},
        })
    );
}

#[tokio::test]
async fn why_a_model_stopped_is_told_in_the_protocols_words() {
    for (finish, word, stop) in [
        ("stop", json!(null), "endTurn"),
        ("stop", json!("END"), "stopSequence"),
        ("length", json!(null), "maxTokens"),
        ("content_filter", json!(null), "content_filter"),
    ] {
        let api = ModelApi::start(move |_| {
            let message = json!({"role": "assistant", "content": "x"});
            let choice = json!({"message": message, "finish_reason": finish, "stop_reason": word});
            Given::json(200, &json!({"model": "m", "choices": [choice]}))
        })
        .unwrap();
        let mut question = plain();
        question["stopSequences"] = json!(["END"]);
        let answer = ask(&Sampler::new(openai(&api), Unasked), &question)
            .await
            .unwrap();
        assert_eq!(answer["stopReason"], stop);
        assert_eq!(answer["content"], text("x"));
    }
    for (reason, stop) in [
        ("end_turn", "endTurn"),
        ("stop_sequence", "stopSequence"),
        ("max_tokens", "maxTokens"),
        ("refusal", "refusal"),
    ] {
        let api = ModelApi::start(move |_| {
            Given::json(
                200,
                &json!({"content": [text("a"), text("b")], "stop_reason": reason}),
            )
        })
        .unwrap();
        let answer = ask(&Sampler::new(anthropic(&api), Unasked), &plain())
            .await
            .unwrap();
        assert_eq!(answer["stopReason"], stop);
        // Older versions of the protocol take one block and no array.
        assert_eq!(answer["content"], text("ab"));
        assert_eq!(answer["model"], "claude-small");
    }
}
