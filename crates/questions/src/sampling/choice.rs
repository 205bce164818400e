//! The model that a server's preferences lead to.
//!
//! 2025-11-25 sampling: hints are parts of names, the first one that fits counts, and the three
//! priorities weigh what the client knows of its models.

use std::sync::Arc;

use switchboard_wire::ModelPreferences;

use super::provider::Provider;

/// The strengths of a model, each from 0 to 1, as the user rates them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelScores {
    /// Its price: 1 is the cheapest.
    pub cost: f64,
    /// Its speed: 1 is the fastest.
    pub speed: f64,
    /// Its intelligence: 1 is the most capable.
    pub intelligence: f64,
}

impl Default for ModelScores {
    /// In the middle of everything: the scores of a model that nothing is known of.
    fn default() -> Self {
        Self {
            cost: 0.5,
            speed: 0.5,
            intelligence: 0.5,
        }
    }
}

/// Chooses a model: among those whose names the first fitting hint is a part of, or all if no hint
/// fits, the one whose strengths weigh most by the server's priorities. Of equals, and without
/// priorities, it is the first one configured.
pub fn choose_model<'p>(
    providers: &'p [Arc<dyn Provider>],
    wishes: Option<&ModelPreferences>,
) -> Option<(&'p Arc<dyn Provider>, &'p str)> {
    let of = |provider: &'p Arc<dyn Provider>| {
        let models = provider.models().iter();
        models.map(move |model| (provider, model.as_str()))
    };
    let all: Vec<(&Arc<dyn Provider>, &str)> = providers.iter().flat_map(of).collect();
    let hints = wishes.map(ModelPreferences::hints).unwrap_or_default();
    let hints = hints.iter().filter_map(|hint| hint.name());
    let mut fitting = hints.filter(|hint| !hint.is_empty()).map(|hint| {
        let hint = hint.to_ascii_lowercase();
        let models = all.iter().copied();
        let is_meant = |model: &str| model.to_ascii_lowercase().contains(&hint);
        models
            .filter(|(_, model)| is_meant(model))
            .collect::<Vec<_>>()
    });
    let fitting = fitting.find(|models| !models.is_empty());
    let mut candidates = fitting.unwrap_or(all).into_iter();
    let mut best = candidates.next()?;
    let mut most = weight(best.0, best.1, wishes);
    for (provider, model) in candidates {
        let weight = weight(provider, model, wishes);
        // Not equal: of equals the first stays.
        if weight > most {
            (best, most) = ((provider, model), weight);
        }
    }
    Some(best)
}

/// The sum of a model's strengths, each weighed by the priority that a server gives it.
fn weight(provider: &Arc<dyn Provider>, model: &str, wishes: Option<&ModelPreferences>) -> f64 {
    let Some(wishes) = wishes else {
        return 0.0;
    };
    let scores = provider.scores(model).unwrap_or_default();
    let weighed = |priority: Option<f64>, score: f64| {
        priority.unwrap_or_default().clamp(0.0, 1.0) * score.clamp(0.0, 1.0)
    };
    weighed(wishes.cost_priority(), scores.cost)
        + weighed(wishes.speed_priority(), scores.speed)
        + weighed(wishes.intelligence_priority(), scores.intelligence)
}
