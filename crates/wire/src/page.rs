//! Paginated lists.

use serde::{Deserialize, Serialize};

use crate::{FromRaw, Raw};

/// Declares one page of a list. Its items stay raw, so that a malformed one leaves the others readable.
macro_rules! page {
    ($(#[$meta:meta])* $Name:ident, $key:literal) => {
        wire_object! {
            $(#[$meta])*
            pub struct $Name {
                /// The items as sent; each is read separately.
                items: [list Raw] = $key,
                /// The cursor of the next page. An empty string is a cursor like any other.
                next_cursor: [opt str] = "nextCursor",
                /// Modern: the time that the page may be cached, in milliseconds.
                ttl_ms: [opt copy f64] = "ttlMs",
                /// Modern: the cache that may hold it, `public` (shared) or `private`.
                cache_scope: [opt str] = "cacheScope",
                /// The `_meta` object, as sent.
                meta: [opt of Raw] = "_meta",
            }
        }

        impl $crate::Page for $Name {
            fn items(&self) -> &[$crate::Raw] {
                &self.items
            }

            fn next_cursor(&self) -> Option<&str> {
                $Name::next_cursor(self)
            }

            fn ttl_ms(&self) -> Option<f64> {
                self.ttl_ms
            }

            fn cache_scope(&self) -> Option<&str> {
                $Name::cache_scope(self)
            }
        }
    };
}

/// One page of any list, for code that pages through all of them.
pub trait Page: FromRaw {
    /// The items as sent; each is read separately.
    fn items(&self) -> &[Raw];
    /// The cursor of the next page; `None` ends the list, an empty string does not.
    fn next_cursor(&self) -> Option<&str>;
    /// Modern: the time that the page may be cached, in milliseconds.
    fn ttl_ms(&self) -> Option<f64>;
    /// Modern: the cache that may hold it, `public` (shared) or `private`.
    fn cache_scope(&self) -> Option<&str>;
}

/// Parameters of a list request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageParams {
    /// The cursor of the page to read; absent for the first page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cursor: Option<String>,
}
