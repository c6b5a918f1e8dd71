//! Atomic, verified copy of a journal, which may be in use.

use crate::database::connection::{Connection, Purpose};
use crate::database::fault::from_sqlx;
use crate::database::schema::{self, Found};
use crate::new_file::NewFile;
use crate::{JournalError, JournalUrl, Reader, Verified, lease};
use std::path::Path;

/// Copies a journal file to a new file.
///
/// The copy has no holder and is verified before it gets its name.
pub async fn back_up(url: &JournalUrl, to: &Path) -> Result<Verified, JournalError> {
    if url.file().is_none() {
        return Err(JournalError::OnServer { url: url.to_string() });
    }
    let mut source = Connection::open(url, Purpose::Read).await?;
    if schema::inspect(&mut source).await? == Found::Nothing {
        return Err(JournalError::NotFound { url: url.to_string() });
    }
    let (copy, _) = NewFile::create(to)?;
    let name = copy.partial().to_str().ok_or_else(|| JournalError::InvalidUrl {
        url: to.display().to_string(),
        reason: "the file's name is not UTF-8".to_owned(),
    })?;
    // In one reading transaction: what is written meanwhile is left out whole.
    let copied = sqlx::query("VACUUM INTO $1").bind(name).execute(source.any()).await;
    copied.map_err(|error| from_sqlx(error, &JournalUrl::from_path(to)))?;
    source.close().await;
    let verified = finish(copy.partial()).await.map_err(|error| told_of(error, url))?;
    copy.put_in_place()?;
    Ok(verified)
}

async fn finish(copy: &Path) -> Result<Verified, JournalError> {
    let url = JournalUrl::from_path(copy);
    let mut connection = Connection::open(&url, Purpose::Write).await?;
    lease::clear(connection.any(), &url).await?;
    connection.close().await;
    Reader::open(&url).await?.verify().await
}

fn told_of(error: JournalError, url: &JournalUrl) -> JournalError {
    match error {
        JournalError::BrokenChain { seq, reason, .. } => {
            JournalError::BrokenChain { url: url.to_string(), seq, reason }
        }
        other => other,
    }
}
