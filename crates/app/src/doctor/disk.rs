//! Check that the journal's folder is writable and has space.

use super::bound::{LOOK, blocking};
use super::finding::{Check, Finding};
use candlewick_journal::JournalUrl;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const MIB: u64 = 1 << 20;
/// Free space below which a live run should not start; a full disk halts it.
const TOO_LITTLE: u64 = 64 * MIB;
const LITTLE: u64 = 1_024 * MIB;

/// Checks the folder of a file journal, otherwise the working directory.
///
/// Without a file journal, the control socket is in the working directory.
pub(super) async fn check(url: &JournalUrl) -> Finding {
    let file = url.file().map(Path::to_owned);
    let folder = match file.as_deref().and_then(Path::parent) {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let late = format!("{} does not answer", folder.display());
    let late = Check::Disk.fail(late, "look at the disk; or name another place: journal.url");
    blocking(LOOK, late, move || look(&folder, file.as_deref())).await
}

fn look(folder: &Path, file: Option<&Path>) -> Finding {
    // In full, where it is known: `.` says little.
    let shown = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let shown = shown.display();
    if !folder.is_dir() {
        return Check::Disk.fail(format!("there is no folder {shown}"), format!("run: mkdir -p {shown}"));
    }
    if let Err(error) = write_in(folder) {
        let text = format!("nothing can be written in {shown}: {error}");
        return Check::Disk
            .fail(text, "give this user the right to write there, or name another place: journal.url");
    }
    if let Some(file) = file.filter(|file| file.exists())
        && let Err(error) = OpenOptions::new().append(true).open(file)
    {
        let text = format!("{} cannot be written: {error}", file.display());
        return Check::Disk.fail(text, "give this user the right to write it, or name another: journal.url");
    }
    match free_bytes(folder) {
        Ok(Some(free)) => judge(&format!("{shown} can be written"), free),
        Ok(None) => Check::Disk.ok(format!("{shown} can be written; its room is not known")),
        Err(error) => {
            Check::Disk.warn(format!("{shown} can be written; its room is not known: {error}"), "look at it")
        }
    }
}

fn judge(text: &str, free: u64) -> Finding {
    let text = format!("{text}; {} MiB free", free / MIB);
    let remedy = "make room: with a full disk the journal cannot be written, and no trade is opened";
    if free < TOO_LITTLE {
        Check::Disk.fail(text, remedy)
    } else if free < LITTLE {
        Check::Disk.warn(text, remedy)
    } else {
        Check::Disk.ok(text)
    }
}

fn write_in(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".candlewick-doctor.{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&path)?;
    let written = file.write_all(b"doctor\n").and_then(|()| file.sync_all());
    fs::remove_file(&path).and(written)
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> io::Result<Option<u64>> {
    let room = rustix::fs::statvfs(folder)?;
    Ok(Some(room.f_bavail.saturating_mul(room.f_frsize)))
}

#[cfg(not(unix))]
fn free_bytes(_folder: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;

    #[test]
    fn a_folder_that_can_be_written_is_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let finding = look(folder.path(), Some(&folder.path().join("none.db")));
        assert!(finding.mark != Mark::Fail || finding.text.contains("MiB free"), "{finding}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let missing = look(&folder.path().join("no"), None);
        assert!(missing.mark == Mark::Fail && missing.to_string().contains("mkdir -p"), "{missing}");
        let blocked = look(folder.path(), Some(folder.path()));
        assert!(blocked.mark == Mark::Fail && blocked.text.contains("cannot be written"), "{blocked}");
    }

    #[test]
    fn little_room_is_worth_a_word_and_none_fails() {
        for (mib, mark) in [(63, Mark::Fail), (64, Mark::Warn), (1_023, Mark::Warn), (1_024, Mark::Ok)] {
            assert_eq!(judge("x", mib * MIB).mark, mark, "{mib} MiB");
        }
    }
}
