//! Every number that bounds anything: sizes, counts, waits and deadlines.

mod backoff;
mod budget;
mod byte_count;
mod duration;

use std::time::Duration;

pub use backoff::{dice, doubled, pause, share};
pub use budget::Budget;
pub use budget::{Hold, NoRoom};
pub use byte_count::{ParseByteCountError, parse_byte_count};
pub use duration::{ParseDurationError, parse_duration};

const MIB: usize = 1024 * 1024;

/// The limits of one connection.
///
/// No server can make a client exceed them. A message over a limit fails the call that it belongs to;
/// the connection stays open.
///
/// ```
/// use switchboard_core::limits::Limits;
///
/// let limits = Limits { message_bytes: 1024 * 1024, in_flight: 8, ..Limits::default() };
/// assert!(limits.message_bytes < Limits::default().message_bytes);
/// ```
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
    /// Lines that are not messages and are kept to be shown.
    pub noise_lines: usize,
    /// Calls in flight on one connection; further calls wait.
    pub in_flight: usize,
    /// Requests of a server that are answered concurrently; further ones are refused.
    pub inbound_requests: usize,
    /// Bytes waiting to be written to one server; further calls wait for room.
    pub queued_bytes: usize,
    /// Bytes of answers to a server that it has not read; further answers are dropped and counted.
    pub unread_answer_bytes: usize,
    /// Bytes of one server that are held until they are consumed: results, notifications, requests,
    /// partial messages, lists. Messages beyond it are refused.
    pub held_bytes: usize,
    /// Longest text kept of a progress notification.
    pub progress_bytes: usize,
    /// Notifications kept for a slow reader; older ones are dropped and counted.
    pub notices: usize,
    /// Bytes of notifications kept for a slow reader.
    pub notice_bytes: usize,
    /// Head start of the probe for the modern era, from the first byte that the server's process writes
    /// to stdout or stderr; after that the legacy handshake is sent as well.
    pub probe: Duration,
    /// Longest head start of the probe, from the start of the process.
    pub probe_total: Duration,
    /// Longest connection time if a launcher such as `npx` or `uvx` may have to download the server first;
    /// the server's entry or the user can override it.
    pub fetch: Duration,
    /// Longest time to send a fire-and-forget message over HTTP.
    pub post: Duration,
    /// Longest wait of a call to a legacy HTTP server for the stream that carries the server's requests;
    /// once for each session.
    pub listen: Duration,
    /// Wait before an ended stream is resumed, unless the server specifies one.
    pub resume: Duration,
    /// Shortest wait before a stream is resumed, even if the server asks for less.
    pub resume_least: Duration,
    /// Longest wait before a stream is resumed.
    pub resume_most: Duration,
    /// Retries of a request that may be sent again.
    pub retries: u32,
    /// Wait before the first retry; doubled each time.
    pub retry_first: Duration,
    /// Longest wait before a retry.
    pub retry_most: Duration,
    /// Longest wait that a server may demand.
    pub retry_after: Duration,
    /// Attempts per minute to reach one HTTP server, in total.
    pub attempts: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Items of one list.
    pub items: usize,
    /// Longest cursor that is sent back to the server.
    pub cursor_bytes: usize,
    /// Rounds of input requests that one call may take.
    pub input_rounds: usize,
    /// Requests in one round; a call with more of them fails.
    pub round_questions: usize,
    /// URLs that one error may send a person to, and completed ones that are remembered; the oldest are
    /// forgotten first.
    pub visits: usize,
    /// Longest wait for a person at a URL, if neither they nor the server report the end.
    pub visit: Duration,
    /// Wait before repeating a round without requests; doubled each time, up to five times as long.
    pub empty_round_wait: Duration,
    /// Longest time that a server may have a list cached.
    pub ttl: Duration,
    /// Longest time that a message over the limit may continue before every call in flight fails.
    pub oversize_wait: Duration,
    /// Longest wait for the output that a dead process left in its pipe.
    pub drain: Duration,
    /// Time for a process to end after its stdin was closed, before it is asked to terminate.
    pub end_after_close: Duration,
    /// Time for a process to end after it was asked to terminate, before it is killed.
    pub end_after_term: Duration,
    /// Time for each of the two steps above if the process never completed the handshake.
    pub end_after_failure: Duration,
    /// Time during which a keeper kills a server's remaining processes again and again; survivors are
    /// reported after that. Zero kills only the server itself.
    pub end_after_kill: Duration,
    /// Longest metadata document or registration read from an authorization server.
    pub auth_metadata_bytes: usize,
    /// Longest answer of a token endpoint.
    pub auth_token_bytes: usize,
    /// Longest time for one request to an authorization server, including its answer.
    pub auth_request: Duration,
    /// Time for a person to finish a login.
    pub auth_login: Duration,
    /// Demands for more scopes that are followed before further ones are refused.
    pub auth_step_ups: usize,
    /// Scopes of one authorization request.
    pub auth_scopes: usize,
    /// Longest wait for another process that renews the same token.
    pub auth_lock: Duration,
    /// The longest wait for the keyring of the system to give the key of stored tokens.
    pub auth_keyring: Duration,
    /// Largest file of stored tokens.
    pub auth_store_bytes: usize,
    /// Stored credentials and registrations; the oldest are forgotten first.
    pub auth_credentials: usize,
    /// Unfinished logins; the oldest are forgotten first.
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
            auth_keyring: Duration::from_secs(2),
            auth_store_bytes: 4 * MIB,
            auth_credentials: 512,
            auth_pending: 16,
        }
    }
}

/// The time limits of a request.
///
/// Progress extends `idle`; nothing extends `total`.
///
/// ```
/// use std::time::Duration;
/// use switchboard_core::limits::Deadline;
///
/// let patient = Deadline { total: Duration::from_secs(3600), ..Deadline::default() };
/// assert_eq!(patient.idle, Duration::from_secs(30));
/// ```
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

/// The time limits of the three phases of using a server.
///
/// ```
/// use std::time::Duration;
/// use switchboard_core::limits::{Deadline, Timeouts};
///
/// let connect = Deadline::within(Duration::from_secs(5));
/// let timeouts = Timeouts { connect, ..Timeouts::default() };
/// assert_eq!(timeouts.execution, Deadline::default());
/// ```
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
