//! Servers that ask a model: what a person says to it, and what is refused before anybody is asked.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::config::Config;
use switchboard::host::{Host, providers};
use switchboard::session::Refusal;
use switchboard::spec::{Layer, Settings};
use switchboard::talk::Sample as _;
use switchboard::talk::sampling::{
    Completing, ModelAnswer, ModelRequest, Part, Provider, Sampler, SamplingApproval,
    SamplingLimits, SamplingRequest, Stop,
};
use switchboard::talk::{Operator, Unasked};
use switchboard::transport::Environment;
use switchboard_testkit::Options;
use switchboard_testkit::models::{self, ModelApi};

use crate::host_support::{name, testkit};
use crate::sampling_support::{ERAS, ask, call, host, openai, plain, text};

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
    says: SamplingApproval,
    shares: bool,
    asked: Arc<AtomicUsize>,
}

impl Person {
    fn saying(says: SamplingApproval) -> Self {
        Self {
            says,
            shares: true,
            asked: Arc::default(),
        }
    }
}

impl Operator for Person {
    async fn approve_sampling(&self, request: SamplingRequest) -> SamplingApproval {
        assert_eq!(
            (request.server.as_str(), request.provider.as_str()),
            ("demo", "echo")
        );
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.says.clone()
    }

    async fn approve_sampled(&self, _: SamplingRequest, answer: ModelAnswer) -> bool {
        assert_eq!(answer.model, "echo-1");
        self.shares
    }
}

#[tokio::test]
async fn a_person_says_yes_no_something_else_or_yes_for_all() {
    let (no, echo) = (Person::saying(SamplingApproval::No), Echo::new());
    let refusal = ask(&Sampler::new(echo.clone(), no), &plain())
        .await
        .unwrap_err();
    assert_eq!(refusal, Refusal::ByThePerson);
    let mut review = Person::saying(SamplingApproval::Yes);
    review.shares = false;
    assert_eq!(echo.asked.lock().unwrap().len(), 0, "nothing was sent");
    let refusal = ask(&Sampler::new(echo.clone(), review), &plain())
        .await
        .unwrap_err();
    assert_eq!(refusal, Refusal::ByThePerson);

    let yes = Person::saying(SamplingApproval::Yes);
    let sampler = Sampler::new(echo.clone(), yes.clone());
    for times in 1..=2 {
        assert_eq!(
            ask(&sampler, &plain()).await.unwrap()["content"],
            text("hi")
        );
        assert_eq!(yes.asked.load(Ordering::SeqCst), times);
    }
    let session = Person::saying(SamplingApproval::Session);
    let sampler = Sampler::new(echo.clone(), session.clone());
    for _ in 0..3 {
        ask(&sampler, &plain()).await.unwrap();
    }
    assert_eq!(session.asked.load(Ordering::SeqCst), 1);

    let mut prompt = echo.asked.lock().unwrap()[0].prompt.clone();
    prompt.turns[0].parts = vec![Part::Text("something else".to_owned())];
    let sampler = Sampler::new(echo, Person::saying(SamplingApproval::Edited(prompt)));
    let answer = ask(&sampler, &plain()).await.unwrap();
    assert_eq!(answer["content"], text("something else"));
}

#[tokio::test]
async fn a_no_reaches_a_server_of_either_era() {
    for (protocol, part) in ERAS
        .into_iter()
        .zip(["the person said no (code -1)", "sampling/createMessage"])
    {
        let sampler = Sampler::new(Echo::new(), Person::saying(SamplingApproval::No));
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
    let mut limits = SamplingLimits::default();
    limits.request_tokens = 30;
    let sampler = Sampler::new(echo.clone(), Unasked).limits(limits);
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
    assert_eq!(api.requests()[0].body["max_tokens"], 7);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_questions_asks_neither_the_person_nor_the_model() {
    let (echo, person) = (Echo::new(), Person::saying(SamplingApproval::No));
    let mut limits = SamplingLimits::default();
    limits.requests_per_minute = 3;
    let sampler = Sampler::new(echo.clone(), person.clone()).limits(limits.clone());
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
    limits.tokens_per_minute = 100;
    let sampler = Sampler::new(echo, Unasked).limits(limits);
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
            "but no tools are given",
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
        let (echo, person) = (Echo::new(), Person::saying(SamplingApproval::Yes));
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
async fn priorities_choose_among_the_models_that_fit_the_hints() {
    let api = ModelApi::start(models::openai).unwrap();
    let text = json!({"providers": {"local": {
        "type": "openai", "base_url": format!("{}/v1/", api.base()), "api_key": models::KEY,
        "model": "gpt-middle", "models": ["gpt-small", "gpt-large", "o-fast"],
        "scores": {
            "gpt-small": {"cost": 1, "speed": 0.8, "intelligence": 0.2},
            "gpt-large": {"cost": 0.1, "speed": 0.3, "intelligence": 1},
            "o-fast": {"cost": 0.9, "speed": 1, "intelligence": 0.4},
        },
    }}});
    let file = Path::new("/home/me/mcp.json");
    let config = Config::read(&text.to_string(), file, Layer::User);
    assert_eq!(config.problems(), []);
    let sampler = providers::sampler(&config, &Environment::default(), Unasked);
    let sampler = sampler.unwrap().unwrap();
    for (preferences, model) in [
        // Without priorities the first one stays.
        (json!({}), "gpt-middle"),
        (json!({"hints": [{"name": "small"}]}), "gpt-small"),
        // Each priority alone, among all.
        (json!({"costPriority": 1}), "gpt-small"),
        (json!({"speedPriority": 0.2}), "o-fast"),
        (json!({"intelligencePriority": 1}), "gpt-large"),
        // Together, by their weights; a model without scores is in the middle.
        (
            json!({"costPriority": 0.2, "intelligencePriority": 1}),
            "gpt-large",
        ),
        (
            json!({"costPriority": 1, "intelligencePriority": 0.2}),
            "gpt-small",
        ),
        // Among those that fit the first hint that fits any.
        (
            json!({"hints": [{"name": "gpt"}], "speedPriority": 1}),
            "gpt-small",
        ),
        (
            json!({"hints": [{"name": "none"}, {"name": "o-"}], "costPriority": 1}),
            "o-fast",
        ),
        (
            json!({"hints": [{"name": "none"}], "intelligencePriority": 1}),
            "gpt-large",
        ),
    ] {
        let mut question = plain();
        question["modelPreferences"] = preferences.clone();
        ask(&sampler, &question).await.unwrap();
        let asked = api.requests().pop().unwrap();
        assert_eq!(asked.body["model"], model, "{preferences}");
    }
}

#[tokio::test]
async fn a_project_that_wants_to_ask_says_so_in_the_question_about_it() {
    for text in [
        r#"{"mcpServers": {"a": {"command": "none", "sampling": true}}}"#,
        r#"{"defaults": {"sampling": true}, "mcpServers": {"a": {"command": "none"}}}"#,
    ] {
        let config = Config::read(text, Path::new("/p/.mcp.json"), Layer::Project);
        assert!(config.entries()[0].settings().sampling);
        let host = Host::builder().config(&config).build().unwrap();
        let error = host.connect("a").await.unwrap_err();
        let told = switchboard::explain(&error);
        let told = format!("{told:?}");
        assert!(told.contains("/sampling = true"), "{text}: {told}");
    }
}
