//! The `candlewick` binary: all commands, with the strategies of this repository.

use candlewick_cli::{App, CountingAllocator};
use std::process::ExitCode;

/// Allocator that counts the memory used by strategies, for `strategy check`.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    App::with_builtin_strategies().run()
}
