//! One interface over the four kinds of items that servers list.

use serde_json::Value;
use switchboard_wire::{FromRaw, Prompt, Raw, Resource, ResourceTemplate, Tool};

use super::notice::ItemKind;

/// Something that a server lists.
pub(super) trait ItemDefinition: FromRaw + Clone {
    /// The list that items of this type are in.
    const KIND: ItemKind;

    /// The name or URI: unique within its list.
    fn id(&self) -> &str;
    fn raw(&self) -> &Raw;
    fn title(&self) -> Option<&str>;
    fn description(&self) -> Option<&str>;

    /// The schemas in it.
    fn schemas(&self) -> impl Iterator<Item = &Raw> {
        std::iter::empty()
    }

    /// Returns true for a tool whose server sent no `inputSchema`.
    fn has_no_schema(&self) -> bool {
        false
    }
}

/// Compares two definitions. Members may come in another order: some servers write them
/// in a new one each time.
pub(super) fn same<D: ItemDefinition>(one: &D, other: &D) -> bool {
    let (one, other) = (one.raw(), other.raw());
    // The usual case. Servers may also write the same definition with its members in another order.
    if one.as_str() == other.as_str() {
        return true;
    }
    match (one.decode::<Value>(), other.decode::<Value>()) {
        (Ok(one), Ok(other)) => one == other,
        // What cannot be read as a value (a lone surrogate) is the same only to the letter.
        _ => false,
    }
}

/// The definition with a text of its own.
///
/// As it comes it shares the text of its whole page. An entry lives on while its tool stays the same,
/// and would hold a page of long ago; a server that changes all its tools but one could so make us
/// keep every list that it ever sent.
pub(super) fn detached<D: ItemDefinition>(definition: D) -> D {
    // A `Raw` shares the buffer that it was read from.
    let own = Raw::parse(definition.raw().as_str()).ok();
    own.and_then(|raw| D::from_raw(&raw).ok())
        .unwrap_or(definition)
}

macro_rules! definition {
    ($type:ty, $kind:ident, $id:ident) => {
        definition! { $type, $kind, $id, |item| item.title() }
    };
    ($type:ty, $kind:ident, $id:ident, |$item:ident| $title:expr $(, $($more:item)*)?) => {
        impl ItemDefinition for $type {
            const KIND: ItemKind = ItemKind::$kind;

            fn id(&self) -> &str {
                self.$id()
            }

            fn raw(&self) -> &Raw {
                self.raw()
            }

            fn title(&self) -> Option<&str> {
                let $item = self;
                $title
            }

            fn description(&self) -> Option<&str> {
                self.description()
            }

            $($($more)*)?
        }
    };
}

definition! {
    Tool, Tool, name,
    |tool| tool.title().or_else(|| tool.annotations()?.title()),
    fn schemas(&self) -> impl Iterator<Item = &Raw> {
        let output = self.output_schema().map(|schema| schema.raw());
        std::iter::once(self.input_schema().raw()).chain(output)
    }
    fn has_no_schema(&self) -> bool {
        self.input_schema().is_missing()
    }
}
definition! { Prompt, Prompt, name }
definition! { Resource, Resource, uri }
definition! { ResourceTemplate, Template, uri_template }
