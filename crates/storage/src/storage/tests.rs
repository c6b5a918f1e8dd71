//! Uploads to memory and to a folder are atomic and never replace objects of other writers.

use super::*;
use object_store::memory::InMemory;
use std::sync::Barrier;

fn url(text: &str) -> ObjectUrl {
    ObjectUrl::parse(text).unwrap()
}

fn in_memory() -> Storage {
    Storage::new(Arc::new(InMemory::new()), Environment::default()).unwrap()
}

fn both(folder: &Path) -> [(Storage, ObjectUrl); 2] {
    let there = url(&format!("file://{}", folder.display()));
    [(in_memory(), url("s3://bucket/a")), (Storage::from_url(&there).unwrap(), there)]
}

fn read(storage: &Storage, at: &ObjectUrl) -> Option<Vec<u8>> {
    storage.find_object(at).unwrap().map(|object| storage.read(at, &object).unwrap())
}

#[test]
fn uploads_read_back_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    for (storage, root) in both(folder.path()) {
        let at = root.join("b").join("plan.json");
        assert_eq!(storage.find_object(&at).unwrap(), None);
        for bytes in [vec![7; 2 * PART_BYTES as usize + 5], Vec::new(), b"one".to_vec()] {
            storage.put(&at, bytes.clone()).unwrap();
            let object = storage.find_object(&at).unwrap().unwrap();
            assert_eq!(object.size, bytes.len() as u64);
            assert!(storage.read(&at, &object).unwrap() == bytes);
            let path = folder.path().join("brought.json");
            storage.download(&at, &object, &path).unwrap();
            assert!(std::fs::read(&path).unwrap() == bytes);
        }
    }
}

#[test]
fn never_overwrites_a_faster_writer() {
    let folder = tempfile::tempdir().unwrap();
    for (storage, root) in both(folder.path()) {
        let at = root.join("shard-1.jsonl");
        assert_eq!(storage.put_if_unchanged(&at, b"one".to_vec(), None).unwrap(), PutOutcome::Stored);
        assert_eq!(
            storage.put_if_unchanged(&at, b"one".to_vec(), None).unwrap(),
            PutOutcome::AlreadyStored,
            "twice is once"
        );
        assert_eq!(storage.put_if_unchanged(&at, b"two".to_vec(), None).unwrap(), PutOutcome::Conflict);
        let seen = storage.find_object(&at).unwrap().unwrap();
        assert_eq!(
            storage.put_if_unchanged(&at, b"one and more".to_vec(), Some(&seen)).unwrap(),
            PutOutcome::Stored
        );
        assert_eq!(
            storage.put_if_unchanged(&at, b"late, and else".to_vec(), Some(&seen)).unwrap(),
            PutOutcome::Conflict
        );
        assert_eq!(read(&storage, &at).unwrap(), b"one and more");
    }
}

#[test]
fn detects_change_during_a_read() {
    let storage = in_memory();
    let at = url("s3://bucket/x.csv");
    storage.put(&at, b"before".to_vec()).unwrap();
    let seen = storage.find_object(&at).unwrap().unwrap();
    storage.put(&at, b"beyond".to_vec()).unwrap();
    let now = storage.find_object(&at).unwrap().unwrap();
    assert_ne!(seen.version.to_text(), now.version.to_text());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    assert!(matches!(storage.download(&at, &seen, &path), Err(StorageError::Changed { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left of it");
}

#[test]
fn one_of_many_concurrent_writers_wins() {
    let folder = tempfile::tempdir().unwrap();
    for (storage, root) in both(folder.path()) {
        let (at, start) = (root.join("shard-2.jsonl"), Barrier::new(6));
        let of = |who: u8| vec![who; 300_000];
        let ends: Vec<PutOutcome> = std::thread::scope(|scope| {
            let one = |who: u8| {
                let (storage, at, start) = (&storage, &at, &start);
                scope.spawn(move || {
                    start.wait();
                    storage.put_if_unchanged(at, of(who), None).unwrap()
                })
            };
            let all: Vec<_> = (0..6).map(one).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let kept: Vec<usize> = (0..6).filter(|who| ends[*who] == PutOutcome::Stored).collect();
        assert_eq!(kept.len(), 1, "{ends:?}");
        assert!(read(&storage, &at).unwrap() == of(kept[0] as u8));
    }
}

#[tokio::test]
async fn works_inside_another_runtime() {
    let storage = in_memory();
    let at = url("s3://bucket/x");
    storage.put(&at, b"x".to_vec()).unwrap();
    assert_eq!(read(&storage, &at).unwrap(), b"x");
    drop(storage);
}

#[test]
fn shortens_server_errors_to_code_and_message() {
    let text =
        "Generic S3 error: <?xml?><Error><Code>NoSuchBucket</Code><Message>No such bucket</Message></Error>";
    assert_eq!(shorten_problem(text), "NoSuchBucket: No such bucket");
    assert_eq!(shorten_problem("a\n  b"), "a b");
}
