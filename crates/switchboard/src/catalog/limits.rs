//! Limits on the lists of one server.

/// The limits that one server's part of the catalog is held to.
///
/// An item or text over a limit is left out or cut, alone, and reported as a
/// [`Notice`](super::Notice).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct CatalogLimits {
    /// The most characters in a name; an item with a longer one is set aside.
    pub name_chars: usize,
    /// The most bytes in the address of a resource; one with a longer one is set aside.
    pub address_bytes: usize,
    /// The most bytes of a title that are shown.
    pub title_bytes: usize,
    /// The most bytes of a description that are shown.
    pub description_bytes: usize,
    /// The most bytes of a server's instructions that are shown.
    pub instruction_bytes: usize,
    /// The most bytes in one schema; a tool with a longer one is set aside.
    pub schema_bytes: usize,
    /// The most items of one kind; those after them are set aside.
    pub items: usize,
}

impl Default for CatalogLimits {
    fn default() -> Self {
        Self {
            name_chars: 128,
            address_bytes: 8 * 1024,
            title_bytes: 256,
            description_bytes: 16 * 1024,
            instruction_bytes: 16 * 1024,
            schema_bytes: 256 * 1024,
            items: 2048,
        }
    }
}
