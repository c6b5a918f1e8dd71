//! Lists the journals in a folder, and warns about journals that other users can read.

use crate::configuration::LoadedConfig;
use candlewick_journal::JournalUrl;
use candlewick_sdk::escape_hidden;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

const MAX_FOLDER_ENTRIES: usize = 1_000;
const MAX_LISTED_JOURNALS: usize = 5;

pub(crate) fn exposed_files_warning(url: &JournalUrl) -> Option<(String, String)> {
    let files: Vec<String> =
        url.files_accessible_to_others().iter().map(|file| file.display().to_string()).collect();
    if files.is_empty() {
        return None;
    }
    let text = format!("other users of this machine can read the balances and trades in the journal {url}");
    Some((text, format!("chmod 600 {}", files.join(" "))))
}

pub fn default_journal_notice(loaded: &LoadedConfig, url: &JournalUrl) -> Option<String> {
    if loaded.is_set("journal.url") {
        return None;
    }
    let file = url.file()?;
    let own = format!("--journal {}", file.display());
    let mut others = journals_in(Path::new("."));
    others.retain(|one| *one != own);
    let default = file.display();
    (!others.is_empty()).then(|| {
        format!("using the default journal {default}; other journals in this folder: {}", others.join(", "))
    })
}

pub(crate) fn journals_in(folder: &Path) -> Vec<String> {
    let is_database = |path: &Path| {
        let mut first = [0; 16];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
        read.is_ok() && first == *b"SQLite format 3\0"
    };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_FOLDER_ENTRIES);
    let paths = files.map(|file| file.path());
    let databases = paths.filter(|path| path.extension().is_some_and(|end| end == "db") && is_database(path));
    let mut named: Vec<String> = databases
        .filter_map(|path| Some(format!("--journal {}", escape_hidden(path.file_name()?.to_str()?))))
        .collect();
    named.sort_unstable();
    named.truncate(MAX_LISTED_JOURNALS);
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_only_database_files_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("run.db", &b"SQLite format 3\0and so on"[..]),
            ("a.db", b"SQLite format 3\0and so on"),
            ("text.db", b"not a database at all"),
            ("run.txt", b"SQLite format 3\0and so on"),
            ("empty.db", b""),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(journals_in(folder.path()), ["--journal a.db", "--journal run.db"]);
        assert!(journals_in(&folder.path().join("none")).is_empty());
    }
}
