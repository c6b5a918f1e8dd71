//! The database below a journal: where it lies, how it is spoken to, its schema, and what its errors mean.

pub(crate) mod connection;
pub(crate) mod fault;
pub(crate) mod lock;
pub(crate) mod schema;
mod url;

pub use url::JournalUrl;
