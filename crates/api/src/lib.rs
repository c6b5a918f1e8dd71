//! Client for the venue's trading and price APIs. It implements the traits of the broker crate.
//!
//! Concepts of the API (pages, wallets, projections, asset types, slots) are private to this crate. The crate has no
//! risk rules and no ledger. It does not resolve orders of unknown status.

mod credentials;
mod http;
mod model;
mod rejection;
mod report;
mod settings;

pub use credentials::{Credentials, Secret, SecretError, TokenSource};
pub use http::{
    Body, HttpBroker, HttpExchange, HttpObserver, Purpose, RawResponse, Transport, TransportError,
    install_tls_provider,
};
pub use model::parse_json;
pub use settings::{OpenBody, Settings, TimestampFormat};
