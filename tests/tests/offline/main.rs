//! The library against servers in this process, in memory and on loopback; a few are small programs.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::field_reassign_with_default,
    reason = "a failure here is a failed test"
)]

mod agent_example;
mod auth_login;
mod chaos_calls;
mod chaos_framing;
mod chaos_lists;
mod chaos_rpc;
mod chaos_start;
mod chaos_support;
mod endure_journal;
mod error_context;
mod front_door;
mod gateway_client;
mod gateway_lists;
mod gateway_policy_random;
mod host_basics;
mod host_cache;
mod host_client_questions;
mod host_clients;
mod host_context;
mod host_exposed_names;
mod host_filters;
mod host_frames;
mod host_kept;
mod host_lists;
mod host_local_tools;
mod host_log_levels;
mod host_login;
#[cfg(unix)]
mod host_logs;
mod host_pins;
mod host_pins_calm;
mod host_policy;
mod host_policy_random;
mod host_rights;
#[cfg(unix)]
mod host_secrets;
mod host_server_settings;
mod host_supervise;
#[path = "../host_support/mod.rs"]
mod host_support;
mod host_tap;
#[cfg(unix)]
mod host_trust;
#[cfg(unix)]
mod host_trust_bound;
#[cfg(unix)]
mod host_trust_tricks;
mod host_unused;
mod http_basics;
mod http_cancel;
mod http_chaos;
mod http_chaos_streams;
mod http_elsewhere;
mod http_headers;
mod http_older;
mod http_others;
mod http_retries;
mod http_sessions;
mod http_streams;
mod issuer_browser;
mod login_canaries;
mod sampling_support;
mod server_lists;
mod server_repeats;
mod session_answers;
mod session_budget;
mod session_clocks;
mod session_close;
mod session_frames;
mod session_listen;
mod session_lists;
mod session_negotiation;
mod session_protocol;
mod session_random;
mod session_relay;
mod session_requests;
mod session_rounds;
mod session_testkit;
#[path = "../support/mod.rs"]
mod support;
mod talk_complete;
mod talk_elicit;
mod talk_hostile;
mod talk_hostile_rounds;
mod talk_roots;
mod talk_sampling;
mod talk_sampling_failures;
mod talk_sampling_rules;
mod talk_visits;
mod talk_watch;
