//! External control of a run: halt, resume, reload, status, signals and resolution of doubts.
//!
//! - Socket (owner only): each [`ControlOrder`] and [`ControlAnswer`] is a JSON line. `follow` streams events.
//! - Journal database ([`JournalOrders`]): answers are durable. Orders with the same token are executed only once.
//! - File `HALT` ([`ControlPaths`]): halts the run and blocks resume orders. Removing it does not resume the run.
//! - Signal SIGHUP: reloads the settings.
//!
//! All four routes send a [`ControlRequest`] through one bounded channel. All I/O has a timeout in real time.

#[cfg(unix)]
mod client;
mod halt_file;
#[cfg(unix)]
mod hang_up;
mod journal_orders;
mod market;
mod order;
#[cfg(unix)]
mod server;
mod signal;
#[cfg(not(unix))]
mod without_sockets;

#[cfg(unix)]
pub use client::{FollowedRun, send_order};
pub use halt_file::{ControlPaths, CreationOutcome, HaltFile, RemovalOutcome};
#[cfg(unix)]
pub use hang_up::HangUpHandler;
pub use journal_orders::JournalOrders;
pub use market::{
    ApiState, Blockage, LateSeries, MarketState, SlowestCandle, StreamState, VenueApi, VenueHealth,
};
pub(crate) use market::{QuietSeries, describe_time};
pub use order::{ControlAnswer, ControlError, ControlOrder, ControlRequest, Phase, Resolution, RunState};
pub(crate) use order::{describe_late_series, describe_silence};
#[cfg(unix)]
pub use server::ControlServer;
pub use signal::{
    NextEntry, RunEnded, SignalBots, SignalOrder, SignalOutcome, SignalTally, SourceTally, send_signal,
};
#[cfg(not(unix))]
pub use without_sockets::{ControlServer, FollowedRun, send_order};
