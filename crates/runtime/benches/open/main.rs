//! Latency from a strategy's signal to the first byte of its open request on the network, with two lower bounds: a bare
//! request of the same HTTP library on loopback, and a bare durable commit of one row through the same driver.
//!
//! `cargo bench -p candlewick-runtime --bench open` measures a complete run: runner, coordinator, Session, SQLite journal
//! in the folder for temporary files, HTTP client. Opens and lower bounds alternate at one pace, so a busy disk or processor
//! affects all of them. The second measurement also keeps the tables of the journal. Set `TMPDIR=/dev/shm` to exclude the disk.

#![allow(clippy::unwrap_used, reason = "what cannot be measured ends the bench")]
#![allow(clippy::disallowed_methods, reason = "a bench reads a stopwatch")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

mod floor;
mod path;
mod server;
mod stage;

use floor::{Floor, Times};
use path::Opens;
use server::Server;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

const OPENS: usize = 500;
const MINUTE: Duration = Duration::from_millis(40);
const BACK_TO_BACK: usize = 5_000;
const WARM_UP: usize = 5;

#[derive(Clone, Copy)]
struct Pace {
    began: Instant,
    minute: Duration,
    count: usize,
}

fn main() {
    for (name, runtime) in [
        ("current_thread", Builder::new_current_thread().enable_all().build()),
        ("two worker threads", Builder::new_multi_thread().worker_threads(2).enable_all().build()),
    ] {
        let runtime = runtime.unwrap();
        for (suffix, kept) in [("", false), (", with tables", true)] {
            let (floor, opens) = measure(&runtime, kept);
            println!("{name}{suffix}: {} opens of {} signals", opens.first_byte.0.len(), opens.signals);
            print(&floor, &opens);
        }
    }
}

fn measure(runtime: &Runtime, has_tables: bool) -> (Floor, Opens) {
    let (mut floor, mut opens) = (Floor::default(), Opens::default());
    // The bare requests have a far end of their own, which counts no open.
    let (server, bare_server) = (Server::start(), Server::start());
    let folder = tempfile::tempdir().unwrap();
    let (journal, bare) = (folder.path().join("journal.db"), folder.path().join("bare.db"));
    runtime.block_on(async {
        floor.post_back_to_back(&bare_server, BACK_TO_BACK).await;
        let pace = Pace { began: Instant::now(), minute: MINUTE, count: OPENS };
        let run = path::run(&server, (&journal, has_tables), pace, &mut opens);
        tokio::join!(run, floor.accompany(&bare_server, &bare, pace));
    });
    (floor, opens)
}

fn print(floor: &Floor, opens: &Opens) {
    show("bare POST, back to back, to its answer", &floor.back_to_back.answer);
    show("bare POST, to its answer", &floor.kept.answer);
    show("bare POST, to its first byte", &floor.kept.first_byte);
    show("bare POST on a new connection, to its answer", &floor.fresh.answer);
    show("bare POST on a new connection, to its first byte", &floor.fresh.first_byte);
    show("bare durable commit of one row", &floor.commit);
    show("signal to durable intent with the client", &opens.handed);
    show("signal to the open's first byte", &opens.first_byte);
    let own = |post: &Times| opens.first_byte.median() - post.median() - floor.commit.median();
    println!("  own cost, p50: signal to first byte, without the bare commit and");
    println!("    a bare POST to its answer          {:>8.0} us", own(&floor.kept.answer));
    println!("    a bare POST to its first byte      {:>8.0} us", own(&floor.kept.first_byte));
    println!("    the same on a new connection       {:>8.0} us", own(&floor.fresh.first_byte));
    let connecting = floor.fresh.first_byte.median() - floor.kept.first_byte.median();
    println!("  a connection of its own costs        {connecting:>8.0} us");
}

fn show(what: &str, times: &Times) {
    println!("  {what:<50} p50 {:>7.0} us   p99 {:>7.0} us", times.median(), times.at(0.99));
}
