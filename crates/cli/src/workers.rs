//! The threads that carry out what goes on at once for months: few, however many cores there are. An allocator keeps what a thread has
//! freed for that thread, so that of what takes much room for a moment, such as a list of thousands of trades, each thread keeps as much.

use crate::failure::{Failure, FailureKind};
use std::thread::available_parallelism;
use tokio::runtime::{Builder, Runtime};

/// Beside the one that waits for the end. The figures of `BENCHMARKS.md` are of two.
const MOST: usize = 2;

/// Starts them: fewer where there are fewer cores.
pub(crate) fn start() -> Result<Runtime, Failure> {
    let cores = available_parallelism().map_or(1, usize::from);
    let runtime = Builder::new_multi_thread().worker_threads(MOST.min(cores)).enable_all().build();
    runtime.map_err(|error| Failure::new(FailureKind::Unexpected, error))
}
