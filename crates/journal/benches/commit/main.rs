//! Cost of durable lines, compared with a plain commit of one row through the same driver.
//!
//! `cargo bench -p candlewick-journal` measures an SQLite file in the temporary folder. It also measures the PostgreSQL
//! server at `CANDLEWICK_TEST_POSTGRES`, if that is set: `.ci/postgres cargo bench -p candlewick-journal`.

#![allow(clippy::unwrap_used, reason = "what cannot be measured ends the bench")]
#![allow(clippy::disallowed_methods, reason = "a bench reads a stopwatch")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

mod bare;

use bare::BareTable;
use candlewick_journal::{Holder, JournalUrl, Line, LineKind, Reader, Store};
use candlewick_sdk::Millis;
use sqlx::{AnyConnection, Connection};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const COMMITS: usize = 1_000;

const BATCHES: [(usize, usize); 4] = [(4, 500), (64, 200), (1_000, 30), (20_000, 3)];

fn main() {
    sqlx::any::install_default_drivers();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    println!("a log of our own: append and sync");
    show("append and sync of one row", append(&folder.path().join("log")));
    println!("SQLite");
    let bare = format!("sqlite:{}?mode=rwc", folder.path().join("bare.db").display());
    runtime.block_on(measure(&bare, &JournalUrl::from_path(&path)));
    if let Ok(server) = std::env::var("CANDLEWICK_TEST_POSTGRES") {
        println!("PostgreSQL");
        let name = format!("bench_{}", std::process::id());
        runtime.block_on(run(&server, &format!("CREATE DATABASE {name}")));
        let mut url = url::Url::parse(&server).unwrap();
        url.set_path(&name);
        runtime.block_on(run(&server, &format!("CREATE DATABASE {name}_bare")));
        let mut bare = url.clone();
        bare.set_path(&format!("{name}_bare"));
        runtime.block_on(measure(bare.as_str(), &url.as_str().parse().unwrap()));
        for name in [name.clone(), format!("{name}_bare")] {
            runtime.block_on(run(&server, &format!("DROP DATABASE {name} WITH (FORCE)")));
        }
    }
}

fn append(path: &Path) -> Vec<Duration> {
    let mut log = File::options().create(true).append(true).open(path).unwrap();
    let row = format!("{:?}\n", line());
    let append = |_| {
        let begun = Instant::now();
        log.write_all(row.as_bytes()).unwrap();
        log.sync_data().unwrap();
        begun.elapsed()
    };
    (0..COMMITS).map(append).collect()
}

async fn run(url: &str, statement: &str) {
    let mut connection = AnyConnection::connect(url).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement.to_owned())).execute(&mut connection).await.unwrap();
}

async fn measure(bare: &str, url: &JournalUrl) {
    let mut table = BareTable::create(bare).await;
    let mut times = Vec::new();
    let row = line();
    for _ in 0..COMMITS {
        times.push(table.commit((row.at.get(), row.received.get()), &row.body).await);
    }
    show("bare commit of one row", times);
    let mut store = Store::open(url, &Holder::current_process("bench")).await.unwrap();
    let mut times = Vec::new();
    for _ in 0..COMMITS {
        let begun = Instant::now();
        store.record(line());
        store.commit().await.unwrap();
        times.push(begun.elapsed());
    }
    show("commit of one line", times);
    for (lines, commits) in BATCHES {
        let begun = Instant::now();
        for _ in 0..commits {
            (0..lines).for_each(|_| store.record(line()));
            store.commit().await.unwrap();
        }
        let rate = (lines * commits) as f64 / begun.elapsed().as_secs_f64();
        println!("  {lines:>6} lines a commit      {rate:>9.0} lines/s");
    }
    let begun = Instant::now();
    (0..10_000).for_each(|_| store.record(line()));
    println!("  recording a line           {:>9.2} us", begun.elapsed().as_secs_f64() * 100.0);
    store.commit().await.unwrap();
    let begun = Instant::now();
    let verified = Reader::open(url).await.unwrap().verify().await.unwrap();
    let rate = verified.entries as f64 / begun.elapsed().as_secs_f64();
    println!("  verifying the chain        {rate:>9.0} lines/s");
    store.close().await.unwrap();
}

fn show(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    println!("  {what:<24} p50 {:>7.0} us   p99 {:>7.0} us", at(0.5), at(0.99));
}

fn line() -> Line {
    Line {
        run: 1,
        kind: LineKind::Event,
        intent: Some(7),
        at: Millis::new(1_700_000_000_000),
        received: Millis::new(1_700_000_000_005),
        body: "{\"at\":1700000000000,\"received\":1700000000005,\"event\":\"candle\",\"series\":0,\"origin\":\"live\",\
               \"candle\":{\"time\":1699999940000,\"open\":1.5,\"high\":2.0,\"low\":1.0,\"close\":1.25,\"volume\":0.0}}"
            .to_owned(),
    }
}
