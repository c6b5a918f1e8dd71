//! Database of a journal: URL, connection, schema and errors.

pub(crate) mod connection;
pub(crate) mod fault;
pub(crate) mod lock;
pub(crate) mod schema;
mod url;

pub use url::JournalUrl;
