//! The `candlewick` binary.
fn main() {}
