//! Runs without a venue at the start, without room for the journal, or without prices.
#![cfg(unix)]

use crate::believed::folder_at;
use crate::candlewick::BINARY;
use crate::control::{Live, wait_until};
use crate::http::{Reply, serve};
use crate::lying_venue::LyingVenue;
use crate::serving::Process;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

const MAX_POLLS: u32 = 1_000;

fn start(mut command: Command) -> Process {
    Process(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

fn wait_for(pipe: impl Read, part: &str) {
    let found = BufReader::new(pipe).lines().any(|line| line.unwrap().contains(part));
    assert!(found, "no {part:?} before the end");
}

#[test]
fn waits_on_demand_for_a_venue_that_is_down_at_the_start() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let folder = folder_at(&format!("http://{address}"), 0);
    let arguments = ["live", "--config", "bot.toml", "--journal", "run.db", "--for", "1s"];
    folder.run(&arguments).fails(4, &["--wait"]);
    let mut bot = start(folder.command(&[&arguments[..], &["--wait"]].concat()));
    wait_for(bot.0.stderr.take().unwrap(), "wait");
    let _venue = LyingVenue::start_on(TcpListener::bind(address).unwrap(), |_, _, _| {});
    wait_for(bot.0.stdout.take().unwrap(), "");
    assert_eq!(bot.0.wait().unwrap().code(), Some(0));
}

#[test]
fn suspends_opens_while_the_disk_of_the_journal_is_full() {
    let venue = LyingVenue::start(|_, _, _| {});
    let folder = folder_at(&venue.url, 0);
    // Writes beyond 512 KiB fail without killing the process.
    let line = format!("trap '' XFSZ; ulimit -f 1024; exec {BINARY} live --config bot.toml --journal run.db");
    let mut bot = start(folder.program_command("sh", &["-c", &line]));
    let (mut stdout, stderr) = (bot.0.stdout.take().unwrap(), bot.0.stderr.take().unwrap());
    std::thread::spawn(move || std::io::copy(&mut stdout, &mut std::io::sink()));
    let log = std::thread::spawn(move || wait_for(stderr, "the journal cannot be written"));
    let status = || folder.run(&["status", "--config", "bot.toml", "--journal", "run.db"]).stdout;
    // Opens resume as soon as there is room, so only some status reports show the suspension.
    let is_suspended = |_| status().contains("suspended: the journal cannot be written");
    assert!((0..MAX_POLLS).any(is_suspended), "{}", status());
    log.join().unwrap();
}

#[test]
fn reports_failing_prices_until_they_return() {
    let venue = LyingVenue::start(|_, _, _| {});
    let fail = Arc::new(AtomicBool::new(false));
    let failing = Arc::clone(&fail);
    let url = serve(move |request| {
        if failing.load(Relaxed) && !request.path.starts_with("/token") {
            return Reply::new(503, "{}".to_owned());
        }
        let (status, body) = venue.answer(&request);
        Reply::new(status, body.to_string())
    });
    let folder = folder_at(&url, 0);
    let bot = Live::start(&folder);
    for (fails, what) in [(false, "no trouble"), (true, "trouble"), (false, "no trouble any more")] {
        fail.store(fails, Relaxed);
        wait_until(&folder, what, |bot| bot.is_object() && bot["troubles"].is_null() != fails);
    }
    assert_eq!(bot.end(), Some(130));
}
