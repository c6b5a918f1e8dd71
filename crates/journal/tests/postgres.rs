//! The journal test suite on a PostgreSQL server, and tests that only apply to servers.
//!
//! `CANDLEWICK_TEST_POSTGRES` is the URL, with password, of a server on which databases and roles can be created.
//! `CANDLEWICK_TEST_POSTGRES_RESTART` is a command that restarts it without a clean shutdown. `.ci/postgres` sets both.

#![allow(clippy::unwrap_used, reason = "a step of a test that fails is a test that fails")]

#[macro_use]
mod suite;

use candlewick_journal::{Holder, JournalError, JournalUrl, Reader, Store};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use suite::fixture::{Fixture, line, run_on};
use tokio::sync::RwLock;
use url::Url;

/// Write-locked by the test that restarts the server, read-locked by all others.
static SERVER: std::sync::LazyLock<std::sync::Arc<RwLock<()>>> = std::sync::LazyLock::new(Default::default);

fn admin() -> Url {
    let url = std::env::var("CANDLEWICK_TEST_POSTGRES");
    let url = url.expect("CANDLEWICK_TEST_POSTGRES must name a server: run .ci/postgres");
    Url::parse(&url).expect("CANDLEWICK_TEST_POSTGRES is a URL")
}

async fn postgres() -> Fixture {
    database(Box::new(std::sync::Arc::clone(&SERVER).read_owned().await)).await
}

async fn database(alive: Box<dyn std::any::Any + Send + Sync>) -> Fixture {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("candlewick_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    run_on(admin().as_str(), &format!("CREATE DATABASE {name}")).await;
    let mut url = admin();
    url.set_path(&name);
    Fixture {
        url: url.as_str().parse().unwrap(),
        text: url.to_string(),
        driver_url: url.to_string(),
        bytes: |digits| format!("decode('{digits}', 'hex')"),
        end: Some((admin().to_string(), format!("DROP DATABASE {name} WITH (FORCE)"))),
        _alive: alive,
    }
}

test_claims!(
    #[ignore = "needs a PostgreSQL server: run .ci/postgres"]
    postgres
);

#[tokio::test]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
async fn full_disk_loses_nothing() {
    let fixture = postgres().await;
    let mut store = fixture.written(&["1"]).await;
    let fail = "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON entries EXECUTE FUNCTION fail()";
    fixture.run(fail).await;
    for body in ["2", "3"] {
        store.record(line(body));
        let error = store.commit().await.unwrap_err();
        assert!(matches!(error, JournalError::DiskFull { .. }) && error.is_temporary(), "{error:?}");
        assert_eq!(fixture.reader().await.verify().await.unwrap().entries, 1);
    }
    fixture.run("DROP TRIGGER full_disk ON entries").await;
    store.commit().await.unwrap();
    assert_eq!(fixture.bodies().await, ["1", "2", "3"]);
    fixture.remove().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
async fn read_only_user_can_read_and_gets_an_error_on_writing() {
    let fixture = postgres().await;
    fixture.written(&["1"]).await.close().await.unwrap();
    let role = format!("reader_{}", std::process::id());
    let make = format!(
        "CREATE ROLE {role} LOGIN PASSWORD 'hunter2'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"
    );
    fixture.run(&make).await;
    let mut url = Url::parse(&fixture.text).unwrap();
    url.set_username(&role).unwrap();
    url.set_password(Some("hunter2")).unwrap();
    let url: JournalUrl = url.as_str().parse().unwrap();
    let opened = Store::open(&url, &Holder::current_process("test")).await;
    assert_fails!(opened, JournalError::PermissionDenied { .. });
    let mut reader = Reader::open(&url).await.unwrap();
    assert_eq!(reader.verify().await.unwrap().entries, 1);
    drop(reader);
    fixture.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).await;
    fixture.remove().await;
}

#[tokio::test]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
async fn passwords_are_never_shown() {
    let fixture = postgres().await;
    let good = Url::parse(&fixture.text).unwrap();
    let change = |change: fn(&mut Url)| {
        let mut url = good.clone();
        url.set_password(Some("hunter2")).unwrap();
        change(&mut url);
        url
    };
    for (url, is_temporary) in [
        (change(|_| ()), false),
        (change(|url| url.set_path("no_such_database")), false),
        (change(|url| url.set_username("nobody_of_this_name").unwrap()), false),
        (change(|url| url.set_port(Some(1)).unwrap()), true),
        (change(|url| url.set_host(Some("no-such-host.invalid")).unwrap()), true),
        (change(|url| url.set_query(Some("password=hunter2&sslmode=what"))), false),
    ] {
        let url: JournalUrl = url.as_str().parse().unwrap();
        let error = Store::open(&url, &Holder::current_process("test")).await.map(drop);
        let error = error.unwrap_err();
        assert_eq!(error.is_temporary(), is_temporary, "{error:?}");
        let mut shown = format!("{url} {url:?} {error} {error:?}");
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            shown = format!("{shown} {cause} {cause:?}");
            source = cause.source();
        }
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    fixture.remove().await;
}

/// Repeatedly restarts the server without a clean shutdown while a writer commits as fast as it can.
/// This server commits asynchronously by default.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a PostgreSQL server: run .ci/postgres"]
async fn server_restart_loses_and_repeats_nothing() {
    let given = std::env::var("CANDLEWICK_TEST_POSTGRES_RESTART");
    let restart = given.expect("CANDLEWICK_TEST_POSTGRES_RESTART must restart the server: run .ci/postgres");
    let fixture = database(Box::new(std::sync::Arc::clone(&SERVER).write_owned().await)).await;
    let name = fixture.text.rsplit('/').next().unwrap();
    fixture.run(&format!("ALTER DATABASE {name} SET synchronous_commit = off")).await;
    let mut store = fixture.open().await.unwrap();
    // The writer reports each committed line until the receiver is dropped.
    let (report, mut committed) = tokio::sync::mpsc::channel(1);
    let writing = tokio::spawn(async move {
        let (mut expected, mut failures) = (Vec::new(), 0);
        loop {
            expected.push(expected.len().to_string());
            store.record(line(expected.last().unwrap()));
            while let Err(error) = store.commit().await {
                assert!(error.is_temporary(), "{error:?}");
                failures += 1;
                tokio::task::yield_now().await;
            }
            if report.send(()).await.is_err() {
                store.close().await.unwrap();
                return (expected, failures);
            }
        }
    });
    for _ in 0..3 {
        for _ in 0..40 {
            committed.recv().await.unwrap();
        }
        let line = restart.clone();
        let restarting = tokio::task::spawn_blocking(move || Command::new("sh").args(["-c", &line]).status());
        while !restarting.is_finished() {
            let _ = committed.try_recv();
            tokio::task::yield_now().await;
        }
        assert!(restarting.await.unwrap().unwrap().success(), "{restart}");
    }
    drop(committed);
    let (expected, failures) = writing.await.unwrap();
    assert!(failures > 0, "the writer noticed nothing");
    assert_eq!(fixture.bodies().await, expected);
    fixture.remove().await;
}
