//! The journal test suite on SQLite files, and tests that only apply to files.

#![allow(clippy::unwrap_used, reason = "a step of a test that fails is a test that fails")]

#[macro_use]
mod suite;

use candlewick_journal::{Holder, JournalError, JournalUrl, Reader, Store, back_up};
use candlewick_sdk::Millis;
use std::future::{Ready, ready};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use suite::fixture::{Fixture, commit, exchange, holder, line, record_all, terms};

fn sqlite() -> Ready<Fixture> {
    sqlx::any::install_default_drivers();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal").join("a journal.db");
    std::fs::create_dir(folder.path().join("journal")).unwrap();
    ready(Fixture {
        url: JournalUrl::from_path(&path),
        text: format!("sqlite://{}", path.display()),
        driver_url: format!("sqlite:{}?mode=rwc", path.display()).replace(' ', "%20"),
        bytes: |digits| format!("X'{digits}'"),
        end: None,
        _alive: Box::new(folder),
    })
}

test_claims!(sqlite);

fn file_of(fixture: &Fixture) -> PathBuf {
    PathBuf::from(fixture.text.trim_start_matches("sqlite://"))
}

fn folder_of(fixture: &Fixture) -> PathBuf {
    file_of(fixture).parent().unwrap().to_owned()
}

fn mode_of(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

async fn open_on(fixture: &Fixture, program: &str, machine: &str) -> Result<Store, JournalError> {
    let holder = Holder { pid_scope: machine.into(), ..holder(program, 1) };
    Store::open_with_terms(&fixture.url, &holder, &terms()).await
}

#[tokio::test]
async fn reports_garbage_in_a_row() {
    for garbage in [
        "seq = 'three'",
        "at = 'noon'",
        "run = NULLIF(1, 2) || 1.5",
        "received = 1.5",
        "intent = 'one'",
        "body = X'ff00'",
        "body = CAST(X'ff' AS TEXT)",
        "hash = X'00'",
        "kind = 4",
    ] {
        let fixture = sqlite().await;
        fixture.written(&["1", "2", "3", "4"]).await.close().await.unwrap();
        // Drops the column constraints first, because a damaged or hostile file may have none.
        fixture.run("CREATE TABLE loose (seq, run, kind, intent, at, received, body, hash)").await;
        fixture.run("INSERT INTO loose SELECT * FROM entries").await;
        fixture.run("DROP TABLE entries; ALTER TABLE loose RENAME TO entries").await;
        fixture.run(&format!("UPDATE entries SET {garbage} WHERE seq = 3")).await;
        match fixture.reader().await.verify().await {
            Err(JournalError::BrokenChain { seq, .. }) => assert_eq!(seq, 3, "{garbage}"),
            other => panic!("{garbage}: {other:?}"),
        }
        assert_eq!(fixture.reader().await.lines(1, 2).await.unwrap().len(), 2, "{garbage}");
    }
}

#[tokio::test]
async fn rejects_other_files_without_changing_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.db");
    let letter = "Dear Sir or Madam, ".repeat(100);
    std::fs::write(&path, &letter).unwrap();
    let url = JournalUrl::from_path(&path);
    let holder = Holder::current_process("test");
    assert_fails!(Store::open(&url, &holder).await, JournalError::NotAJournal { .. });
    assert_fails!(Reader::open(&url).await, JournalError::NotAJournal { .. });
    assert_eq!(std::fs::read_to_string(&path).unwrap(), letter);
}

#[tokio::test]
async fn reports_unwritable_places() {
    let folder = tempfile::tempdir().unwrap();
    let holder = Holder::current_process("test");
    for path in [folder.path().join("missing/journal.db"), folder.path().to_owned(), "/".into()] {
        let opened = Store::open(&JournalUrl::from_path(&path), &holder).await;
        assert_fails!(opened, JournalError::NotWritable { .. });
    }
}

#[tokio::test]
async fn read_only_file_can_be_read_but_not_written() {
    let fixture = sqlite().await;
    fixture.written(&["1"]).await.close().await.unwrap();
    let (file, folder) = (file_of(&fixture), folder_of(&fixture));
    let program = folder.join("program");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    for (path, mode) in [(folder.parent().unwrap(), 0o755), (&file, 0o444), (&folder, 0o555)] {
        std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    let mut command = suite::processes::command(&program, &fixture.text);
    command.env(suite::processes::READING, "yes");
    let is_administrator = std::fs::write(folder.join("probe"), "").is_ok();
    if is_administrator {
        command.uid(65_534).gid(65_534);
    }
    let mut child = command.spawn().unwrap();
    let said = suite::processes::outcome(&mut child);
    drop(child.stdin.take());
    child.wait().unwrap();
    std::fs::set_permissions(folder, PermissionsExt::from_mode(0o755)).unwrap();
    assert!(said.starts_with("NotWritable") && said.ends_with("read: 1"), "{said}");
    assert_eq!(fixture.bodies().await, ["1"]);
}

#[tokio::test]
async fn deleted_file_accepts_and_loses_no_line() {
    let fixture = sqlite().await;
    let mut store = fixture.written(&["1"]).await;
    let folder = folder_of(&fixture);
    let away = folder.with_extension("away");
    std::fs::rename(&folder, &away).unwrap();
    for body in ["2", "3"] {
        store.record(line(body));
        assert_fails!(store.commit().await, JournalError::FileGone { .. });
    }
    // A different journal at the same path must be rejected. It is closed explicitly: a dropped connection removes
    // its log file by name some time later, perhaps after the original journal is back in place.
    std::fs::create_dir(&folder).unwrap();
    fixture.open().await.unwrap().close().await.unwrap();
    assert_fails!(store.commit().await, JournalError::LostLease { .. });
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::rename(&away, &folder).unwrap();
    store.commit().await.unwrap();
    assert_eq!(fixture.bodies().await, ["1", "2", "3"]);
}

#[tokio::test]
async fn accepts_relative_paths_with_any_character() {
    let fixture = sqlite().await;
    fixture.written(&["1"]).await.close().await.unwrap();
    let folder = folder_of(&fixture);
    for name in ["per%20cent.db", "a#b?c.db", "ü:.db"] {
        let path = folder.join("..").join(folder.file_name().unwrap()).join(name);
        let url = JournalUrl::from_path(&path);
        Store::open(&url, &Holder::current_process("test")).await.unwrap().close().await.unwrap();
        assert!(folder.join(name).exists(), "{name}");
        drop(Reader::open(&url).await.unwrap());
    }
}

#[tokio::test]
async fn waits_for_another_writer() {
    use sqlx::{AnyConnection, Connection};
    let fixture = sqlite().await;
    let mut store = fixture.open().await.unwrap();
    let mut other = AnyConnection::connect(&fixture.driver_url).await.unwrap();
    let transaction = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    store.record(line("1"));
    let writing = tokio::spawn(async move { store.commit().await });
    transaction.rollback().await.unwrap();
    writing.await.unwrap().unwrap();
    assert_eq!(fixture.bodies().await, ["1"]);
}

#[tokio::test]
async fn journal_is_private_and_readable_files_are_reported() {
    let fixture = sqlite().await;
    let file = file_of(&fixture);
    let store = fixture.written(&["1"]).await;
    for ending in ["", "-wal", "-shm", ".lock"] {
        let path = PathBuf::from(format!("{}{ending}", file.display()));
        assert_eq!(mode_of(&path), 0o600, "{}", path.display());
    }
    assert_eq!(fixture.url.files_accessible_to_others(), Vec::<PathBuf>::new());
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    assert_eq!(fixture.url.files_accessible_to_others().as_slice(), std::slice::from_ref(&file));
    store.close().await.unwrap();
    drop(fixture.open().await.unwrap());
    assert_eq!(mode_of(&file), 0o640, "a mode set manually stays");
}

#[tokio::test]
async fn copy_of_a_journal_in_use_is_complete_without_holder() {
    let fixture = sqlite().await;
    let mut store = fixture.open().await.unwrap();
    record_all(&mut store, &["1", "2", "3"]);
    store.record_exchange(exchange(1, "a"));
    store.commit().await.unwrap();
    let folder = folder_of(&fixture);
    let (plain, copy) = (folder.join("plain.db"), folder.join("copy.db"));
    std::fs::copy(file_of(&fixture), &plain).unwrap();
    assert!(Reader::open(&JournalUrl::from_path(&plain)).await.is_err(), "all lines are in its log");
    let verified = back_up(&fixture.url, &copy).await.unwrap();
    assert_eq!((verified.entries, verified.head_hash), (store.head().seq, store.head().hash));
    assert_eq!(mode_of(&copy), 0o600);
    // Writing to the original and to the copy can continue.
    commit(&mut store, &["4"]).await;
    let copied = JournalUrl::from_path(&copy);
    let mut reader = Reader::open(&copied).await.unwrap();
    assert_eq!(reader.current_lease().await.unwrap(), None);
    assert_eq!(reader.lines(1, 9).await.unwrap(), fixture.reader().await.lines(1, 4).await.unwrap());
    assert_eq!(reader.exchanges_of_intent(1).await.unwrap(), [exchange(1, "a")]);
    let mut second = Store::open(&copied, &Holder::current_process("test")).await.unwrap();
    second.record(line("5"));
    second.close().await.unwrap();
    assert_eq!(Reader::open(&copied).await.unwrap().verify().await.unwrap().entries, 5);
}

#[tokio::test]
async fn copies_are_atomic() {
    let fixture = sqlite().await;
    fixture.written(&["1", "2", "3"]).await.close().await.unwrap();
    let folder = folder_of(&fixture);
    std::fs::write(folder.join("mine"), "mine").unwrap();
    assert_fails!(back_up(&fixture.url, &folder.join("mine")).await, JournalError::JournalExists { .. });
    assert_eq!(std::fs::read_to_string(folder.join("mine")).unwrap(), "mine");
    let error = back_up(&fixture.url, &folder.join("missing/copy.db")).await.unwrap_err();
    assert!(matches!(error, JournalError::NotWritable { .. }), "{error:?}");
    fixture.run("UPDATE entries SET body = '0' WHERE seq = 2").await;
    let error = back_up(&fixture.url, &folder.join("copy.db")).await.unwrap_err();
    assert!(error.to_string().starts_with(&format!("{} is broken at entry 2", fixture.url)), "{error}");
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "mine" || name.starts_with("a journal.db"), "{name} is left");
    }
    let server: JournalUrl = "postgres://ann:hunter2@db/trading".parse().unwrap();
    let error = back_up(&server, &folder.join("copy.db")).await.unwrap_err().to_string();
    assert!(error.contains("pg_dump") && !error.contains("hunter2"), "{error}");
}

/// The last verified line, stored next to a journal, reveals a different journal or an older copy.
#[tokio::test]
async fn detects_recreated_journal() {
    let fixture = sqlite().await;
    let file = file_of(&fixture);
    let point = PathBuf::from(format!("{}.verified", file.display()));
    let write = async |bodies: &[&str]| {
        let mut store = fixture.open().await.unwrap();
        store.store_verified_head(Duration::ZERO);
        record_all(&mut store, bodies);
        store.close().await.unwrap();
    };
    write(&["1", "2", "3"]).await;
    assert_eq!(mode_of(&point), 0o600);
    let older = std::fs::read(&file).unwrap();
    write(&["4"]).await;
    let kept = std::fs::read(&file).unwrap();
    let remembered = std::fs::read(&point).unwrap();
    std::fs::write(&file, older).unwrap();
    let error = fixture.reader().await.verify().await.unwrap_err().to_string();
    let deletion = format!("delete {}", point.display());
    assert!(error.contains("broken at entry 4") && error.contains(&deletion), "{error}");
    std::fs::remove_file(&file).unwrap();
    let mut store = fixture.open().await.unwrap();
    assert!(!point.exists(), "a new journal forgets the previous one");
    record_all(&mut store, &["1", "2", "three", "4", "5"]);
    store.close().await.unwrap();
    fixture.reader().await.verify().await.unwrap();
    std::fs::write(&point, &remembered).unwrap();
    assert_fails!(fixture.reader().await.verify().await, JournalError::BrokenChain { seq: 4, .. });
    // An unreadable or missing file proves nothing.
    for text in ["", "4", "4 x", "four lines"] {
        std::fs::write(&point, text).unwrap();
        fixture.reader().await.verify().await.unwrap();
    }
    std::fs::write(&file, kept).unwrap();
    std::fs::write(&point, &remembered).unwrap();
    assert_eq!(fixture.reader().await.verify().await.unwrap().entries, 4);
}

/// On the same kernel the file lock decides, even after a day of silence or across containers. Once the
/// holder has ended, the lease need not expire first.
#[tokio::test]
async fn lock_owner_has_the_journal() {
    let fixture = sqlite().await;
    let first = open_on(&fixture, "first", "boot room-1").await.unwrap();
    fixture.age_lease(Millis::DAY).await;
    assert_fails!(open_on(&fixture, "second", "boot room-2").await, JournalError::HeldBy { .. });
    drop(first);
    let lease = fixture.reader().await.current_lease().await.unwrap().unwrap();
    assert_eq!(lease.holder.program, "first", "it ended without giving it back");
    fixture.run("UPDATE lease SET heartbeat = heartbeat + 86400000").await;
    drop(open_on(&fixture, "second", "boot room-2").await.unwrap());
}

/// A network file system may keep locks per host, so the lock proves nothing about other hosts.
#[tokio::test]
async fn recent_heartbeat_of_another_host_outweighs_a_free_lock() {
    let fixture = sqlite().await;
    // The other host's process seems to have ended: the lock is free, but the lease was not released.
    drop(open_on(&fixture, "there", "boot-1 room").await.unwrap());
    fixture.age_lease(Millis::from_seconds(29)).await;
    assert_fails!(open_on(&fixture, "here", "boot-2 room").await, JournalError::HeldBy { .. });
    fixture.age_lease(Millis::from_seconds(2)).await;
    drop(open_on(&fixture, "here", "boot-2 room").await.unwrap());
}
