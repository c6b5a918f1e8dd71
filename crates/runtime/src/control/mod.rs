//! Orders from outside to a run: halt, resume, reload, status, and the end of a doubt.
//!
//! A person speaks to a running bot in four ways, by the places of its journal ([`ControlPaths`]):
//!
//! - through a **socket** that only its owner can open. A message is one line of JSON, its answer another
//!   ([`ControlOrder`], [`ControlAnswer`]): `{"order":"halt","reason":"..."}`, `{"order":"resume"}`,
//!   `{"order":"reload","by":"command"}`, `{"order":"status"}`, `{"order":"resolve","intent":7,"resolution":{"adopt":"01J..."},"reason":"..."}` (or
//!   `"resolution":"not_opened"`), `{"order":"signal","bot":"ema","direction":"BUY","source":"command","id":"1"}`. After the line `{"order":"follow"}` the run's events are written to the connection as they
//!   happen ([`events`](crate::events)), and nothing else is taken from it;
//! - through the **journal's database** ([`JournalOrders`]), from wherever that is reached. The answer is durable together
//!   with what the order brought about. An order that comes both ways bears one mark (`"token":"..."`) and is carried out
//!   once;
//! - through a **file**, `HALT`, for when both are out of reach. Its appearance halts. Its removal resumes
//!   nothing: that takes an order, and while the file is there, the order to resume is refused;
//! - by the **signal** SIGHUP, which orders a reload and nothing else.
//!
//! Orders reach the run as [`ControlRequest`]s through a bounded channel; nothing is decided here. Every
//! read, write and answer has a deadline, in real time.

// What is said, and where.
mod blockage;
mod halt_file;
mod journal_orders;
mod market;
mod order;
mod paths;
mod signal;
mod signal_bots;
mod signal_words;
// Who says it to whom.
#[cfg(unix)]
mod client;
#[cfg(unix)]
mod following;
#[cfg(unix)]
mod hang_up;
#[cfg(unix)]
mod line;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod socket_file;
#[cfg(not(unix))]
mod without_sockets;
// What goes wrong.
mod error;

pub use blockage::Blockage;
#[cfg(unix)]
pub use client::send_order;
pub use error::ControlError;
#[cfg(unix)]
pub use following::FollowedRun;
pub use halt_file::{HaltFile, Raised, Removed};
#[cfg(unix)]
pub use hang_up::HangUp;
pub use journal_orders::JournalOrders;
pub use market::{ApiState, LateSeries, MarketState, SlowestCandle, StreamState, VenueApi, VenueHealth};
pub(crate) use market::{QuietSeries, describe_time};
pub use order::{ControlAnswer, ControlOrder, ControlRequest, Phase, Resolution, RunState};
pub(crate) use order::{describe_late, silence};
pub use paths::ControlPaths;
#[cfg(unix)]
pub use server::ControlServer;
pub use signal::{NextEntry, RunEnded, SignalOrder, SignalOutcome, SignalTally, SourceTally, send_signal};
pub use signal_bots::SignalBots;
#[cfg(not(unix))]
pub use without_sockets::{ControlServer, FollowedRun, send_order};
