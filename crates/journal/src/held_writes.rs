//! Blocks the writes of a journal file, which simulates a full disk.

use crate::database::JournalUrl;
use crate::database::connection::{Connection, Purpose};
use crate::database::fault::from_sqlx;
use crate::error::JournalError;

pub struct HeldWrites {
    connection: Connection,
}

pub async fn hold_writes(url: &JournalUrl) -> Result<HeldWrites, JournalError> {
    let mut connection = Connection::open(url, Purpose::Write).await?;
    let locked = sqlx::query("BEGIN IMMEDIATE").execute(connection.any()).await;
    locked.map_err(|error| from_sqlx(error, url))?;
    Ok(HeldWrites { connection })
}

impl HeldWrites {
    pub async fn let_go(self) {
        self.connection.close().await;
    }
}
