//! What a walk forward is asked for and guards: the layout of its windows, and the lock on the hold-out.

mod census;
mod layout;
mod lock;

pub(crate) use census::count_variants;
pub(crate) use layout::{Layout, LayoutArguments};
pub(crate) use lock::{Asked, Hypothesis, Lock, Opened, Reopening};
