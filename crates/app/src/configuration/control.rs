//! The `[control]` section: socket and halt file for commands to a running bot.

use super::{Loaded, Problem, Problems};
use crate::error::AppError;
use candlewick_journal::JournalUrl;
use candlewick_runtime::control::{ControlPaths, HaltFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

/// The `[control]` section. What is left out lies beside the journal: `candlewick.db.sock` and
/// `candlewick.db.HALT` for `sqlite://candlewick.db`; for a database on a server, `NAME-HASH.sock` and `NAME-HASH.HALT` in
/// `candlewick` in `$XDG_STATE_HOME` or in `~/.local/state`, wherever commands are given.
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

pub fn journal_url(loaded: &Loaded) -> Result<JournalUrl, Problem> {
    loaded.config.journal.url.parse().map_err(|error: candlewick_journal::JournalError| {
        // Without the value: it may hold a password.
        loaded.problem("journal.url", error.to_string())
    })
}

pub fn control_paths(loaded: &Loaded) -> Result<ControlPaths, AppError> {
    let url = journal_url(loaded).map_err(Problems::from)?;
    let ControlSettings { socket, halt_file } = loaded.config.control.clone();
    let beside = ControlPaths::beside(&anchor_of(&url));
    Ok(ControlPaths {
        socket: socket.unwrap_or(beside.socket),
        halt_file: halt_file.map_or(beside.halt_file, HaltFile::new),
    })
}

/// Returns the journal's file, or a name for its database in the state folder.
///
/// The result does not depend on the working directory.
fn anchor_of(url: &JournalUrl) -> PathBuf {
    let database = || {
        let shown = url.to_string();
        let name = shown.rsplit('/').next().unwrap_or_default();
        let hash = blake3::hash(shown.as_bytes()).to_hex();
        state_folder().unwrap_or_default().join(format!("{name}-{}", &hash[..8]))
    };
    url.file().map_or_else(database, Path::to_owned)
}

pub(crate) fn state_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let usual = || variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    usual().filter(|folder| folder.is_absolute()).map(|folder| folder.join("candlewick"))
}

/// Creates the state folder if `path` is directly in it.
///
/// Other folders are up to the user.
pub fn make_folder_of(path: &Path) -> io::Result<()> {
    if state_folder().is_none_or(|folder| path.parent() != Some(&folder)) {
        return Ok(());
    }
    make_state_folder()
}

/// Creates the state folder, accessible only by the user.
pub(crate) fn make_state_folder() -> io::Result<()> {
    let folder = state_folder().ok_or(io::ErrorKind::NotFound)?;
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_taken_beside_the_journal_or_in_a_place_of_the_users() {
        for (url, anchor) in [
            ("sqlite://candlewick.db", "candlewick.db"),
            ("sqlite:///var/lib/bot/demo.db", "/var/lib/bot/demo.db"),
        ] {
            assert_eq!(anchor_of(&url.parse().unwrap()), Path::new(anchor), "{url}");
        }
        let of = |url: &str| anchor_of(&url.parse().unwrap());
        let server = of("postgres://ann:secret@db:5433/trading?sslmode=require");
        assert_eq!(server, of("postgres://ann:other@db:5433/trading"), "without the password");
        assert_ne!(server, of("postgres://ann@db2:5433/trading"), "of two servers");
        assert!(
            server.is_absolute() && server.to_string_lossy().contains("candlewick/trading-"),
            "{server:?}"
        );
    }
}
