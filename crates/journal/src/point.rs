//! The last line that was verified, kept in a file beside the journal: whoever makes a journal anew with a sound chain of its
//! own, or puts an older copy in its place, has to change this file too.

use crate::private_file::{sync_folder_of, with_ending};
use crate::{ChainHash, Head, JournalUrl};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What the name of the file ends with.
pub(crate) const ENDING: &str = ".verified";

/// The file of a journal; a journal on a server has none.
pub(crate) fn path_of(url: &JournalUrl) -> Option<PathBuf> {
    url.file().map(|file| with_ending(file, ENDING))
}

/// The last line that was verified; none where it is not known, as after the file was removed or cut short.
pub(crate) fn read(url: &JournalUrl) -> Option<Head> {
    let text = fs::read_to_string(path_of(url)?).ok()?;
    let (seq, hash) = text.trim_end().split_once(' ')?;
    Some(Head { seq: seq.parse().ok()?, hash: ChainHash::from_hex(hash)? })
}

/// Keeps it. That it cannot be kept costs no more than what it is good for.
pub(crate) fn write(url: &JournalUrl, head: Head) {
    if let Some(path) = path_of(url) {
        drop(replace(&path, head));
    }
}

/// Forgets it: another journal begins there.
pub(crate) fn forget(url: &JournalUrl) {
    if let Some(path) = path_of(url) {
        drop(fs::remove_file(path));
    }
}

fn replace(path: &Path, Head { seq, hash }: Head) -> io::Result<()> {
    let partial = with_ending(path, ".partial");
    // What an earlier process left of one.
    drop(fs::remove_file(&partial));
    let mut file = crate::private_file::create_new(&partial)?;
    writeln!(file, "{seq} {hash}")?;
    file.sync_all()?;
    fs::rename(&partial, path)?;
    sync_folder_of(path)
}
