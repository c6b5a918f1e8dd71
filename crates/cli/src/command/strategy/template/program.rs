//! The `candlewick` program with this strategy in addition to the built-in ones.

use candlewick_cli::{App, CountingAllocator};
use std::process::ExitCode;

use my_strategy::MyStrategy;

/// Lets `strategy check` detect memory growth.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    let app = App::with_builtin_strategies().with_package_folder(env!("CARGO_MANIFEST_DIR"));
    app.with_strategy::<MyStrategy>().run()
}
