//! Runs a Session live: polls candles and prices, sends opens, tracks results.
//!
//! One task conducts everything. Its [`agenda`] says what is due when; what is due is asked of the venue
//! in tasks of their own, each with a deadline; their reports become events; the [`queue`] puts the events
//! of one instant into the order of the rules before the Session sees them. No decision is made here.

// What is due, and in which order it is told.
mod agenda;
mod audit;
mod gate;
mod queue;
// What is asked of the venue, and what its answers mean.
mod candle_watch;
mod request;
mod settlement;
mod skew;
mod trade_watch;
// What became of requests without an answer.
mod resolver;
// What people order.
mod adoption;
pub mod control;
// The run.
mod conductor;
mod connect;
mod error;
mod observer;
pub mod paper;
mod past;
mod settings;
mod stop;

pub use adoption::confirm_adoption;
pub use audit::{Audit, Tally};
pub use conductor::{Conductor, Finished, Parts};
pub use connect::{Account, connect};
pub use error::RuntimeError;
pub use observer::{Notice, Observer};
pub use past::Past;
pub use resolver::latest_close;
pub use settings::RuntimeSettings;
pub use skew::{ClockEstimate, Witness};
pub use stop::Stop;
