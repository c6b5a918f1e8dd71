//! A typed async client of the two HTTP APIs, the [`Venue`] port in front of it, and the clock.
//!
//! [`HttpVenue`] speaks to the trading token API and to the symbol price API as the contract describes them.
//! Reading requests are repeated within bounds; an open is sent at most once, whatever happens, and whatever
//! then remains unknown is said to be so ([`ApiError::Ambiguous`]). Answers are read tolerantly, and what was
//! not known about them is counted in [`SchemaDrift`]. The records of [`model`] also serialize to exactly what
//! the contract says, so that a sandbox can serve them.
//!
//! Nothing here decides anything: no risk rule, no ledger, no resolution of doubt.

// The port, and what passes through it.
mod candles;
mod error;
pub mod model;
mod order;
mod refusal;
mod report;
mod tap;
mod venue;
// The client.
mod credentials;
mod http;
mod settings;

// What moved to the ports' crate, until its users name that.
pub use candles::{ClosedCandles, closed_candles};
pub use candlewick_broker::{
    Account, OpenOrder, Reply, Skew, USUAL_INTERVALS as SEEN_INTERVALS, UnrecognisedData as SchemaDrift,
    clock, current_intent as present, for_intent as about,
};
pub use credentials::{Credentials, Secret, SecretError};
pub use error::ApiError;
/// The client under its old name.
pub type HttpVenue = HttpBroker;

pub use http::{Body, Carried, HttpBroker, NoAnswer, Purpose, Transport};
pub use order::OpenReply;
pub use settings::{OpenBody, Settings, TimestampFormat};
pub use tap::{Exchange, Tap};
#[cfg(any(test, feature = "mock"))]
pub use venue::MockVenue;
pub use venue::Venue;
