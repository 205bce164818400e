//! Servers to test clients against.
