//! The write lock of a journal's file, held by somebody else: nothing can be written meanwhile, as on a disk that is full.

use crate::database::JournalUrl;
use crate::database::connection::{Connection, Purpose};
use crate::database::fault::from_sqlx;
use crate::error::JournalError;

/// Holds the write lock until it is dropped, and writes nothing.
pub struct HeldWrites {
    connection: Connection,
}

/// Takes the write lock of the file of a journal; for a drill.
///
/// # Errors
/// There is no such journal, or it is locked already.
pub async fn hold_writes(url: &JournalUrl) -> Result<HeldWrites, JournalError> {
    let mut connection = Connection::open(url, Purpose::Write).await?;
    let locked = sqlx::query("BEGIN IMMEDIATE").execute(connection.any()).await;
    locked.map_err(|error| from_sqlx(error, url))?;
    Ok(HeldWrites { connection })
}

impl HeldWrites {
    /// Lets others write again.
    pub async fn let_go(self) {
        self.connection.close().await;
    }
}
