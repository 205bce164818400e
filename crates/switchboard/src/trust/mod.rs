//! Which descriptions of servers the person has approved.
