//! Results of long work that need not be done again: found by everything that decides them, or not at all.
//!
//! A [`Key`] is a hash over the code that runs, the candles, the settings, and the files that parameters name, each by its
//! content. A result is kept under its key alone, so that one of other code, other candles or other settings is not a stale
//! result but one that is not found. What is kept is what takes long: the trades of a run, and the sensitivity to
//! settings. What a report says of them is worked out anew each time.
//!
//! It saves time and nothing else. Where it cannot be read or written, all goes on as if it were not there.

mod key;
mod runs;
mod store;

use key::Key;
pub(crate) use key::NamedFiles;
pub(crate) use runs::{CachedRun, Known, RunCache};
pub(crate) use store::ResultCache;
