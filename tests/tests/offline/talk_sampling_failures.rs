//! Models that do not answer, or not as they should, and questions that they cannot take.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::secret::Secret;
use switchboard::session::Refusal;
use switchboard::spec::ServerName;
use switchboard::talk::sampling::{
    Anthropic, OpenAi, ProviderError, Sampler, SamplingApproval, SamplingRequest,
};
use switchboard::talk::{Operator, Unasked};
use switchboard_testkit::models::{self, Asked, Given, KEY, ModelApi};

use crate::sampling_support::{anthropic, ask, openai, plain};

/// Remembers what the person is told.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Operator for Told {
    async fn approve_sampling(&self, _: SamplingRequest) -> SamplingApproval {
        SamplingApproval::Yes
    }

    fn sampling_failed(&self, _: &ServerName, provider: &str, error: &ProviderError) {
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
        let sampler = Sampler::new(anthropic(&api).with_name("mine"), told.clone())
            .or(openai(&api).with_name("other"));
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
            api.requests().len(),
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
    assert_eq!(api.requests().len(), 0);
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
