//! Worker threads of long runs: few, however many cores there are.
//!
//! An allocator caches freed memory per thread, so each thread keeps as much as the largest
//! temporary value, such as a list of thousands of trades.

use crate::failure::{Failure, FailureKind};
use std::thread::available_parallelism;
use tokio::runtime::{Builder, Runtime};

/// In addition to the thread that waits for the end. `BENCHMARKS.md` was measured with two.
const MOST: usize = 2;

pub(crate) fn start() -> Result<Runtime, Failure> {
    let cores = available_parallelism().map_or(1, usize::from);
    let runtime = Builder::new_multi_thread().worker_threads(MOST.min(cores)).enable_all().build();
    runtime.map_err(|error| Failure::new(FailureKind::Unexpected, error))
}
