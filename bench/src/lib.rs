//! The programs that `cargo xtask bench` compares.
