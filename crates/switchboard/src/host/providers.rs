//! The models that the person's own config file describes.
//!
//! A program passes the result of [`sampler`] to
//! [`HostBuilder::sample`](super::HostBuilder::sample). No model is used otherwise: describing one
//! in a file is not consent.

use std::sync::Arc;

use crate::config::{
    Config, NetworkSection, Placed, Problem, ProblemKind, ProviderKind, ProviderSection,
    ProxySection, ScoresSection,
};
use crate::talk::Operator;
use crate::talk::sampling::{
    Anthropic, ApiError, ModelScores, OpenAi, Provider, Sampler, SamplingLimits, TokensField,
};
use crate::transport::{Environment, Proxy};

/// Makes a sampler that answers servers with the models of the person's own file, or `None` if it
/// describes no model.
///
/// Keys are looked up in the environment now, and the network is used as the file says.
///
/// # Errors
/// Fails if a key is missing, or a provider cannot be reached as it is described.
pub fn sampler(
    config: &Config,
    environment: &Environment,
    operator: impl Operator + 'static,
) -> Result<Option<Sampler>, Problem> {
    let mut providers = providers(config, environment)?.into_iter();
    let Some(first) = providers.next() else {
        return Ok(None);
    };
    let sampler = Sampler::new(first, operator).limits(limits(config));
    Ok(Some(providers.fold(sampler, Sampler::or)))
}

/// Makes the providers that the person's own file describes; the first is asked first.
///
/// # Errors
/// Fails if a key is missing, or a provider cannot be reached as it is described.
pub fn providers(
    config: &Config,
    environment: &Environment,
) -> Result<Vec<Arc<dyn Provider>>, Problem> {
    let sections = &config.providers().providers;
    // A proxy that cannot be read must not lead to requests without one.
    if let (false, Some(problem)) = (sections.is_empty(), &config.network().unclear) {
        return Err(problem.clone());
    }
    // The same proxy, certificates and address ranges as for servers.
    let way = Way::of(config.network(), environment);
    let made = sections
        .iter()
        .map(|section| way.provider(section, environment));
    made.collect()
}

/// Returns the limits of sampling that the person's own file sets.
pub fn limits(config: &Config) -> SamplingLimits {
    let (said, mut limits) = (config.limits(), SamplingLimits::default());
    if let Some(requests) = said.sampling_requests {
        limits.requests_per_minute = requests;
    }
    if let Some(tokens) = said.sampling_tokens {
        limits.tokens_per_minute = u64::try_from(tokens).unwrap_or(u64::MAX);
    }
    if let Some(rounds) = said.sampling_rounds {
        limits.tool_rounds = rounds;
    }
    // A configured answer length counts, even if it is above the usual limit.
    let said = config.providers().providers.iter();
    let longest = said.filter_map(|provider| provider.max_tokens).max();
    if let Some(tokens) = longest.and_then(|tokens| u64::try_from(tokens).ok()) {
        limits.request_tokens = limits.request_tokens.max(tokens);
    }
    limits
}

/// The strengths of a model; in the middle where the file does not say.
fn rated(scores: ScoresSection) -> ModelScores {
    let usual = ModelScores::default();
    ModelScores {
        cost: scores.cost.unwrap_or(usual.cost),
        speed: scores.speed.unwrap_or(usual.speed),
        intelligence: scores.intelligence.unwrap_or(usual.intelligence),
    }
}

/// By which way providers are reached.
struct Way<'c> {
    network: &'c NetworkSection,
    proxy: Option<Proxy>,
    certificates: Option<Vec<u8>>,
}

impl<'c> Way<'c> {
    fn of(network: &'c NetworkSection, environment: &Environment) -> Self {
        let proxy = network.proxy.as_ref().map(|proxy| match proxy {
            ProxySection::None => Proxy::None,
            ProxySection::Environment => Proxy::of_environment(environment),
            ProxySection::Url(url) => Proxy::to(url.clone(), &network.no_proxy),
        });
        // Without the certificates fewer servers are trusted, never more. The problem is reported
        // with the others.
        let certificates = network.ca_file.as_ref().and_then(|file| file.read().ok());
        Self {
            network,
            proxy,
            certificates,
        }
    }

    fn provider(
        &self,
        section: &ProviderSection,
        environment: &Environment,
    ) -> Result<Arc<dyn Provider>, Problem> {
        let key = section
            .key
            .as_ref()
            .map(|key| key.read(environment))
            .transpose()?;
        let (model, allowed) = (section.model.as_str(), &self.network.allowed_addresses);
        let told = |error: ApiError| {
            let expected = "an `http://` or `https://` URL, and a key that fits into a header";
            section
                .name
                .problem(ProblemKind::BadUrl, &error.to_string(), expected)
        };
        let base = section.base_url.as_ref().map(Placed::text);
        // The two have the same settings and no type in common.
        macro_rules! described {
            ($api:expr) => {{
                let mut api = $api.map_err(told)?.with_name(section.name.text());
                if let Some(key) = &key {
                    api = api.key(key).map_err(told)?;
                }
                if let Some(proxy) = &self.proxy {
                    api = api.proxy(proxy);
                }
                if let Some(pem) = &self.certificates {
                    api = api.certificates(pem);
                }
                if let Some(tokens) = section.max_tokens {
                    api = api.max_tokens(u64::try_from(tokens).unwrap_or(u64::MAX));
                } else {
                    // Another provider's longer answers are no reason for this one's.
                    api = api.max_tokens(SamplingLimits::default().request_tokens);
                }
                if let Some(timeout) = section.timeout {
                    api = api.timeout(timeout);
                }
                for (model, scores) in &section.scores {
                    api = api.scores(model.clone(), rated(*scores));
                }
                api.models(section.models.iter().cloned())
                    .tools(section.tools)
            }};
        }
        Ok(match section.kind {
            ProviderKind::OpenAi => {
                let base = base.unwrap_or(OpenAi::BASE);
                let mut api = described!(OpenAi::allowing(base, model, allowed));
                if let Some(is_completion) = section.is_completion {
                    api = api.tokens_field(if is_completion {
                        TokensField::MaxCompletionTokens
                    } else {
                        TokensField::MaxTokens
                    });
                }
                Arc::new(api)
            }
            ProviderKind::Anthropic => {
                let base = base.unwrap_or(Anthropic::BASE);
                Arc::new(described!(Anthropic::allowing(base, model, allowed)))
            }
        })
    }
}
