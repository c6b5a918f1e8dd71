//! The `candlewick` binary: the strategies of this repository behind the command line.

use candlewick_cli::{App, CountingAllocator};
use std::process::ExitCode;

/// Counts what strategies hold, for `strategy check`.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    App::with_builtin_strategies().run()
}
