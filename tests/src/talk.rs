//! What every partner that talks back offers, whatever SDK it is made of.
//!
//! | tool | what it does |
//! |---|---|
//! | `ask_form` | asks for a name and a size, and answers with the action and what was filled in, as JSON |
//! | `ask_url` | sends somebody to [`ADDRESS`], and answers with the action |
//! | `ask_model` | asks a model its `prompt`, and answers with what it says |
//! | `ask_roots` | asks for folders, and answers with their addresses |
//! | `interview` | asks for a name and for folders in one round, for a model in the next, and answers with all of it |
//! | `log` | logs `quiet words` (debug) and `loud words` (warning) |
//! | `count` | tells of each of its `steps`, with a `pause` of so many milliseconds after it |
//! | `touch` | changes [`NUMBER`] |
//! | `grow` | has a tool of that `name` from now on |
//!
//! The prompt [`LETTER`] and what is under [`LOCKED`] ask for a name too. [`NUMBER`] changes also when somebody
//! begins to watch it, and listing tools is logged (info). Names are completed to [`NAMES`].
//! The Python partners under `tests/partners/python/` repeat these values.

/// The resource that changes.
pub const NUMBER: &str = "partner://number";

/// The template of resources that can be read by all.
pub const NOTES: &str = "partner://notes/{name}";

/// The template of resources that can be read by whoever says a name.
pub const LOCKED: &str = "partner://locked/{name}";

/// The prompt with a `name` that is completed.
pub const GREET: &str = "greet";

/// The prompt that asks for a name.
pub const LETTER: &str = "letter";

/// What is completed.
pub const NAMES: [&str; 3] = ["Ada", "Alan", "Grace"];

/// What a form says.
pub const WHO: &str = "Who is it for?";

/// Where somebody is sent to.
pub const ADDRESS: &str = "https://example.com/sign-in?a=1&b=2";

/// What a model is told beforehand.
pub const SYSTEM: &str = "You are brief.";

/// What has to come back as it went out: a name goes before it.
pub const STATE: &str = "/1 \"\\\u{7f}\u{e9}\u{2028}\u{1f511}==";
