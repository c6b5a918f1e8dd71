//! Full-screen view of a live run, with keys to halt, resume and quit.
//!
//! [`View`] is the state, derived only from received notices. [`draw()`] renders the state, and
//! [`Ui::on_key`] maps keys to orders. These parts do no I/O. [`show()`] runs all parts on a thread behind a
//! bounded channel, so a blocked terminal never blocks the run.

mod draw;
mod keys;
mod look;
mod show;
mod view;

pub use draw::draw;
pub use keys::{KeyCommand, Pane, Ui};
pub use look::Palette;
pub use ratatui;
pub use show::{RunControls, check_terminal, restore_keyboard, show};
pub use view::{BotFacts, RunFacts, View};
