//! HTTP side: routes, credentials and the shape of every answer.

mod admission;
mod connection;
mod credentials;
mod date;
mod document;
mod failure;
mod faults;
mod listener;
mod openapi;
mod opening;
mod payload;
mod prices;
mod query;
mod state;
#[cfg(feature = "stream")]
mod stream;
mod trading;

pub(crate) use connection::Connection;
pub(crate) use listener::ConnectionListener;
pub(crate) use openapi::router;
pub(crate) use state::ServerState;
