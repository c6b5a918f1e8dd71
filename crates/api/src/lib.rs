//! A client of the two HTTP APIs: an adapter of the ports [`MarketData`](candlewick_broker::MarketData) and
//! [`Broker`](candlewick_broker::Broker).
//!
//! [`HttpBroker`] makes requests to the trading token API and to the symbol price API as the contract describes them.
//! Reading requests are repeated within bounds; an open is sent at most once, whatever happens, and whatever then remains
//! unknown is said to be so ([`OpenOutcome::Unknown`](candlewick_broker::OpenOutcome::Unknown)). Answers are read
//! tolerantly, and what was not known about them is counted
//! ([`UnrecognisedData`](candlewick_broker::UnrecognisedData)). What the APIs call things stays in this crate: pages,
//! wallets, projections, asset types, slots.
//!
//! Nothing here decides anything: no risk rule, no ledger, no resolution of doubt.

// What the two APIs send and receive.
mod funding;
mod model;
mod order;
mod rejection;
mod report;
// The client.
mod credentials;
mod echo;
mod http;
mod observer;
mod settings;

pub use credentials::{Credentials, Secret, SecretError, TokenSource};
pub use http::{Body, HttpBroker, NoAnswer, Purpose, RawAnswer, Transport, prepare_tls};
pub use observer::{Exchange, HttpObserver};
pub use settings::{OpenBody, Settings, TimestampFormat};
