//! External control of a run: halt, resume, reload, status, signals and resolving doubts.
//!
//! - Socket, owner only: one JSON line per [`ControlOrder`] and [`ControlAnswer`]; `follow` streams events.
//! - Journal database ([`JournalOrders`]): durable answers. Orders that share a token run once.
//! - File `HALT` ([`ControlPaths`]): halts. While it exists, resume is refused. Removal resumes nothing.
//! - Signal SIGHUP: reloads.
//!
//! All feed one bounded channel of [`ControlRequest`]s. All I/O has a timeout in real time.

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
