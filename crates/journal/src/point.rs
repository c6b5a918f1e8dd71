//! File that stores the number and hash of a journal's last verified line, to detect forgeries and rollbacks.

use crate::private_file::{sync_parent_folder, with_suffix};
use crate::{ChainHash, Head, JournalUrl};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub(crate) const VERIFIED_SUFFIX: &str = ".verified";

pub(crate) fn verified_head_path(url: &JournalUrl) -> Option<PathBuf> {
    url.file().map(|file| with_suffix(file, VERIFIED_SUFFIX))
}

pub(crate) fn read(url: &JournalUrl) -> Option<Head> {
    let text = fs::read_to_string(verified_head_path(url)?).ok()?;
    let (seq, hash) = text.trim_end().split_once(' ')?;
    Some(Head { seq: seq.parse().ok()?, hash: ChainHash::from_hex(hash)? })
}

/// Writes the number and hash of the last verified line to the file. Best effort: errors are ignored.
pub(crate) fn write(url: &JournalUrl, head: Head) {
    if let Some(path) = verified_head_path(url) {
        drop(replace_file(&path, head));
    }
}

pub(crate) fn delete(url: &JournalUrl) {
    if let Some(path) = verified_head_path(url) {
        drop(fs::remove_file(path));
    }
}

fn replace_file(path: &Path, Head { seq, hash }: Head) -> io::Result<()> {
    let partial = with_suffix(path, ".partial");
    drop(fs::remove_file(&partial));
    let mut file = crate::private_file::create_new(&partial)?;
    writeln!(file, "{seq} {hash}")?;
    file.sync_all()?;
    fs::rename(&partial, path)?;
    sync_parent_folder(path)
}
