//! The real binary, against the bundled server and against servers that misbehave.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests say what they expect by failing"
)]

#[cfg(unix)]
mod approval_screen;
mod arguments;
#[cfg(unix)]
mod at_once;
#[cfg(target_os = "linux")]
mod blocked;
#[cfg(unix)]
mod broken_configs;
mod calls;
mod canned;
mod chaos;
#[cfg(unix)]
mod cloned;
#[cfg(unix)]
mod completions;
#[cfg(unix)]
mod config;
#[cfg(unix)]
mod context_verb;
#[cfg(target_os = "linux")]
mod daemon;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod documented;
#[cfg(unix)]
mod edits;
#[cfg(unix)]
mod elicit;
#[cfg(unix)]
mod export;
#[cfg(target_os = "linux")]
mod failure_table;
mod failures;
#[cfg(unix)]
mod guarded;
#[cfg(unix)]
mod home;
mod hostile;
mod http;
#[cfg(unix)]
mod imports;
mod install;
mod journal;
#[cfg(target_os = "linux")]
mod keepers;
#[cfg(unix)]
mod left_out;
#[cfg(target_os = "linux")]
mod leftovers;
mod lists;
#[cfg(unix)]
mod lock_verbs;
mod log_level;
#[cfg(unix)]
mod logins;
#[cfg(unix)]
mod lost_state;
#[cfg(unix)]
mod output;
#[cfg(unix)]
mod own_sections;
#[cfg(unix)]
mod pins_verbs;
#[cfg(unix)]
mod plainness;
#[cfg(unix)]
mod policy_verbs;
#[cfg(unix)]
mod progress;
#[cfg(unix)]
mod prompt;
#[cfg(unix)]
mod pty;
#[cfg(unix)]
mod repl;
mod results;
mod run;
#[cfg(unix)]
mod sampling;
#[cfg(unix)]
mod schemas;
#[cfg(target_os = "linux")]
mod screens;
mod script;
#[cfg(unix)]
mod secrets;
#[cfg(target_os = "linux")]
mod serve_asks;
#[cfg(target_os = "linux")]
mod serve_ends;
#[cfg(target_os = "linux")]
mod serve_options;
#[cfg(target_os = "linux")]
mod serve_reloads;
#[cfg(target_os = "linux")]
mod serve_verb;
mod serving;
#[cfg(target_os = "linux")]
mod signal_matrix;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod sinks;
#[cfg(unix)]
mod slips;
#[cfg(unix)]
mod starting;
#[cfg(unix)]
mod states;
#[cfg(target_os = "linux")]
mod stopped;
#[cfg(unix)]
mod table_verbs;
#[cfg(unix)]
mod talking;
#[cfg(target_os = "linux")]
mod token_verb;
#[cfg(unix)]
mod tool_verb;
#[cfg(unix)]
mod trust_verbs;
#[cfg(target_os = "linux")]
mod upgrade;
mod usage;
#[cfg(unix)]
mod visits;
mod watch_verb;
#[cfg(unix)]
mod watching;
