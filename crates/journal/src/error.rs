//! Why a journal cannot be used.

use std::io;
use std::path::PathBuf;

/// What to do about a journal that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Name another file, or move the old one away: a journal is never written over.
    #[error("{} exists already: name another file, or move it away", path.display())]
    NameAnother {
        /// The file.
        path: PathBuf,
    },
    /// Make the folder writable, or name another.
    #[error("{} cannot be written", path.display())]
    MakeWritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
