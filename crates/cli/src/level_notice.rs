//! The notice that a level without `grants` gives access, which it did not up to release 0.1.0. It is shown
//! in the first run after an upgrade; `config check` shows it whenever it is asked.

use std::time::Duration;

use switchboard::config::Config;
use switchboard::host::agents;
use switchboard::private_store::PrivateStore;
use switchboard::transport::Environment;

use crate::hosting::Hosting;
use crate::state;

/// The file whose existence says that the notice was shown.
const FILE: &str = "level-without-grants";

/// Maximum size of that file.
const MOST_BYTES: usize = 1024;

/// Longest wait for another run that writes it.
const PATIENCE: Duration = Duration::from_millis(100);

/// Lists once every agent that the change gives more rights.
pub(crate) fn tell_once(hosting: &Hosting<'_>, config: &Config, environment: &Environment) {
    // An agent learns nothing of the others; and what is not shown is not over.
    if hosting.is_agent() || hosting.screen.is_json() || hosting.screen.is_quiet() {
        return;
    }
    let changed = agents::agents_with_level_alone(config);
    let Some(folder) = state::state(environment) else {
        return;
    };
    if changed.is_empty() {
        return;
    }
    let store = PrivateStore::at(folder.join("notices"), "notices");
    // A store that cannot be read does not hide the notice.
    if matches!(store.read(FILE, MOST_BYTES), Ok(Some(_))) {
        return;
    }
    for problem in &changed {
        let hint = problem.hints().first();
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        hosting.screen.warn(&format!("{problem}{hint}"));
    }
    // If that fails, the next run shows it again.
    let shown = store.change(PATIENCE, |held| held.replace(FILE, b"shown\n", MOST_BYTES));
    drop(shown);
}
