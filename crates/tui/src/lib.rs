//! A live run on a whole terminal: what it does, holds and refuses, and the keys that halt, resume and end it.
//!
//! [`View`] is what is known of the run: a function of the notices that it was handed, and nothing else. [`draw()`] makes a
//! picture of it, [`Ui::on_key`] says what a key orders; neither does any I/O. [`show()`] is the thread around them, behind the
//! run's bounded channel: a terminal that stands still holds up nothing but itself.

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
