//! Cursors: the place in a list that a client has read up to.
//!
//! A cursor names the last item that was read, not a position, so it survives changes of the list: the
//! next page begins with the first item that sorts after it, whether that item is still there or not.

use super::List;
use crate::scope::Scope;
use crate::seal::{Purpose, Seal};

/// Stands between the scope and the key: no name of a scope has it.
const END: u8 = 0;

/// Seals the place behind the item with that key.
pub(super) fn seal(seal: &Seal, principal: &str, list: List, scope: &Scope, key: &str) -> String {
    let mut content = head(list, scope);
    content.extend_from_slice(key.as_bytes());
    seal.seal(Purpose::Cursor, principal, &content)
}

/// Opens a cursor: the key of the last item that was read. `None` if it is of another list, scope or
/// principal, or not one of ours.
pub(super) fn open(
    seal: &Seal,
    principal: &str,
    list: List,
    scope: &Scope,
    cursor: &str,
) -> Option<String> {
    let content = seal.open(Purpose::Cursor, principal, cursor)?;
    let key = content.strip_prefix(&*head(list, scope))?;
    String::from_utf8(key.to_vec()).ok()
}

fn head(list: List, scope: &Scope) -> Vec<u8> {
    let list = match list {
        List::Tools => b't',
        List::Prompts => b'p',
        List::Resources => b'r',
        List::Templates => b'm',
    };
    let (kind, name) = match scope {
        Scope::All => (b'a', ""),
        Scope::Profile(name) => (b'p', &**name),
        Scope::Server(name) => (b's', name.as_str()),
    };
    [&[list, kind], name.as_bytes(), &[END]].concat()
}
