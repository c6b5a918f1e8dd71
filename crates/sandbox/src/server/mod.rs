//! The HTTP side: routes, credentials, the shape of every answer.

mod connection;
mod credentials;
mod date;
mod failure;
mod faults;
mod openapi;
mod opening;
mod prices;
mod query;
mod state;
mod trading;

pub(crate) use connection::{Connection, ConnectionListener};
pub(crate) use openapi::router;
pub(crate) use state::ServerState;
