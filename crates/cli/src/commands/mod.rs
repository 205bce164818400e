//! What each command does.

pub(crate) mod call;
pub(crate) mod leftovers;
pub(crate) mod test_server;
pub(crate) mod tools;
