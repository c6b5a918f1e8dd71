//! A journal in the hands of a person: who can read it.

use candlewick_journal::JournalUrl;

/// What is said of a journal that others than its owner can read or write, with what to type; nothing of any other.
pub(crate) fn exposure(url: &JournalUrl) -> Option<(String, String)> {
    let files: Vec<String> =
        url.files_open_to_others().iter().map(|file| file.display().to_string()).collect();
    if files.is_empty() {
        return None;
    }
    let problem = format!(
        "other users of this machine can read the journal {url}: it holds an account's money and trades"
    );
    Some((problem, format!("chmod 600 {}", files.join(" "))))
}
