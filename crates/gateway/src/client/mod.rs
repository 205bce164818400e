//! The state of one client, and the way of each of its messages.
