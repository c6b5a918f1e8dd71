//! A binary of your own.
fn main() {}
