//! Full-screen view of a live run, with keys to halt, resume and quit.
//!
//! [`View`] is the state, which is derived only from received notices. [`draw()`] renders the state, and
//! [`Ui::on_key`] maps keys to commands. None of these does any I/O. [`show()`] runs all of them on a thread with a
//! bounded channel, so that a blocked terminal never blocks the run.

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
