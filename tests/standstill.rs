//! A terminal that stands still (Ctrl-S, a pager) while bots run: trades settle all the same, and the run ends by itself
//! when the terminal goes on.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder};
use crate::excerpt::{HOUR, MONDAY, shipped};
use candlewick_journal::{JournalUrl, Reader};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::process::Child;
use std::time::Duration;
use tokio::runtime::Builder;

const LIVE: [&str; 13] = [
    "live",
    "--sandbox",
    "--speed",
    "max",
    "--until-end",
    "--for",
    "120s",
    "-v",
    "--data",
    "BTCUSDT_1m.csv",
    "--config",
    "bot.toml",
    "--journal",
];
/// How often the journal is looked at, at most: the run takes a second on an idle machine, perhaps many on a loaded one.
const LOOKS: u32 = 2_000;
/// Time between two looks at the journal.
const PAUSE: Duration = Duration::from_millis(50);

/// A run whose terminal stands still; ended with the test.
struct Run(Child);

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A pipe into which not one byte more goes, and how many stand in it.
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

/// How many entries of a journal say so; none before the run has made its journal.
fn count_of(folder: &Folder, journal: &str, what: &str) -> usize {
    let url = JournalUrl::from_path(&folder.path(journal));
    let read = async {
        let mut reader = Reader::open(&url).await.ok()?;
        reader.lines(0, u32::MAX).await.ok()
    };
    let lines =
        Builder::new_current_thread().enable_all().build().unwrap().block_on(read).unwrap_or_default();
    lines.iter().filter(|stored| stored.line.body.contains(what)).count()
}

#[test]
fn a_terminal_that_stands_still_keeps_no_trade_from_settling() {
    const OPEN: &str = "\"action\":\"open\"";
    const SETTLED: &str = "\"event\":\"settled\"";
    let folder = Folder::new()
        .with("bot.toml", BOT)
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 6 * HOUR));
    // What a run does whose terminal is read; in lock-step another run does the same.
    let read = folder.run(&[&LIVE[..], &["read.db"]].concat());
    assert_eq!(read.code, 0, "{}", read.stderr);
    let expected = count_of(&folder, "read.db", SETTLED);
    assert!(expected > 5, "only {expected} trades");

    let (mut screen, full, in_screen) = full_pipe();
    let mut command = folder.command(&[&LIVE[..], &["held.db"]].concat());
    command.stdout(full.try_clone().unwrap()).stderr(full);
    let mut run = Run(command.spawn().unwrap());
    // The command holds the pipe open as long as it lives.
    drop(command);
    let mut looks = 0;
    while count_of(&folder, "held.db", SETTLED) < expected {
        let settled = count_of(&folder, "held.db", SETTLED);
        assert_eq!(run.0.try_wait().unwrap(), None, "it ended with {settled} of {expected} trades settled");
        looks += 1;
        assert!(looks < LOOKS, "{settled} of {expected} trades settled");
        std::thread::sleep(PAUSE);
    }
    assert_eq!(count_of(&folder, "held.db", OPEN), expected);

    // Let go: what stood in the pipe comes, then what the run had to say, and then it is over.
    let mut shown = String::new();
    screen.read_to_string(&mut shown).unwrap();
    assert_eq!(run.0.wait().unwrap().code(), Some(0), "{shown}");
    let said = &shown[in_screen..];
    assert!(said.contains(" opened   #1 "), "{said}");
    assert!(said.contains(read.stdout.lines().last().unwrap()), "{said}");
}
