//! Where results lie: a file each, named by its key.

use super::Key;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const ENDING: &str = "result";
const PARTIAL: &str = "partial-";
/// Of more results, or of more bytes, the oldest go.
const MOST_ENTRIES: usize = 512;
const MOST_BYTES: u64 = 512 << 20;
/// A partial file that is so much older than the latest result belongs to a program that is gone.
const ABANDONED: Duration = Duration::from_hours(1);

/// A folder of results.
#[derive(Clone, Debug)]
pub(crate) struct ResultCache {
    folder: PathBuf,
}

impl ResultCache {
    /// In this folder, which is made when it is first needed.
    pub(crate) const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What was kept under this key, unless there is none that is whole.
    pub(crate) fn find(&self, key: &Key) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.path_of(key)).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')? + 1;
        let is_whole = bytes[..end] == *head_of(key, &bytes[end..]).as_bytes();
        is_whole.then(|| bytes.split_off(end))
    }

    /// Keeps a result; nobody is told when that fails.
    pub(crate) fn keep(&self, key: &Key, result: &[u8]) {
        if self.write(key, result).is_ok() {
            self.prune(MOST_ENTRIES, MOST_BYTES);
        }
    }

    /// Under a name of its own first, so that it is there whole or not at all, whoever else writes.
    fn write(&self, key: &Key, result: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::Builder::new().prefix(PARTIAL).tempfile_in(&self.folder)?;
        file.write_all(head_of(key, result).as_bytes())?;
        file.write_all(result)?;
        file.persist(self.path_of(key)).map_err(|error| error.error)?;
        Ok(())
    }

    fn path_of(&self, key: &Key) -> PathBuf {
        self.folder.join(key.name()).with_extension(ENDING)
    }

    fn prune(&self, most_entries: usize, most_bytes: u64) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let (mut results, mut partial) = (Vec::new(), Vec::new());
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let Some((written, bytes)) = facts(&path) else { continue };
            if path.extension().is_some_and(|ending| ending == ENDING) {
                results.push((written, bytes, path));
            } else if path
                .file_name()
                .is_some_and(|name| name.as_encoded_bytes().starts_with(PARTIAL.as_bytes()))
            {
                partial.push((written, path));
            }
        }
        results.sort_by(|one, two| two.cmp(one));
        let latest = results.first().map(|(written, ..)| *written);
        let mut total = 0;
        for (place, (_, bytes, path)) in results.into_iter().enumerate() {
            total += bytes;
            if place >= most_entries || total > most_bytes {
                let _ = fs::remove_file(path);
            }
        }
        for (written, path) in partial {
            if latest.is_some_and(|latest| latest.duration_since(written).is_ok_and(|age| age > ABANDONED)) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// The first line of a file: whose result it is, and a hash that tells whether the rest is whole.
fn head_of(key: &Key, rest: &[u8]) -> String {
    format!("{} {}\n", key.name(), blake3::hash(rest).to_hex())
}

fn facts(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs::{File, FileTimes};

    struct Stage {
        _folder: tempfile::TempDir,
        cache: ResultCache,
    }

    fn key(name: &str) -> Key {
        Key::of("test", "p", &json!(name))
    }

    impl Stage {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let cache = ResultCache::new(folder.path().join("results"));
            Self { _folder: folder, cache }
        }

        fn found(&self, name: &str) -> Option<String> {
            self.cache.find(&key(name)).map(|found| String::from_utf8(found).unwrap())
        }

        fn age(&self, name: &str, seconds: u64) {
            let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - seconds);
            let file = File::options().write(true).open(self.cache.path_of(&key(name))).unwrap();
            file.set_times(FileTimes::new().set_modified(moment)).unwrap();
        }
    }

    #[test]
    fn a_result_is_found_under_its_own_key_as_it_was() {
        let stage = Stage::new();
        assert_eq!(stage.found("a"), None);
        stage.cache.keep(&key("a"), b"of a\nin lines\n");
        assert_eq!((stage.found("a").as_deref(), stage.found("b")), (Some("of a\nin lines\n"), None));
        stage.cache.keep(&key("a"), b"");
        assert_eq!(stage.found("a").as_deref(), Some(""));
    }

    #[test]
    fn what_is_damaged_is_not_found_wherever_it_is_damaged() {
        let stage = Stage::new();
        stage.cache.keep(&key("a"), b"a result");
        let path = stage.cache.path_of(&key("a"));
        let whole = fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(stage.found("a"), None, "byte {place}");
            fs::write(&path, &whole[..place]).unwrap();
            assert_eq!(stage.found("a"), None, "cut at {place}");
        }
        fs::write(&path, [&whole[..], b"x"].concat()).unwrap();
        assert_eq!(stage.found("a"), None, "longer");
        // Another's result under this name is another's.
        fs::write(stage.cache.path_of(&key("b")), &whole).unwrap();
        assert_eq!(stage.found("b"), None);
        stage.cache.keep(&key("b"), b"of b");
        assert_eq!(stage.found("b").as_deref(), Some("of b"));
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many_or_too_large_ones() {
        let stage = Stage::new();
        for (name, age) in [("a", 30), ("b", 20), ("c", 10)] {
            stage.cache.keep(&key(name), name.as_bytes());
            stage.age(name, age);
        }
        let there = || ["a", "b", "c"].map(|name| stage.found(name).is_some());
        stage.cache.prune(3, u64::MAX);
        assert_eq!(there(), [true, true, true]);
        stage.cache.prune(2, u64::MAX);
        assert_eq!(there(), [false, true, true]);
        let size = stage.cache.path_of(&key("c")).metadata().unwrap().len();
        stage.cache.prune(2, size + 1);
        assert_eq!(there(), [false, false, true]);
    }

    #[test]
    fn what_a_program_that_is_gone_left_half_written_goes_and_what_another_writes_stays() {
        let stage = Stage::new();
        stage.cache.keep(&key("a"), b"a");
        let [old, new] = ["partial-old", "partial-new"].map(|name| stage.cache.folder.join(name));
        for path in [&old, &new] {
            fs::write(path, "half").unwrap();
        }
        let long_ago = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
        File::options().write(true).open(&old).unwrap().set_times(long_ago).unwrap();
        stage.cache.prune(1, u64::MAX);
        assert_eq!((old.exists(), new.exists()), (false, true));
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_as_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let cache = ResultCache::new(folder.path().join("file"));
        cache.keep(&key("a"), b"of a");
        assert_eq!(cache.find(&key("a")), None);
    }
}
