//! Bots without a venue at their start, or without room for their journal.
#![cfg(unix)]

use crate::believed::folder_at;
use crate::candlewick::BINARY;
use crate::lying_venue::LyingVenue;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

const MAX_POLLS: u32 = 1_000;

struct Bot(Child);

impl Bot {
    fn start(mut command: Command) -> Self {
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }
}

impl Drop for Bot {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for(pipe: impl Read, part: &str) {
    let found = BufReader::new(pipe).lines().any(|line| line.unwrap().contains(part));
    assert!(found, "no {part:?} before the end");
}

#[test]
fn a_venue_that_is_down_at_the_start_is_waited_for_on_demand() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let folder = folder_at(&format!("http://{address}"), 0);
    let arguments = ["live", "--config", "bot.toml", "--journal", "run.db", "--for", "1s"];
    folder.run(&arguments).fails(4, &["--wait"]);
    let mut bot = Bot::start(folder.command(&[&arguments[..], &["--wait"]].concat()));
    wait_for(bot.0.stderr.take().unwrap(), "wait");
    let _venue = LyingVenue::start_on(TcpListener::bind(address).unwrap(), |_, _, _| {});
    wait_for(bot.0.stdout.take().unwrap(), "");
    assert_eq!(bot.0.wait().unwrap().code(), Some(0));
}

#[test]
fn opens_are_suspended_while_the_journal_has_no_room() {
    let venue = LyingVenue::start(|_, _, _| {});
    let folder = folder_at(&venue.url, 0);
    // Writes beyond 512 KiB fail, and do not end the program.
    let script =
        format!("trap '' XFSZ; ulimit -f 1024; exec {BINARY} live --config bot.toml --journal run.db");
    let mut bot = Bot::start(folder.command_of("sh", &["-c", &script]));
    let (mut stdout, stderr) = (bot.0.stdout.take().unwrap(), bot.0.stderr.take().unwrap());
    std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    let log = std::thread::spawn(move || wait_for(stderr, "the journal cannot be written"));
    let status = || folder.run(&["status", "--config", "bot.toml", "--journal", "run.db"]).stdout;
    // Opens resume as soon as there is room, so not every status shows it.
    let is_suspended = |_| status().contains("suspended: the journal cannot be written");
    assert!((0..MAX_POLLS).any(is_suspended), "{}", status());
    log.join().unwrap();
}
