//! Reads the section `providers`.

use std::path::Path;
use std::time::Duration;

use switchboard_core::secret::SafeUrl;

use super::measure::Measures;
use super::placed::Placed;
use super::placed::texts;
use super::provider_key::{KeySection, key};
use super::{get, unknown_keys, wrong};
use crate::keys::ValueType::{Count, Flag, Fraction, Named, Text, Texts, Time, Url, Words};
use crate::keys::{self, Key};
use crate::problem::ProblemKind;
use crate::report::{Note, Report, quote_name};
use crate::shape::duplicates;
use crate::tree::{Member, Node, NodeKind, latest};

pub(crate) const KEYS: &[Key] = &[
    Key::new(
        "type",
        Words(TYPES),
        "`openai` for every API like OpenAI's chat completions (`POST \
         BASE/chat/completions`), `anthropic` for Anthropic's messages (`POST \
         BASE/v1/messages`)",
    ),
    Key::new(
        "base_url",
        Url,
        "Where the API is: `\"http://localhost:11434/v1\"`",
    )
    .or("the vendor's"),
    Key::new("model", Text, "The model to ask"),
    Key::new(
        "models",
        Texts,
        "Other models that a server may prefer: the first preference that is part of a \
         model's name counts, at any provider",
    )
    .or("`[]`"),
    Key::new(
        "scores",
        Named(SCORES),
        "Strengths of the models, by name. A server's priorities choose by them among the \
         models that fit its preferences, or among all if none fits",
    ),
    Key::new(
        "api_key",
        Text,
        "The key: `\"${VAR}\"`, `\"${file:PATH}\"`, or the key itself; required without \
         `base_url`",
    ),
    Key::new(
        "api_key_env",
        Text,
        "The name of a variable with the key, instead of `api_key`",
    ),
    Key::new(
        "max_tokens",
        Count(1, 1_000_000),
        "The longest answer; a server that wants more gets this",
    )
    .or("`4096`"),
    Key::new(
        "tokens_field",
        Words(FIELDS),
        "The name of that limit in an API like OpenAI's",
    )
    .or("by the address"),
    Key::new(
        "timeout",
        Time(1000, 3_600_000),
        "How long an answer may take",
    )
    .or("`2m`"),
    Key::new(
        "tools",
        Flag,
        "Whether its models get the tools of servers; servers learn that tools work only if \
         all providers take them",
    )
    .or("`true`"),
];
const TYPES: &[&str] = &["openai", "anthropic"];
pub(crate) const SCORES: &[Key] = &[
    Key::new("cost", Fraction, "1 is the cheapest").or("`0.5`"),
    Key::new("speed", Fraction, "1 is the fastest").or("`0.5`"),
    Key::new("intelligence", Fraction, "1 is the most capable").or("`0.5`"),
];
const FIELDS: &[&str] = &["max_tokens", "max_completion_tokens"];

/// The key that names the default provider.
const DEFAULT: &str = "default";

/// The model providers in the user's own file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ProvidersSection {
    /// The providers, the default one first. Empty if the default is invalid: no other one takes its place.
    pub providers: Vec<ProviderSection>,
}

/// One model provider.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProviderSection {
    /// The name that the user gave to it.
    pub name: Placed,
    /// The API that it implements.
    pub kind: ProviderKind,
    /// Its URL; by default that of the API's vendor.
    pub base_url: Option<Placed>,
    /// The default model.
    pub model: String,
    /// Other models that a server may request.
    pub models: Vec<String>,
    /// The strengths of models, by their names.
    pub scores: Vec<(String, ScoresSection)>,
    /// The API key.
    pub key: Option<KeySection>,
    /// Longest answer, in tokens.
    pub max_tokens: Option<usize>,
    /// True if the API calls this limit `max_completion_tokens`; `None` if the file does not say.
    pub is_completion: Option<bool>,
    /// Time limit of an answer.
    pub timeout: Option<Duration>,
    /// True if models may use tools.
    pub tools: bool,
}

/// The strengths of a model, each from 0 to 1; `None` where the file does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct ScoresSection {
    /// Its price: 1 is the cheapest.
    pub cost: Option<f64>,
    /// Its speed: 1 is the fastest.
    pub speed: Option<f64>,
    /// Its intelligence: 1 is the most capable.
    pub intelligence: Option<f64>,
}

/// The API of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    /// OpenAI's chat completions, which most providers implement.
    OpenAi,
    /// Anthropic's messages.
    Anthropic,
}

const EXPECTED: &str = "an object such as `{ \"type\": \"openai\", \"model\": \"...\" }`";

pub(super) fn providers(node: &Node, folder: &Path, report: &mut Report) -> ProvidersSection {
    let mut known: Vec<(&str, Option<ProviderSection>)> = Vec::new();
    let mut first = None;
    for member in latest(node.object().unwrap_or_default()) {
        if member.key == DEFAULT {
            first = Some(&member.value);
        } else {
            known.push((&member.key, provider(member, folder, report)));
        }
    }
    // Without `default`, the first one in the file is the default.
    let at = match first {
        None => Some(0),
        Some(value) => {
            let at = value
                .text()
                .and_then(|name| known.iter().position(|(key, _)| *key == name));
            if at.is_none() {
                no_default(value, &known, report);
            }
            at
        }
    };
    let is_good = at
        .and_then(|at| known.get(at))
        .is_some_and(|(_, section)| section.is_some());
    if let (true, Some(at)) = (is_good, at) {
        // The default comes first, and the others stay in the order of the file.
        if let Some(known) = known.get_mut(..=at) {
            known.rotate_right(1);
        }
        let providers = known.into_iter().filter_map(|(_, section)| section);
        return ProvidersSection {
            providers: providers.collect(),
        };
    }
    ProvidersSection::default()
}

fn no_default(value: &Node, known: &[(&str, Option<ProviderSection>)], report: &mut Report) {
    if value.text().is_none() {
        return wrong(
            "`default` of `providers`",
            value,
            "the name of a provider",
            report,
        );
    }
    let message = "`default` of `providers` names none of them";
    let note = Note::error(ProblemKind::BadName, value.span.clone(), message);
    let names: Vec<String> = known.iter().map(|(name, _)| quote_name(name)).collect();
    report.add(note.expecting(if names.is_empty() {
        "a provider beside it".to_owned()
    } else {
        names.join(", ")
    }));
}

/// Reads one provider; `None` after reporting an error. An invalid one is never used: servers' requests
/// must not go to the wrong provider.
fn provider(member: &Member, folder: &Path, report: &mut Report) -> Option<ProviderSection> {
    let before = report.errors();
    let (node, whose) = (
        &member.value,
        format!("provider {}", quote_name(&member.key)),
    );
    let Some(members) = node.object() else {
        wrong(&whose, node, EXPECTED, report);
        return None;
    };
    duplicates(members, report);
    unknown_keys(node, &whose, &keys::names(KEYS), report);
    let kind = word(member, "type", TYPES, report);
    let base_url = get(node, "base_url").and_then(|node| base_url(node, report));
    let model = required(member, "model", "the name of a model", report);
    let models = get(node, "models").and_then(|list| {
        let expected = "a list of names of models";
        texts(list, &format!("`models` of {whose}"), expected, report)
    });
    let scores = scores(node, &whose, report);
    let key = key(node, folder, report);
    let is_completion = get(node, "tokens_field")
        .is_some()
        .then(|| word(member, "tokens_field", FIELDS, report))
        .flatten();
    let tools = get(node, "tools").map(|node| match node.kind {
        NodeKind::Bool(tools) => tools,
        _ => {
            wrong(
                &format!("`tools` of {whose}"),
                node,
                "true or false",
                report,
            );
            true
        }
    });
    if key.is_none()
        && base_url.is_none()
        && get(node, "base_url").is_none()
        && get(node, "api_key").is_none()
    {
        let message = format!("{whose} has no key");
        let note = Note::error(ProblemKind::WrongType, member.key_span.clone(), message);
        report.add(
            note.expecting("`api_key` or `api_key_env`, or the `base_url` of one that wants none"),
        );
    }
    let mut of = Measures {
        node,
        of: "providers",
        keys: KEYS,
        report,
    };
    let max_tokens = of.count("max_tokens");
    let timeout = of.time("timeout");
    let models = models
        .unwrap_or_default()
        .iter()
        .map(|model| model.text().to_owned())
        .collect();
    let section = ProviderSection {
        name: Placed::key(member, report),
        kind: match kind? {
            0 => ProviderKind::OpenAi,
            _ => ProviderKind::Anthropic,
        },
        base_url,
        model: model?,
        models,
        scores,
        key,
        max_tokens,
        is_completion: is_completion.map(|at| at == 1),
        timeout,
        tools: tools.unwrap_or(true),
    };
    (report.errors() == before).then_some(section)
}

/// Reads the strengths of models: `{"small": {"cost": 0.9, "speed": 1}}`.
fn scores(node: &Node, whose: &str, report: &mut Report) -> Vec<(String, ScoresSection)> {
    const EXPECTED: &str = "an object such as `{ \"MODEL\": { \"cost\": 0.9, \"speed\": 0.8, \"intelligence\": 0.4 } }`";
    let Some(scores) = get(node, "scores") else {
        return Vec::new();
    };
    let what = format!("`scores` of {whose}");
    let Some(models) = scores.object() else {
        wrong(&what, scores, EXPECTED, report);
        return Vec::new();
    };
    let mut read = Vec::new();
    for model in latest(models) {
        let what = format!("{what} for {}", quote_name(&model.key));
        if model.value.object().is_none() {
            wrong(&what, &model.value, EXPECTED, report);
            continue;
        }
        unknown_keys(&model.value, &what, &keys::names(SCORES), report);
        let mut score = |key: &str| {
            let node = get(&model.value, key)?;
            let number = match &node.kind {
                NodeKind::Number(number) => number.parse::<f64>().ok(),
                _ => None,
            };
            let number = number.filter(|number| (0.0..=1.0).contains(number));
            if number.is_none() {
                let expected = "a number from 0 to 1";
                wrong(&format!("`{key}` in {what}"), node, expected, report);
            }
            number
        };
        let scores = ScoresSection {
            cost: score("cost"),
            speed: score("speed"),
            intelligence: score("intelligence"),
        };
        read.push((model.key.clone(), scores));
    }
    read
}

/// Reads a text that must be present.
fn required(member: &Member, key: &str, expected: &str, report: &mut Report) -> Option<String> {
    let whose = format!("provider {}", quote_name(&member.key));
    match get(&member.value, key) {
        Some(node) => match node.text().filter(|text| !text.trim().is_empty()) {
            Some(text) => Some(text.to_owned()),
            None => {
                let what = format!("`{key}` of {whose}");
                match node.text() {
                    Some(_) => {
                        let message = format!("{what} is empty");
                        let note = Note::error(ProblemKind::WrongType, node.span.clone(), message);
                        report.add(note.expecting(expected));
                    }
                    None => wrong(&what, node, expected, report),
                }
                None
            }
        },
        None => {
            let message = format!("{whose} has no `{key}`");
            let note = Note::error(ProblemKind::WrongType, member.key_span.clone(), message);
            report.add(note.expecting(expected));
            None
        }
    }
}

/// Reads one of some words; returns its index.
fn word(member: &Member, key: &str, words: &[&str], report: &mut Report) -> Option<usize> {
    let expected: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let expected = expected.join(" or ");
    let text = required(member, key, &expected, report)?;
    let found = words.iter().position(|word| **word == text);
    if let (None, Some(node)) = (found, get(&member.value, key)) {
        let message = format!(
            "`{key}` of provider {} is a word that is not known",
            quote_name(&member.key)
        );
        let note = Note::error(ProblemKind::WrongType, node.span.clone(), message);
        report.add(note.did_you_mean(&text, words).expecting(expected));
    }
    found
}

fn base_url(node: &Node, report: &mut Report) -> Option<Placed> {
    const EXPECTED: &str = "a URL such as \"http://localhost:11434/v1\"";
    let Some(text) = node.text() else {
        wrong("`base_url`", node, EXPECTED, report);
        return None;
    };
    let url = SafeUrl::parse(text);
    let message = match &url {
        _ if text.contains("${") => "`base_url` has a placeholder, and none is filled here",
        Err(_) => "`base_url` is no URL",
        Ok(url) if !matches!(url.expose().scheme(), "http" | "https") => {
            "`base_url` does not begin with `http://` or `https://`"
        }
        Ok(url) if !url.expose().username().is_empty() || url.expose().password().is_some() => {
            "`base_url` has a name or a password in it, which belongs into `api_key`"
        }
        Ok(url) if url.expose().query().is_some() || url.expose().fragment().is_some() => {
            "`base_url` has something behind its path"
        }
        Ok(_) => return Some(Placed::of(node, report)),
    };
    let written = Placed::of(node, report);
    report.push(written.problem(ProblemKind::BadUrl, message, EXPECTED));
    None
}
