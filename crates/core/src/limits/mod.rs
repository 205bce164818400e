//! Every number that bounds anything.

mod budget;
mod chance;
mod duration;

use std::time::Duration;

pub use budget::Budget;
pub use budget::{Hold, NoRoom};
pub use chance::{dice, doubled, share};
pub use duration::{ParseDurationError, parse_duration};

const MIB: usize = 1024 * 1024;

/// The bounds that a connection is held to.
///
/// Whatever a server sends, none of these is exceeded; what goes over one fails the call that it
/// belongs to, and the connection lives on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Longest message that is read, without its line end.
    pub message_bytes: usize,
    /// Deepest nesting of objects and arrays in a message.
    pub json_depth: usize,
    /// First lines of a server's stderr that are kept: many programs name the cause there.
    pub stderr_first_lines: usize,
    /// Last lines of a server's stderr that are kept.
    pub stderr_lines: usize,
    /// Longest stderr line that is kept; the rest of the line is dropped.
    pub stderr_line_bytes: usize,
    /// Lines that are no messages and are kept to be shown.
    pub noise_lines: usize,
    /// Calls in flight on one connection; further ones wait their turn.
    pub in_flight: usize,
    /// Requests of a server that are answered at the same time; further ones are refused.
    pub inbound_requests: usize,
    /// Bytes waiting to be written to one server; further calls wait for room.
    pub queued_bytes: usize,
    /// Bytes of answers to a server that it has not read; further answers are dropped and counted.
    pub unread_answer_bytes: usize,
    /// Bytes from one server that are held for whoever is to take them: answers, notifications,
    /// questions, halves of messages, lists. What goes over it is refused.
    pub held_bytes: usize,
    /// Longest text that is kept of a report of progress.
    pub progress_bytes: usize,
    /// Notifications kept for a reader that is slow; older ones are dropped and counted.
    pub notices: usize,
    /// Bytes of notifications kept for a reader that is slow.
    pub notice_bytes: usize,
    /// How long the probe for the modern era is alone, counted from the first byte that the server's
    /// process writes to stdout or stderr; after that the handshake is sent as well.
    pub probe: Duration,
    /// How long the probe is alone at most, counted from the start of the process.
    pub probe_total: Duration,
    /// How long connecting may take where a launcher such as `npx` or `uvx` may have to fetch the server
    /// first, unless the person or the server's entry says otherwise.
    pub fetch: Duration,
    /// How long a message that nobody waits for may take to leave, where it is sent by itself.
    pub post: Duration,
    /// How long a call of a legacy server over HTTP waits until the stream that the server asks by
    /// stands; once for each session.
    pub listen: Duration,
    /// How long to wait before a stream that ended is resumed, where the server does not say.
    pub resume: Duration,
    /// The shortest wait before a stream is resumed, whatever the server says.
    pub resume_least: Duration,
    /// The longest.
    pub resume_most: Duration,
    /// How often a request that may be sent again is, after the first time.
    pub retries: u32,
    /// The wait before the first of these; doubled each time.
    pub retry_first: Duration,
    /// The longest wait before any of these.
    pub retry_most: Duration,
    /// The longest wait that a server may ask for.
    pub retry_after: Duration,
    /// How often a minute a server over HTTP is tried again, all in all.
    pub attempts: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Items of one list.
    pub items: usize,
    /// Longest cursor that is sent back.
    pub cursor_bytes: usize,
    /// Rounds of questions that one call may take.
    pub input_rounds: usize,
    /// Questions that one of these may ask; a call that is asked more of fails.
    pub round_questions: usize,
    /// Addresses that one error may send a person to, and those whose end is remembered; of more, the oldest are
    /// forgotten.
    pub visits: usize,
    /// How long it is waited for a person to be done at an address, where neither they nor the server say so.
    pub visit: Duration,
    /// How long to wait before a round that asked nothing is made again; doubled each time, up to
    /// five times as long.
    pub empty_round_wait: Duration,
    /// The longest time that a server may say a list is to be kept.
    pub ttl: Duration,
    /// How long a message over the limit may go on before it fails every call in flight.
    pub oversize_wait: Duration,
    /// How long what a dead process left in its pipe is waited for.
    pub drain: Duration,
    /// How long a process has to end after its stdin was closed, before it is told to terminate.
    pub end_after_close: Duration,
    /// How long a process has to end after it was told to terminate, before it is killed.
    pub end_after_term: Duration,
    /// How long a process that never answered the handshake has for each of the two above.
    pub end_after_failure: Duration,
    /// How long what is left of a server is killed over and over, where there are keepers; what still
    /// runs after that is reported. Zero kills nothing but the server itself.
    pub end_after_kill: Duration,
    /// Longest metadata document or registration that is read from an authorization server.
    pub auth_metadata_bytes: usize,
    /// Longest answer of a token endpoint.
    pub auth_token_bytes: usize,
    /// How long one request to an authorization server may take, with its answer.
    pub auth_request: Duration,
    /// How long a person has to finish a login.
    pub auth_login: Duration,
    /// How often a server may demand more scopes before its demands are refused.
    pub auth_step_ups: usize,
    /// Scopes of one authorization request.
    pub auth_scopes: usize,
    /// How long to wait for another process that renews the same token.
    pub auth_lock: Duration,
    /// Largest file of stored tokens.
    pub auth_store_bytes: usize,
    /// Stored credentials and registrations; of more, the oldest are forgotten.
    pub auth_credentials: usize,
    /// Logins that were begun and not finished; of more, the oldest are forgotten.
    pub auth_pending: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 10 * MIB,
            json_depth: 128,
            stderr_first_lines: 10,
            stderr_lines: 20,
            stderr_line_bytes: 2 * 1024,
            noise_lines: 5,
            in_flight: 64,
            inbound_requests: 8,
            queued_bytes: 64 * MIB,
            unread_answer_bytes: MIB,
            held_bytes: 64 * MIB,
            progress_bytes: 4 * 1024,
            notices: 1024,
            notice_bytes: 4 * MIB,
            probe: Duration::from_secs(3),
            probe_total: Duration::from_secs(10),
            fetch: Duration::from_secs(120),
            post: Duration::from_secs(30),
            listen: Duration::from_secs(1),
            resume: Duration::from_secs(1),
            resume_least: Duration::from_millis(100),
            resume_most: Duration::from_secs(60),
            retries: 3,
            retry_first: Duration::from_secs(1),
            retry_most: Duration::from_secs(10),
            retry_after: Duration::from_secs(60),
            attempts: 10,
            pages: 100,
            items: 2048,
            cursor_bytes: 64 * 1024,
            input_rounds: 10,
            round_questions: 64,
            visits: 16,
            visit: Duration::from_secs(300),
            empty_round_wait: Duration::from_millis(50),
            ttl: Duration::from_secs(24 * 3600),
            oversize_wait: Duration::from_secs(2),
            drain: Duration::from_millis(250),
            end_after_close: Duration::from_secs(2),
            end_after_term: Duration::from_secs(2),
            end_after_failure: Duration::from_millis(250),
            end_after_kill: Duration::from_secs(2),
            auth_metadata_bytes: 256 * 1024,
            auth_token_bytes: 128 * 1024,
            auth_request: Duration::from_secs(45),
            auth_login: Duration::from_secs(600),
            auth_step_ups: 3,
            auth_scopes: 256,
            auth_lock: Duration::from_secs(60),
            auth_store_bytes: 4 * MIB,
            auth_credentials: 512,
            auth_pending: 16,
        }
    }
}

/// How long a request may take.
///
/// Progress extends `idle`; nothing extends `total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// The longest silence: no answer and no progress.
    pub idle: Duration,
    /// The longest time in all.
    pub total: Duration,
}

impl Deadline {
    /// The same limit for silence and for the whole.
    pub fn within(time: Duration) -> Self {
        Self {
            idle: time,
            total: time,
        }
    }
}

impl Default for Deadline {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(30),
            total: Duration::from_secs(600),
        }
    }
}

/// The time limits of the three things a client does with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeouts {
    /// Connecting: start and handshake.
    pub connect: Deadline,
    /// Discovery: each page of a list, a ping.
    pub discovery: Deadline,
    /// Execution: a tool call, reading a resource, getting a prompt.
    pub execution: Deadline,
}

impl Timeouts {
    /// One limit for all three.
    pub fn all(deadline: Deadline) -> Self {
        Self {
            connect: deadline,
            discovery: deadline,
            execution: deadline,
        }
    }
}
