//! The server as a client sees it, over in-memory pipes.

mod catalog;
mod client;
mod conformance;
mod growing;
mod legacy;
mod lines;
mod modern;
mod pagination;
mod questions;
mod slow;
mod subscriptions;
mod talking;
mod tools;
