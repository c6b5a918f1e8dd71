//! An empty location for one journal, and helpers to tamper with that journal.

use candlewick_journal::{
    Head, Holder, JournalError, JournalUrl, LeaseTerms, Line, LineKind, LoggedExchange, Reader, Store,
    StoredLine,
};
use candlewick_sdk::Millis;
use sqlx::{AnyConnection, Connection};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

pub(crate) struct Fixture {
    pub(crate) url: JournalUrl,
    pub(crate) text: String,
    /// URL of the same database for the driver.
    pub(crate) driver_url: String,
    /// Formats hexadecimal digits as a byte literal in the database's SQL dialect.
    pub(crate) bytes: fn(&str) -> String,
    /// Connection and statement that remove the database from a server.
    pub(crate) end: Option<(String, String)>,
    pub(crate) _alive: Box<dyn std::any::Any + Send + Sync>,
}

impl Fixture {
    pub(crate) async fn run(&self, statements: &str) {
        run_on(&self.driver_url, statements).await;
    }

    pub(crate) async fn number(&self, query: &'static str) -> i64 {
        let mut connection = AnyConnection::connect(&self.driver_url).await.unwrap();
        let number = sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        number
    }

    pub(crate) async fn age_lease(&self, by: Millis) {
        self.run(&format!("UPDATE lease SET heartbeat = heartbeat - {0}, since = since - {0}", by.get()))
            .await;
    }

    /// Makes a remote holder silent for longer than its lease.
    /// Also drops its file lock, as on a file system without locks.
    pub(crate) async fn lose_sight_of_holder(&self) {
        self.age_lease(Millis::from_seconds(31)).await;
        if let Some(file) = self.url.file() {
            std::fs::remove_file(format!("{}.lock", file.display())).unwrap();
        }
    }

    pub(crate) async fn open(&self) -> Result<Store, JournalError> {
        Store::open(&self.url, &holder("first", 1)).await
    }

    pub(crate) async fn written(&self, bodies: &[&str]) -> Store {
        let mut store = self.open().await.unwrap();
        record_all(&mut store, bodies);
        store.commit().await.unwrap();
        store
    }

    pub(crate) async fn reader(&self) -> Reader {
        Reader::open(&self.url).await.unwrap()
    }

    pub(crate) async fn bodies(&self) -> Vec<String> {
        let mut reader = self.reader().await;
        let verified = reader.verify().await.unwrap();
        let lines = reader.lines(1, 1_000_000).await.unwrap();
        assert_eq!(verified.entries, lines.len() as u64);
        assert!(lines.iter().map(|line| line.seq).eq(1..=verified.entries), "{lines:?}");
        let bodies = lines.into_iter().map(|stored| stored.line.body);
        bodies.filter(|body| !body.starts_with("{\"exchanges\":")).collect()
    }

    pub(crate) async fn remove(mut self) {
        if let Some((admin, statement)) = self.end.take() {
            run_on(&admin, &statement).await;
        }
    }
}

pub(crate) async fn run_on(driver_url: &str, statements: &str) {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(driver_url).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(statements.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// First process id that [`terms`] considers dead.
pub(crate) const FIRST_DEAD: u32 = 100;

pub(crate) fn holder(program: &str, pid: u32) -> Holder {
    Holder { program: program.into(), pid, start_ticks: None, host: "here".into(), pid_scope: "this".into() }
}

pub(crate) fn holder_elsewhere(program: &str) -> Holder {
    Holder { host: "there".into(), pid_scope: "that".into(), ..holder(program, 1) }
}

/// Lease terms of thirty seconds. Processes with ids from [`FIRST_DEAD`] on are dead.
pub(crate) fn terms() -> LeaseTerms {
    LeaseTerms { duration: Millis::from_seconds(30), is_alive: |holder| holder.pid < FIRST_DEAD }
}

pub(crate) fn line(body: &str) -> Line {
    Line {
        run: 1,
        kind: LineKind::Event,
        intent: None,
        at: Millis::new(1_000),
        received: Millis::new(1_005),
        body: body.to_owned(),
    }
}

pub(crate) fn exchange(intent: u64, request: &str) -> LoggedExchange {
    LoggedExchange {
        intent: Some(intent),
        sent: Millis::new(5),
        received: Some(Millis::new(9)),
        request_line: "POST /token/trades/open".into(),
        request: request.into(),
        response: Some("{}".into()),
        status: Some(200),
    }
}

pub(crate) fn listing(intent: u64, rows: usize) -> LoggedExchange {
    let listed: Vec<String> =
        (0..rows).rev().map(|row| format!("{{\"id\":\"{row:026}\",\"result\":\"WON\"}}")).collect();
    let response = format!("{{\"data\":[{}],\"total\":{rows}}}", listed.join(","));
    LoggedExchange { response: Some(response), ..exchange(intent, &rows.to_string()) }
}

pub(crate) async fn commit(store: &mut Store, bodies: &[impl AsRef<str>]) {
    record_all(store, bodies);
    store.commit().await.unwrap();
}

pub(crate) async fn commit_exchange(store: &mut Store, exchange: LoggedExchange) {
    store.record_exchange(exchange);
    store.commit().await.unwrap();
}

pub(crate) fn record_all(store: &mut Store, bodies: &[impl AsRef<str>]) {
    for body in bodies {
        store.record(line(body.as_ref()));
    }
}

pub(crate) fn head_of(line: &StoredLine) -> Head {
    Head { seq: line.seq, hash: line.hash }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Cut {
    /// After the query with this number was sent.
    Asked(u32),
    /// After the response to this query arrived, but before it is read.
    Answered(u32),
}

pub(crate) async fn cut<T>(call: impl Future<Output = T>, cut: Cut) -> Option<T> {
    let mut call = pin!(call);
    let mut polls = 0;
    poll_fn(|context| {
        let (last, unread) = match cut {
            Cut::Asked(last) => (last, false),
            Cut::Answered(last) => (last, true),
        };
        if unread && polls == last {
            return Poll::Ready(None);
        }
        polls += 1;
        match call.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if !unread && polls == last => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

pub(crate) async fn steps_of<T>(call: impl Future<Output = T>) -> u32 {
    let mut call = pin!(call);
    let mut steps = 0;
    poll_fn(|context| {
        steps += 1;
        call.as_mut().poll(context).map(drop)
    })
    .await;
    steps
}
