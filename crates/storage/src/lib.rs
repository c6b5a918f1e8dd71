//! Object storage client with atomic uploads.
//!
//! An [`ObjectUrl`] is an address, a [`Storage`] the client for its bucket or disk. Calls block,
//! with a deadline that depends on the transferred size. Lost transfers are retried a bounded
//! number of times. Credentials come only from the environment (`AWS_ACCESS_KEY_ID` etc.) and never
//! appear in a message.

mod environment;
mod error;
mod storage;
mod url;

pub use error::StorageError;
pub use storage::{Kept, Object, Storage, Version};
pub use url::{ObjectUrl, Scheme};
