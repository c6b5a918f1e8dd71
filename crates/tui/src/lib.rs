//! Full-screen view of a live run, with keys to halt, resume and quit.
//!
//! [`View`] is the state, derived only from received notices. [`draw()`] renders it, [`Ui::on_key`]
//! maps keys to orders; neither does I/O. [`show()`] runs them on a thread behind the run's bounded
//! channel: a blocked terminal never blocks the run.

mod draw;
mod event_words;
mod keys;
mod palette;
mod show;
mod terminal;
mod view;
mod words;

pub use draw::draw;
pub use keys::{Order, Pane, Ui};
pub use palette::Palette;
pub use ratatui;
pub use show::{Seat, show};
pub use terminal::{is_possible, leave};
pub use view::{BotFacts, Facts, View};
