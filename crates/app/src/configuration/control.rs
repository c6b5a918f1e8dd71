//! The `[control]` section: where a running bot takes orders.

use super::{Loaded, Problem, Problems};
use crate::error::AppError;
use candlewick_journal::JournalUrl;
use candlewick_runtime::control::{ControlPaths, HaltFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The `[control]` section. What is left out lies beside the journal: `candlewick.db.sock` and
/// `candlewick.db.HALT` for `sqlite://candlewick.db`; for a database on a server, `NAME.sock` and `NAME.HALT` in the
/// working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ControlSettings {
    /// The socket through which `halt`, `resume` and `resolve` speak to a running bot; only its owner can open it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub socket: Option<PathBuf>,
    /// The file whose appearance halts a running bot, and keeps one that starts from opening trades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halt_file: Option<PathBuf>,
}

/// Where the journal lies.
pub fn journal_url(loaded: &Loaded) -> Result<JournalUrl, Problem> {
    loaded.config.journal.url.parse().map_err(|error: candlewick_journal::JournalError| {
        // Without the value: it may hold a password.
        loaded.problem("journal.url", error.to_string())
    })
}

/// Where a bot of this configuration takes orders.
pub fn control_paths(loaded: &Loaded) -> Result<ControlPaths, AppError> {
    let url = journal_url(loaded).map_err(Problems::from)?;
    let ControlSettings { socket, halt_file } = loaded.config.control.clone();
    let beside = ControlPaths::beside(&anchor_of(&url));
    Ok(ControlPaths {
        socket: socket.unwrap_or(beside.socket),
        halt_file: halt_file.map_or(beside.halt_file, HaltFile::new),
    })
}

/// The journal's file, or the name of its database.
fn anchor_of(url: &JournalUrl) -> PathBuf {
    let database = || {
        let shown = url.to_string();
        PathBuf::from(shown.rsplit('/').next().unwrap_or_default())
    };
    url.file().map_or_else(database, Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_taken_beside_the_journal() {
        for (url, anchor) in [
            ("sqlite://candlewick.db", "candlewick.db"),
            ("sqlite:///var/lib/bot/demo.db", "/var/lib/bot/demo.db"),
            ("postgres://ann:secret@db:5433/trading?sslmode=require", "trading"),
        ] {
            assert_eq!(anchor_of(&url.parse().unwrap()), Path::new(anchor), "{url}");
        }
    }
}
