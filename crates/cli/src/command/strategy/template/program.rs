//! Every command of `candlewick`, with this strategy beside those that are built in.

use candlewick_cli::{App, CountingAllocator};
use std::process::ExitCode;

use my_strategy::MyStrategy;

/// Lets `strategy check` say whether memory grows.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    let app = App::with_builtin_strategies().built_in(env!("CARGO_MANIFEST_DIR"));
    app.with_strategy::<MyStrategy>().run()
}
