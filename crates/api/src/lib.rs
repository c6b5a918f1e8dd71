//! A typed async client of the two HTTP APIs, the [`Venue`] port in front of it, and the clock.
//!
//! [`HttpVenue`] speaks to the trading token API and to the symbol price API as the contract describes them.
//! Reading requests are repeated within bounds; an open is sent at most once, whatever happens, and whatever
//! then remains unknown is said to be so ([`ApiError::Ambiguous`]). Answers are read tolerantly, and what was
//! not known about them is counted in [`SchemaDrift`]. The records of [`model`] also serialize to exactly what
//! the contract says, so that a sandbox can serve them.
//!
//! [`Download`] reads the candles of long ranges through the port, right whatever pages the venue makes of them.
//!
//! Nothing here decides anything: no risk rule, no ledger, no resolution of doubt.

// Time.
pub mod clock;
// The port, and what passes through it.
mod candles;
mod error;
pub mod model;
mod order;
mod reply;
mod tap;
mod venue;
// The client.
mod credentials;
mod download;
mod drift;
mod http;
mod recorder;
mod settings;

pub use candles::{ClosedCandles, SEEN_INTERVALS, closed_candles};
pub use credentials::{Credentials, Secret, SecretError};
pub use download::{Download, DownloadSettings, Downloaded};
pub use drift::SchemaDrift;
pub use error::ApiError;
pub use http::{Body, Carried, HttpVenue, NoAnswer, Purpose, Transport};
pub use order::{Account, OpenOrder, OpenReply};
pub use recorder::{PriceRecorder, Recorded};
pub use reply::{Reply, Skew};
pub use settings::{OpenBody, Settings, TimestampFormat};
pub use tap::{Exchange, Tap, about, present};
#[cfg(any(test, feature = "mock"))]
pub use venue::MockVenue;
pub use venue::Venue;
