//! A recorded journal of a session on streamed prices.

use crate::candlewick::Folder;
use crate::{golden_case, run};

pub(crate) fn check() {
    let folder = Folder::new();
    std::fs::write(folder.path("run.db"), golden_case::unpack("streamed.db.gz")).unwrap();
    let commands = ["trades --json --journal run.db", "parity --json --journal run.db"];
    golden_case::check("journal-streamed", &commands, |words| run(&folder, words).json());
}
