//! The page of a bot: what its journal holds and what it answers, in a browser.
//!
//! A [`Dashboard`] is a process of its own. It reads the journal as any reader does, asks a running bot for its state through
//! the control socket, and gives it two orders, as `candlewick halt` and `candlewick resume` do. It holds nothing that trading
//! waits for: an attack on it, or its crash, costs the page and no trade.
//!
//! `watch` follows journal and bot, `model` is what the lines have made so far, `view` how a browser is told, and `server` who
//! may ask.

mod error;
mod model;
mod server;
mod settings;
mod view;
mod watch;

pub use error::DashboardError;
pub use server::{Dashboard, Link};
pub use settings::{DashboardSettings, Watched};
