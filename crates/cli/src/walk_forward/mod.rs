//! What a walk forward is asked for, guards and leaves behind: the layout of its windows, the lock on the hold-out, and the
//! report with its files.

mod census;
mod curve;
mod figures;
mod hold_out;
mod layout;
mod lock;
mod report;
mod table;

pub(crate) use census::count_variants;
pub(crate) use hold_out::HoldOut;
pub(crate) use layout::{Layout, LayoutArguments};
pub(crate) use lock::{Asked, Hypothesis, Lock, Opened, Reopening};
pub(crate) use report::{Report, Walked, Written};
pub(crate) use table::write_windows;
