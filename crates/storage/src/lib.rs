//! Files on object storage: read, and put whole or not at all.
//!
//! An [`ObjectUrl`] is an address, a [`Storage`] what answers for the bucket or the disk that it lies on. Calls block, each within a
//! deadline that follows from the size of what is moved; what is lost on the way is asked for again, a bounded number of times. Credentials come
//! from the environment alone (`AWS_ACCESS_KEY_ID` and the like) and stand in no message.

mod environment;
mod error;
mod storage;
mod url;

pub use error::StorageError;
pub use storage::{Kept, Object, Storage, Version};
pub use url::{ObjectUrl, Scheme};
