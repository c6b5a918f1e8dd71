//! A terminal that stands still (Ctrl-S, a pager) while bots run.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder};
use crate::excerpt::{HOUR, MONDAY, shipped};
use crate::recording::block_on;
use candlewick_journal::{JournalUrl, Reader};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::process::Child;
use std::time::Duration;

const LIVE: &str =
    "live --sandbox --speed max --until-end --for 120s -v --data BTCUSDT_1m.csv --config bot.toml";
/// Maximum number of polls: the run takes a second on an idle machine, perhaps many on a busy one.
const MAX_POLLS: u32 = 2_000;
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A run that is killed on drop.
struct Run(Child);

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a full pipe and the number of bytes in it.
fn full_pipe() -> (PipeReader, PipeWriter, usize) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    let mut count = 0;
    // The last bytes go in one by one.
    for chunk in [&[b'.'; 4_096][..], b"."] {
        loop {
            match writer.write(chunk) {
                Ok(written) => count += written,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    break;
                }
            }
        }
    }
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer, count)
}

/// Returns the number of journal entries that contain `part`, 0 before the run has made its journal.
fn count_of(folder: &Folder, journal: &str, part: &str) -> usize {
    let url = JournalUrl::from_path(&folder.path(journal));
    let read = async {
        let mut reader = Reader::open(&url).await.ok()?;
        reader.lines(0, u32::MAX).await.ok()
    };
    let lines = block_on(read).unwrap_or_default();
    lines.iter().filter(|stored| stored.line.body.contains(part)).count()
}

#[test]
fn trades_settle_while_the_terminal_stands_still() {
    const OPEN: &str = "\"action\":\"open\"";
    const SETTLED: &str = "\"event\":\"settled\"";
    let folder = Folder::new()
        .with("bot.toml", BOT)
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 6 * HOUR));
    // In lock-step, a run whose terminal is read trades the same.
    let read = folder.run_line(&format!("{LIVE} --journal read.db"));
    assert_eq!(read.code, 0, "{}", read.stderr);
    let expected = count_of(&folder, "read.db", SETTLED);
    assert!(expected > 5, "only {expected} trades");

    let (mut screen, full, in_screen) = full_pipe();
    let line = format!("{LIVE} --journal held.db");
    let mut command = folder.command(&line.split(' ').collect::<Vec<_>>());
    command.stdout(full.try_clone().unwrap()).stderr(full);
    let mut run = Run(command.spawn().unwrap());
    // The command holds the pipe open as long as it lives.
    drop(command);
    let mut polls = 0;
    while count_of(&folder, "held.db", SETTLED) < expected {
        assert_eq!(run.0.try_wait().unwrap(), None, "it ended before its trades settled");
        polls += 1;
        assert!(polls < MAX_POLLS, "not all of {expected} trades settled");
        std::thread::sleep(POLL_INTERVAL);
    }
    assert_eq!(count_of(&folder, "held.db", OPEN), expected);

    let mut shown = String::new();
    screen.read_to_string(&mut shown).unwrap();
    assert_eq!(run.0.wait().unwrap().code(), Some(0), "{shown}");
    let printed = &shown[in_screen..];
    assert!(printed.contains(" opened   #1 "), "{printed}");
    assert!(printed.contains(read.stdout.lines().last().unwrap()), "{printed}");
}
