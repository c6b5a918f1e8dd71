//! A stopped terminal (Ctrl-S, a pager) while bots run.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder};
use crate::consecutive_runs::{judged, read_trades};
use crate::excerpt::{HOUR, MONDAY, shipped};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::time::Duration;

const LIVE: &str =
    "live --sandbox --speed max --until-end --for 120s -v --data BTCUSDT_1m.csv --config bot.toml";
/// Maximum number of polls: the run takes a second on an idle machine, perhaps many on a busy one.
const MAX_POLLS: u32 = 2_000;

fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let flags = fcntl_getfl(&writer).unwrap();
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).unwrap();
    // The last bytes are written one by one.
    for chunk in [&[b'.'; 4_096][..], b"."] {
        while writer.write(chunk).is_ok_and(|count| count > 0) {}
    }
    fcntl_setfl(&writer, flags).unwrap();
    (reader, writer)
}

#[test]
fn trades_settle_while_the_terminal_is_stopped() {
    let folder = Folder::new()
        .with("bot.toml", BOT)
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 6 * HOUR));
    let read = folder.run_line(&format!("{LIVE} --journal read.db"));
    assert_eq!(read.code, 0, "{}", read.stderr);
    let expected = judged(&folder, "read.db");
    assert!(expected > 5, "only {expected} trades");
    let (mut screen, full) = full_pipe();
    let line = format!("{LIVE} --journal held.db");
    let mut command = folder.command(&line.split(' ').collect::<Vec<_>>());
    command.stdout(full.try_clone().unwrap()).stderr(full);
    let mut run = command.spawn().unwrap();
    drop(command);
    let mut polls = 0;
    while judged(&folder, "held.db") < expected {
        assert_eq!(run.try_wait().unwrap(), None, "the run ended before its trades settled");
        polls += 1;
        assert!(polls < MAX_POLLS, "not all of {expected} trades settled");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(read_trades(&folder, "held.db").len(), read_trades(&folder, "read.db").len());
    let mut shown = String::new();
    screen.read_to_string(&mut shown).unwrap();
    assert_eq!(run.wait().unwrap().code(), Some(0), "{shown}");
    assert!(shown.contains(" opened   #1 "), "{shown}");
    assert!(shown.contains(read.stdout.lines().last().unwrap()), "{shown}");
}
