//! Lists that come in pages.

use serde::{Deserialize, Serialize};

use crate::{FromRaw, Raw};

/// One page of a list: the items raw, so that a bad one does not cost the good ones.
macro_rules! page {
    ($(#[$meta:meta])* $Name:ident, $key:literal) => {
        wire_object! {
            $(#[$meta])*
            pub struct $Name {
                /// The items as sent; each is read on its own.
                items: [list Raw] = $key,
                /// Where the next page begins. An empty string is a cursor like any other.
                next_cursor: [opt str] = "nextCursor",
                /// Modern: for how long the page may be kept.
                ttl_ms: [opt copy f64] = "ttlMs",
                /// Modern: who may share it, `public` or `private`.
                cache_scope: [opt str] = "cacheScope",
                /// Anything else, by agreement.
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

/// One page of any list.
pub trait Page: FromRaw {
    /// The items as sent; each is read on its own.
    fn items(&self) -> &[Raw];
    /// Where the next page begins; `None` ends the list, an empty string does not.
    fn next_cursor(&self) -> Option<&str>;
    /// Modern: for how long the page may be kept.
    fn ttl_ms(&self) -> Option<f64>;
    /// Modern: who may share it.
    fn cache_scope(&self) -> Option<&str>;
}

/// Where in a list to begin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageParams {
    /// The cursor of the page before; absent for the first page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cursor: Option<String>,
}
