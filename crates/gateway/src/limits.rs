//! The numbers that bound what clients can do.

use std::time::Duration;

/// Limits of a gateway. Input over a limit fails the one message or request that it belongs to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct GatewayLimits {
    /// Longest message of a client in bytes.
    pub message_bytes: usize,
    /// Deepest nesting of a client's message.
    pub json_depth: usize,
    /// Most requests of one client in flight.
    pub in_flight: usize,
    /// Most modern requests over HTTP of one principal in flight: many clients may share its credential.
    pub in_flight_principal: usize,
    /// Most questions of servers that wait for one client.
    pub questions: usize,
    /// Time for a client to answer a question of a server.
    pub question_time: Duration,
    /// Time for a client to answer the questions of a modern server by repeating its request.
    pub round_time: Duration,
    /// Time for servers to agree to a subscription before `subscriptions/listen` is acknowledged.
    pub listen_time: Duration,
    /// Time in which changes of lists are collected before they are announced.
    pub change_pause: Duration,
    /// Most messages that wait for one client; notifications over it are dropped and counted.
    pub outbox: usize,
    /// Items on one page of a list.
    pub page_items: usize,
    /// Most subscriptions of one client to resources.
    pub subscriptions: usize,
    /// Most subscriptions of modern requests over HTTP of one principal.
    pub subscriptions_principal: usize,
    /// Most open `subscriptions/listen` of one client.
    pub listens: usize,
    /// Most clients of modern requests over HTTP that are remembered: one for each principal in each scope.
    pub clients: usize,
    /// Most sessions of clients that shook hands over HTTP.
    pub sessions: usize,
    /// Most sessions of one principal.
    pub sessions_per_principal: usize,
    /// Time after which an idle session over HTTP ends.
    pub session_idle: Duration,
    /// Time after which an idle session over HTTP ends if there is no room for others.
    pub session_idle_when_full: Duration,
    /// Time without a use after which a connection to a server that one client has for itself is closed.
    pub connection_idle: Duration,
    /// Time that a first list over a byte stream waits for servers that were never seen.
    pub first_list_stream: Duration,
    /// The same over HTTP.
    pub first_list_http: Duration,
    /// Time for calls in flight when the gateway drains.
    pub drain: Duration,
    /// Time for a client to send the head of its first request on a connection over HTTP.
    pub head_time: Duration,
    /// Time between an answer and the whole head of the next request on the same connection. Clients keep
    /// connections for later requests, and one that is closed too early may cost them a request.
    pub idle_time: Duration,
    /// Time for a client to send a request's body over HTTP.
    pub body_time: Duration,
    /// Time for a client to take any of the bytes that are written to it over HTTP.
    pub write_time: Duration,
    /// Most connections over HTTP.
    pub connections: usize,
    /// Longest head of a request over HTTP in bytes.
    pub head_bytes: usize,
    /// Most headers of a request over HTTP.
    pub headers: usize,
    /// Time after which a request over HTTP that has no answer yet is answered by a stream of events.
    pub stream_after: Duration,
    /// Time between the comments that keep a stream of events open.
    pub keep_alive: Duration,
    /// Time after which a legacy client resumes a stream that broke.
    pub retry: Duration,
    /// Most messages of a stream over HTTP that are kept for a client that resumes it, and most that wait
    /// for a session without a stream.
    pub replay_events: usize,
    /// Most bytes of a stream over HTTP that are kept for a client that resumes it.
    pub replay_bytes: usize,
    /// Most bytes of all streams over HTTP together. Over it nothing is kept for clients that resume, and nothing
    /// waits for clients that are not connected.
    pub replay_bytes_all: usize,
    /// Most streams of a session over HTTP that can be resumed.
    pub replay_streams: usize,
    /// Most messages in a batch of 2025-03-26.
    pub batch_messages: usize,
    /// Most offers that are kept: one for each caller and part of the host.
    pub offers: usize,
    /// Most addresses of resources whose outward form is remembered.
    pub addresses: usize,
    /// Longest instructions of all servers together in bytes.
    pub instruction_bytes: usize,
    /// Longest sealed text that is opened in bytes.
    pub sealed_bytes: usize,
    /// Time between two looks at servers that are left out, and between two attempts to connect to them for
    /// lists that do not wait.
    pub recheck: Duration,
    /// Time that clients may keep a list for.
    pub list_ttl: Duration,
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            message_bytes: 10 << 20,
            json_depth: 128,
            in_flight: 64,
            in_flight_principal: 4096,
            questions: 64,
            question_time: Duration::from_secs(10 * 60),
            round_time: Duration::from_secs(60 * 60),
            listen_time: Duration::from_secs(5),
            change_pause: Duration::from_millis(50),
            outbox: 1024,
            page_items: 1000,
            subscriptions: 256,
            subscriptions_principal: 16_384,
            listens: 16,
            clients: 4096,
            sessions: 16_384,
            sessions_per_principal: 16_384,
            session_idle: Duration::from_secs(30 * 60),
            session_idle_when_full: Duration::from_secs(60),
            connection_idle: Duration::from_secs(5 * 60),
            first_list_stream: Duration::from_secs(5),
            first_list_http: Duration::from_millis(250),
            drain: Duration::from_secs(10),
            head_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(60),
            body_time: Duration::from_secs(30),
            write_time: Duration::from_secs(30),
            connections: 4096,
            head_bytes: 64 << 10,
            headers: 100,
            stream_after: Duration::from_secs(1),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            replay_events: 64,
            replay_bytes: 256 << 10,
            replay_bytes_all: 64 << 20,
            replay_streams: 16,
            batch_messages: 64,
            offers: 256,
            addresses: 100_000,
            instruction_bytes: 64 << 10,
            sealed_bytes: 1 << 20,
            recheck: Duration::from_secs(2),
            list_ttl: Duration::from_secs(10),
        }
    }
}
