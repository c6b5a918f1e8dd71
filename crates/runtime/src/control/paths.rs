//! Paths of a run's socket and halt file.

use super::HaltFile;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlPaths {
    pub socket: PathBuf,
    pub halt_file: HaltFile,
}

impl ControlPaths {
    /// Derives the paths from the journal's: `candlewick.db.sock` and `candlewick.db.HALT`.
    pub fn beside(journal: &Path) -> Self {
        Self {
            socket: with_suffix(journal, ".sock"),
            halt_file: HaltFile::new(with_suffix(journal, ".HALT")),
        }
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut text = OsString::from(path);
    text.push(suffix);
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lie_beside_the_journal_under_its_whole_name() {
        let paths = ControlPaths::beside(Path::new("runs/demo.db"));
        assert_eq!(paths.socket, Path::new("runs/demo.db.sock"));
        assert_eq!(paths.halt_file.path(), Path::new("runs/demo.db.HALT"));
    }
}
