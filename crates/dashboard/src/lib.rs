//! Web page of a bot: the contents of its journal and the replies of the running bot.
//!
//! A [`Dashboard`] is a separate process. It reads the journal like any reader, and uses the
//! control socket to poll the bot and to order `halt` and `resume`. Trading never waits for it: an
//! attack on it, or a crash, costs no trade. `watch` follows journal and bot, `model` folds the
//! lines, `view` renders the JSON, and `server` controls access.

mod error;
mod model;
mod server;
mod settings;
mod view;
mod watch;

pub use error::DashboardError;
pub use server::{Dashboard, Link};
pub use settings::{DashboardSettings, Watched};
