//! The HTTP side: routes, credentials, the shape of every answer.

mod connection;
mod credentials;
mod date;
mod desk;
mod faults;
mod openapi;
mod opening;
mod prices;
mod query;
mod refusal;
mod trading;

pub(crate) use connection::{Connection, ConnectionListener};
pub(crate) use desk::Desk;
pub(crate) use openapi::router;
