//! Which model answers.

use std::sync::Arc;

use switchboard_wire::ModelPreferences;

use super::provider::Provider;

/// The model that a server's wishes lead to: the first wish that is part of a configured model's name, or
/// else the first model of the first provider. What matters to a server (cost, speed, cleverness) is not
/// known of any model, so that it decides nothing.
pub(super) fn model<'p>(
    providers: &'p [Arc<dyn Provider>],
    wishes: Option<&ModelPreferences>,
) -> Option<(&'p Arc<dyn Provider>, &'p str)> {
    let of = |provider: &'p Arc<dyn Provider>| {
        let models = provider.models().iter();
        models.map(move |model| (provider, model.as_str()))
    };
    let hints = wishes.map(ModelPreferences::hints).unwrap_or_default();
    for hint in hints.iter().filter_map(|hint| hint.name()) {
        let hint = hint.to_ascii_lowercase();
        let mut models = providers.iter().flat_map(of);
        let is_meant = |model: &str| model.to_ascii_lowercase().contains(&hint);
        if !hint.is_empty()
            && let Some(found) = models.find(|(_, model)| is_meant(model))
        {
            return Some(found);
        }
    }
    providers.iter().flat_map(of).next()
}
