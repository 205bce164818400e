//! Servers that ask a model, and models to ask.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::field_reassign_with_default,
    reason = "each test file uses a part of this, and a failure here is a failed test"
)]

use serde_json::{Value, json};
use switchboard::host::{Caller, Host, HostBuilder};
use switchboard::protocol::{CreateMessageParams, FromRaw as _, Raw};
use switchboard::secret::Secret;
use switchboard::session::Refusal;
use switchboard::spec::{Protocol, Settings};
use switchboard::talk::Sample as _;
use switchboard::talk::sampling::{Anthropic, OpenAi, Sampler};
use switchboard_testkit::Options;
use switchboard_testkit::models::{KEY, ModelApi};

use crate::host_support::{name, testkit};

pub(crate) const ERAS: [Protocol; 2] = [Protocol::Legacy, Protocol::Modern];

pub(crate) fn key() -> Secret<String> {
    Secret::from(KEY)
}

pub(crate) fn openai(api: &ModelApi) -> OpenAi {
    let base = format!("{}/v1/", api.base());
    OpenAi::new(&base, "gpt-small")
        .unwrap()
        .key(&key())
        .unwrap()
}

pub(crate) fn anthropic(api: &ModelApi) -> Anthropic {
    let api = Anthropic::new(&api.base(), "claude-small").unwrap();
    api.key(&key()).unwrap()
}

pub(crate) fn params(value: &Value) -> CreateMessageParams {
    CreateMessageParams::from_raw(&Raw::of(value).unwrap()).unwrap()
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn plain() -> Value {
    json!({"messages": [{"role": "user", "content": text("hi")}], "maxTokens": 50})
}

/// Asks a sampler, and gives the answer as it goes to the server.
pub(crate) async fn ask(sampler: &Sampler, question: &Value) -> Result<Value, Refusal> {
    let (server, question) = (name("demo"), params(question));
    let answer = sampler.sample(&server, &question).await?;
    Ok(serde_json::to_value(answer).unwrap())
}

/// A host with the bundled server, which may ask.
pub(crate) fn host(builder: HostBuilder, protocol: Protocol) -> Host {
    let mut options = Options::default();
    options.asking_models = true;
    let mut settings = Settings::default();
    (settings.sampling, settings.protocol) = (true, protocol);
    let builder = builder.transport(name("demo"), testkit(options), settings);
    builder.build().unwrap()
}

pub(crate) async fn call(host: &Host, arguments: Value) -> (bool, String) {
    let tool = host.view(Caller::owner()).find("demo/ask_model").await;
    match tool.unwrap().call(arguments).await {
        Ok(result) => (!result.is_error(), result.text()),
        Err(error) => (false, error.to_string()),
    }
}
