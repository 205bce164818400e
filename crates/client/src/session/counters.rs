//! Counters for everything that a connection drops or refuses.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($( $(#[$meta:meta])* $name:ident ),* $(,)?) => {
        /// The number of messages of a server that a connection dropped or refused, by reason.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $( $(#[$meta])* pub $name: u64, )*
        }

        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $( pub(crate) $name: Counter, )*
        }

        impl Counters {
            pub(crate) fn now(&self) -> Counts {
                Counts { $( $name: self.$name.get(), )* }
            }
        }
    };
}

counters! {
    /// Lines that were not JSON objects.
    noise_lines,
    /// Lines that were not UTF-8.
    invalid_utf8,
    /// Lines with nothing in them.
    blank_lines,
    /// Messages over the size limit.
    over_limit,
    /// Answers, requests and incomplete messages that did not fit into the memory budget.
    no_room,
    /// Objects that were not JSON-RPC messages.
    malformed,
    /// Answers to requests that are not pending.
    unmatched_answers,
    /// Notifications that a slow reader did not get.
    dropped_notices,
    /// Progress that went backwards, or belonged to no call.
    odd_progress,
    /// Requests of the server that were refused because too many were open.
    refused_requests,
    /// Requests of a modern server, which may not make any.
    forbidden_requests,
    /// Answers to the server that were not sent because it does not read.
    shed_answers,
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.add_many(1);
    }

    pub(crate) fn add_many(&self, many: u64) {
        self.0.fetch_add(many, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
