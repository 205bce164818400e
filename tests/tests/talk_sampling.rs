//! Servers that ask a model: both eras, both APIs, and what may go wrong.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::field_reassign_with_default,
    reason = "a failure here is a failed test"
)]

mod host_support;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use host_support::{name, testkit};
use serde_json::{Value, json};
use switchboard::host::{Caller, Host, HostBuilder};
use switchboard::protocol::{CreateMessageParams, FromRaw as _, Raw};
use switchboard::secret::Secret;
use switchboard::session::Refusal;
use switchboard::spec::{Protocol, Settings};
use switchboard::talk::Sample;
use switchboard::talk::sampling::{
    Anthropic, Asking, Completing, Consent, Deciding, ModelAnswer, ModelRequest, OpenAi, Part,
    Provider, ProviderError, Sampler, SamplingBounds, Stop, Unasked, Verdict,
};
use switchboard_testkit::Options;
use switchboard_testkit::models::{self, Asked, Given, KEY, ModelApi};

const ERAS: [Protocol; 2] = [Protocol::Legacy, Protocol::Modern];

fn key() -> Secret<String> {
    Secret::from(KEY)
}

fn openai(api: &ModelApi) -> OpenAi {
    let base = format!("{}/v1/", api.base());
    OpenAi::new(&base, "gpt-small")
        .unwrap()
        .key(&key())
        .unwrap()
}

fn anthropic(api: &ModelApi) -> Anthropic {
    let api = Anthropic::new(&api.base(), "claude-small").unwrap();
    api.key(&key()).unwrap()
}

fn params(value: &Value) -> CreateMessageParams {
    CreateMessageParams::from_raw(&Raw::of(value).unwrap()).unwrap()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn plain() -> Value {
    json!({"messages": [{"role": "user", "content": text("hi")}], "maxTokens": 50})
}

/// Asks a sampler, and gives the answer as it goes to the server.
async fn ask(sampler: &Sampler, question: &Value) -> Result<Value, Refusal> {
    let (server, question) = (name("demo"), params(question));
    let answer = sampler.sample(&server, &question).await?;
    Ok(serde_json::to_value(answer).unwrap())
}

/// A host with the bundled server, which may ask.
fn host(builder: HostBuilder, protocol: Protocol) -> Host {
    let mut options = Options::default();
    options.asking_models = true;
    let mut settings = Settings::default();
    (settings.sampling, settings.protocol) = (true, protocol);
    let builder = builder.transport(name("demo"), testkit(options), settings);
    builder.build().unwrap()
}

async fn call(host: &Host, arguments: Value) -> (bool, String) {
    let tool = host.view(Caller::owner()).find("demo/ask_model").await;
    match tool.unwrap().call(arguments).await {
        Ok(result) => (!result.is_error(), result.text()),
        Err(error) => (false, error.to_string()),
    }
}

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
    assert_eq!((open.asked().len(), anth.asked().len()), (2, 2));
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
    let asked = &api.asked()[0];
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
    let asked = &api.asked()[0];
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

/// Remembers what the person is told.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Consent for Told {
    fn ask<'a>(&'a self, _: Asking<'a>) -> Deciding<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Yes))
    }

    fn failed(&self, _: &switchboard::spec::ServerName, provider: &str, error: &ProviderError) {
        self.0.lock().unwrap().push(format!("{provider}: {error}"));
    }
}

#[tokio::test]
async fn what_an_api_refuses_is_told_to_the_person_and_little_of_it_to_the_server() {
    let error = |kind: &str| {
        let message = format!("the {kind} for {KEY}\n of org-canary");
        json!({"type": "error", "error": {"type": kind, "message": message}})
    };
    for (status, kind, person, server) in [
        (
            401,
            "authentication_error",
            "does not take the key (401)",
            "the model could not be asked",
        ),
        (
            403,
            "permission_error",
            "does not take the key (403)",
            "the model could not be asked",
        ),
        (
            429,
            "rate_limit_error",
            "has no time (429)",
            "the model has no time now",
        ),
        (
            529,
            "overloaded_error",
            "has no time (529)",
            "the model has no time now",
        ),
        (
            503,
            "overloaded",
            "has no time (503)",
            "the model has no time now",
        ),
        (
            500,
            "api_error",
            "with status 500",
            "the model could not be asked",
        ),
        (
            302,
            "moved",
            "with status 302",
            "the model could not be asked",
        ),
    ] {
        let body = error(kind);
        let api = ModelApi::start(move |_| {
            let given = Given::json(status, &body);
            given
                .header("retry-after", "7")
                .header("location", "http://169.254.169.254/")
        })
        .unwrap();
        let told = Told::default();
        let sampler = Sampler::new(anthropic(&api).named("mine"), told.clone())
            .or(openai(&api).named("other"));
        let refusal = ask(&sampler, &plain()).await.unwrap_err();
        assert_eq!(refusal, Refusal::Failed(server.to_owned()), "{status}");
        let said = told.0.lock().unwrap().concat();
        assert!(
            said.starts_with("mine: ") && said.contains(person),
            "{said}"
        );
        assert!(
            said.contains(&format!("the {kind} for *** of org-canary")),
            "{said}"
        );
        assert_eq!(
            api.asked().len(),
            1,
            "nothing is sent twice, and nowhere else"
        );
    }
    // A real one repeats the key that it does not take.
    let api = ModelApi::start(models::openai).unwrap();
    let base = format!("{}/v1", api.base());
    let other = Secret::from("sk-other-canary-1");
    let provider = OpenAi::new(&base, "m").unwrap().key(&other).unwrap();
    assert!(!format!("{provider:?}").contains("canary"), "{provider:?}");
    let told = Told::default();
    ask(&Sampler::new(provider, told.clone()), &plain())
        .await
        .unwrap_err();
    let said = told.0.lock().unwrap().concat();
    assert!(
        said.contains("Incorrect API key") && !said.contains("canary"),
        "{said}"
    );
}

#[tokio::test]
async fn an_answer_that_is_none_or_too_much_or_too_late_is_told() {
    let huge = vec![b' '; (8 << 20) + 1];
    let bodies: [(Vec<u8>, &str); 6] = [
        (b"no".to_vec(), "it is no JSON"),
        (b"{}".to_vec(), "no choice"),
        (br#"{"choices": [{}]}"#.to_vec(), "no message"),
        (br#"{"choices": [{"message": {"tool_calls": [{}]}}]}"#.to_vec(), "no id or no name"),
        (
            br#"{"choices": [{"message": {"tool_calls": [{"id": "1", "function": {"name": "n", "arguments": "[]"}}]}}]}"#
                .to_vec(),
            "no JSON object",
        ),
        (huge, "longer than 8388608 bytes"),
    ];
    for (body, part) in bodies {
        let api = ModelApi::start(move |_| {
            let mut given = Given::json(200, &Value::Null);
            given.body.clone_from(&body);
            given
        })
        .unwrap();
        let told = Told::default();
        let refusal = ask(&Sampler::new(openai(&api), told.clone()), &plain()).await;
        assert_eq!(
            refusal,
            Err(Refusal::Failed("the model could not be asked".to_owned()))
        );
        let said = told.0.lock().unwrap().concat();
        assert!(said.contains(part), "{said}");
    }
    let api = ModelApi::start(|_| Given::never()).unwrap();
    let provider = openai(&api).timeout(Duration::from_millis(50));
    let refusal = ask(&Sampler::new(provider, Unasked), &plain())
        .await
        .unwrap_err();
    assert_eq!(
        refusal,
        Refusal::Failed("the model did not answer in time".to_owned())
    );
    let (base, provider) = (api.base(), openai(&api));
    drop(api);
    let told = Told::default();
    // The port is closed as soon as its last connection is accepted.
    while std::net::TcpStream::connect(base.trim_start_matches("http://")).is_ok() {
        tokio::task::yield_now().await;
    }
    let refusal = ask(&Sampler::new(provider, told.clone()), &plain())
        .await
        .unwrap_err();
    assert_eq!(
        refusal,
        Refusal::Failed("the model is not reached".to_owned())
    );
    assert!(told.0.lock().unwrap().concat().contains("no connection to"));
}

/// A model that remembers what it was asked, and takes tools or not.
#[derive(Clone, Default)]
struct Echo {
    asked: Arc<Mutex<Vec<ModelRequest>>>,
    tools: bool,
    models: Vec<String>,
}

impl Echo {
    fn new() -> Self {
        Self {
            models: vec!["echo-1".to_owned(), "echo-2".to_owned()],
            tools: true,
            ..Self::default()
        }
    }
}

impl Provider for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn models(&self) -> &[String] {
        &self.models
    }

    fn takes_tools(&self) -> bool {
        self.tools
    }

    fn complete<'a>(&'a self, request: &'a ModelRequest) -> Completing<'a> {
        self.asked.lock().unwrap().push(request.clone());
        let said = request.prompt.turns.iter().flat_map(|turn| &turn.parts);
        let parts: Vec<Part> = said
            .filter(|part| matches!(part, Part::Text(_)))
            .cloned()
            .collect();
        let answer = ModelAnswer {
            model: request.model.clone(),
            parts,
            stop: Stop::EndTurn,
            tokens: Some(10),
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// A person who says the same every time.
#[derive(Clone)]
struct Person {
    says: Verdict,
    shares: bool,
    asked: Arc<AtomicUsize>,
}

impl Person {
    fn saying(says: Verdict) -> Self {
        Self {
            says,
            shares: true,
            asked: Arc::default(),
        }
    }
}

impl Consent for Person {
    fn ask<'a>(&'a self, asking: Asking<'a>) -> Deciding<'a, Verdict> {
        assert_eq!((asking.server.as_str(), asking.provider), ("demo", "echo"));
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(self.says.clone()))
    }

    fn review<'a>(&'a self, _: Asking<'a>, answer: &'a ModelAnswer) -> Deciding<'a, bool> {
        assert_eq!(answer.model, "echo-1");
        Box::pin(std::future::ready(self.shares))
    }
}

#[tokio::test]
async fn a_person_says_yes_no_something_else_or_yes_for_all() {
    let (no, echo) = (Person::saying(Verdict::No), Echo::new());
    let refusal = ask(&Sampler::new(echo.clone(), no), &plain())
        .await
        .unwrap_err();
    assert_eq!(refusal, Refusal::ByThePerson);
    let mut review = Person::saying(Verdict::Yes);
    review.shares = false;
    assert_eq!(echo.asked.lock().unwrap().len(), 0, "nothing was sent");
    let refusal = ask(&Sampler::new(echo.clone(), review), &plain())
        .await
        .unwrap_err();
    assert_eq!(refusal, Refusal::ByThePerson);

    let yes = Person::saying(Verdict::Yes);
    let sampler = Sampler::new(echo.clone(), yes.clone());
    for times in 1..=2 {
        assert_eq!(
            ask(&sampler, &plain()).await.unwrap()["content"],
            text("hi")
        );
        assert_eq!(yes.asked.load(Ordering::SeqCst), times);
    }
    let session = Person::saying(Verdict::Session);
    let sampler = Sampler::new(echo.clone(), session.clone());
    for _ in 0..3 {
        ask(&sampler, &plain()).await.unwrap();
    }
    assert_eq!(session.asked.load(Ordering::SeqCst), 1);

    let mut prompt = echo.asked.lock().unwrap()[0].prompt.clone();
    prompt.turns[0].parts = vec![Part::Text("something else".to_owned())];
    let sampler = Sampler::new(echo, Person::saying(Verdict::Edited(prompt)));
    let answer = ask(&sampler, &plain()).await.unwrap();
    assert_eq!(answer["content"], text("something else"));
}

#[tokio::test]
async fn a_no_reaches_a_server_of_either_era() {
    for (protocol, part) in ERAS
        .into_iter()
        .zip(["the person said no (code -1)", "sampling/createMessage"])
    {
        let sampler = Sampler::new(Echo::new(), Person::saying(Verdict::No));
        let host = host(Host::builder().sample(sampler), protocol);
        let (is_good, told) = call(&host, json!({})).await;
        assert!(!is_good && told.contains(part), "{protocol:?}: {told}");
        host.shutdown().await;
    }
}

#[tokio::test]
async fn nothing_is_declared_to_a_server_that_may_not_ask() {
    for protocol in ERAS {
        let mut options = Options::default();
        options.asking_models = true;
        let mut settings = Settings::default();
        settings.protocol = protocol;
        let echo = Echo::new();
        let sampler = Sampler::new(echo.clone(), Unasked);
        let host = Host::builder().sample(sampler);
        let host = host.transport(name("demo"), testkit(options), settings);
        let host = host.build().unwrap();
        let (is_good, told) = call(&host, json!({})).await;
        assert!(!is_good && told.contains("declare"), "{protocol:?}: {told}");
        assert_eq!(echo.asked.lock().unwrap().len(), 0);
        host.shutdown().await;
    }
}

#[tokio::test]
async fn tokens_are_clamped_and_context_is_never_added() {
    let echo = Echo::new();
    let mut bounds = SamplingBounds::default();
    bounds.request_tokens = 30;
    let sampler = Sampler::new(echo.clone(), Unasked).bounds(bounds);
    let mut question = plain();
    for (wanted, sent) in [(29, 29), (30, 30), (31, 30), (u64::MAX, 30)] {
        question["maxTokens"] = json!(wanted);
        question["includeContext"] = json!("allServers");
        ask(&sampler, &question).await.unwrap();
        let asked = echo.asked.lock().unwrap();
        let asked = asked.last().unwrap();
        assert_eq!(asked.max_tokens, sent);
        assert_eq!(asked.prompt.turns.len(), 1);
        assert_eq!(asked.prompt.system, None);
    }
    let api = ModelApi::start(models::openai).unwrap();
    let sampler = Sampler::new(openai(&api).max_tokens(7), Unasked);
    ask(&sampler, &plain()).await.unwrap();
    assert_eq!(api.asked()[0].body["max_tokens"], 7);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_questions_asks_neither_the_person_nor_the_model() {
    let (echo, person) = (Echo::new(), Person::saying(Verdict::No));
    let mut bounds = SamplingBounds::default();
    bounds.requests_per_minute = 3;
    let sampler = Sampler::new(echo.clone(), person.clone()).bounds(bounds.clone());
    let mut refused = 0;
    for _ in 0..10_000 {
        match ask(&sampler, &plain()).await.unwrap_err() {
            Refusal::ByThePerson => {}
            Refusal::Failed(why) => {
                assert!(why.starts_with("more than 3 requests in a minute"), "{why}");
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((person.asked.load(Ordering::SeqCst), refused), (3, 9_997));
    tokio::time::advance(Duration::from_secs(61)).await;
    assert_eq!(ask(&sampler, &plain()).await, Err(Refusal::ByThePerson));
    assert_eq!(echo.asked.lock().unwrap().len(), 0);

    // What an answer took counts, and not what it might have taken.
    bounds.tokens_per_minute = 100;
    let sampler = Sampler::new(echo, Unasked).bounds(bounds);
    ask(&sampler, &plain()).await.unwrap();
    let mut question = plain();
    question["maxTokens"] = json!(80);
    let refusal = ask(&sampler, &question).await.unwrap_err();
    let Refusal::Failed(why) = refusal else {
        panic!("{refusal:?}");
    };
    assert!(why.contains("100 tokens"), "{why}");
    ask(&sampler, &plain()).await.unwrap();
}

#[tokio::test]
async fn what_breaks_the_rules_is_refused_before_anybody_is_asked() {
    let used = json!({"type": "tool_use", "id": "1", "name": "t", "input": {}});
    let result = json!({"type": "tool_result", "toolUseId": "1", "content": []});
    let messages = |list: Value| json!({"messages": list, "maxTokens": 5});
    let user = |content: Value| json!({"role": "user", "content": content});
    let model = |content: Value| json!({"role": "assistant", "content": content});
    let mut loops = vec![user(text("x"))];
    for _ in 0..11 {
        loops.extend([model(used.clone()), user(result.clone())]);
    }
    for (question, part) in [
        (messages(json!([])), "no message"),
        (
            json!({"messages": [user(text("x"))], "maxTokens": 0}),
            "maxTokens is 0",
        ),
        (
            messages(json!([{"role": "system", "content": text("x")}])),
            "neither user nor assistant",
        ),
        (messages(json!([user(json!([]))])), "says nothing"),
        (
            messages(json!([user(
                json!({"type": "resource_link", "uri": "x:y", "name": "n"})
            )])),
            "neither text",
        ),
        (
            messages(json!([user(text("x")), model(used.clone())])),
            "no result",
        ),
        (messages(json!([user(result.clone())])), "answers no use"),
        (
            messages(json!([
                model(used.clone()),
                user(json!([result, text("x")]))
            ])),
            "something else",
        ),
        (messages(json!(loops)), "11 rounds of tools in a row"),
        (
            json!({"messages": [user(text("x"))], "maxTokens": 5, "toolChoice": {"mode": "required"}}),
            "there is none",
        ),
        (
            json!({"messages": [user(text("x"))], "maxTokens": 5, "toolChoice": {"mode": "x"}}),
            "mode",
        ),
        (
            messages(json!([user(text(&"x".repeat(5 << 20)))])),
            "at most 4194304 are taken",
        ),
    ] {
        let (echo, person) = (Echo::new(), Person::saying(Verdict::Yes));
        let refusal = ask(&Sampler::new(echo.clone(), person.clone()), &question).await;
        let Err(Refusal::Invalid(why)) = refusal else {
            panic!("{part}: {refusal:?}");
        };
        assert!(why.contains(part), "{part}: {why}");
        assert_eq!(echo.asked.lock().unwrap().len(), 0);
        assert_eq!(person.asked.load(Ordering::SeqCst), 0);
    }
    loops.truncate(21);
    ask(&Sampler::new(Echo::new(), Unasked), &messages(json!(loops)))
        .await
        .unwrap();
}

#[tokio::test]
async fn tools_are_taken_only_where_every_provider_takes_them() {
    let mut without = Echo::new();
    without.tools = false;
    let sampler = Sampler::new(Echo::new(), Unasked);
    assert!(sampler.takes_tools());
    let sampler = sampler.or(without);
    assert!(!sampler.takes_tools());
    let mut question = plain();
    question["toolChoice"] = json!({});
    let refusal = ask(&sampler, &question).await.unwrap_err();
    assert!(matches!(refusal, Refusal::Invalid(_)), "{refusal:?}");
}

#[tokio::test]
async fn the_first_wish_that_fits_finds_the_model() {
    let mut other = Echo::new();
    other.models = vec!["Other-Sonnet".to_owned(), "echo-2-mini".to_owned()];
    let sampler = Sampler::new(Echo::new(), Unasked).or(other);
    for (hints, model) in [
        (json!([]), "echo-1"),
        (json!([{"name": "2"}]), "echo-2"),
        (
            json!([{"name": "sonnet"}, {"name": "echo"}]),
            "Other-Sonnet",
        ),
        (json!([{"name": "nobody"}, {"name": "MINI"}]), "echo-2-mini"),
        (json!([{"name": "nobody"}, {}, {"name": ""}]), "echo-1"),
    ] {
        let mut question = plain();
        question["modelPreferences"] = json!({"hints": hints});
        assert_eq!(
            ask(&sampler, &question).await.unwrap()["model"],
            model,
            "{hints}"
        );
    }
}

#[tokio::test]
async fn what_an_api_cannot_take_is_the_servers_mistake() {
    let api = ModelApi::start(|_: &Asked| Given::json(500, &Value::Null)).unwrap();
    let content = |kind: &str, mime: &str| json!({"type": kind, "data": "aGk=", "mimeType": mime});
    let samplers = [
        Sampler::new(openai(&api), Unasked),
        Sampler::new(anthropic(&api), Unasked),
    ];
    let [open, anth] = &samplers;
    for (sampler, content, part) in [
        (open, content("audio", "audio/ogg"), "neither WAV nor MP3"),
        (
            open,
            content("image", "text/html,<b>"),
            "images of such a type",
        ),
        (anth, content("audio", "audio/wav"), "does not take sounds"),
        (anth, content("image", "image/svg+xml"), "neither JPEG"),
    ] {
        let question = json!({"messages": [{"role": "user", "content": content}], "maxTokens": 5});
        let refusal = ask(sampler, &question).await.unwrap_err();
        let Refusal::Invalid(why) = refusal else {
            panic!("{refusal:?}");
        };
        assert!(why.contains(part), "{why}");
    }
    assert_eq!(api.asked().len(), 0);
}

#[test]
fn a_base_that_nothing_may_be_sent_to_is_refused() {
    for base in [
        "http://169.254.169.254/v1",
        "file:///etc",
        "nothing",
        "http://metadata.google.internal",
    ] {
        assert!(OpenAi::new(base, "m").is_err(), "{base}");
        assert!(Anthropic::new(base, "m").is_err(), "{base}");
    }
    let bad = Secret::from("line\nend");
    let error = OpenAi::new("http://localhost/v1", "m")
        .unwrap()
        .key(&bad)
        .unwrap_err();
    assert_eq!(error.to_string(), "the key has characters that no key has");
}
