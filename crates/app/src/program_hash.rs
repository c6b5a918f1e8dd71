//! The code that runs: the hash of the program itself, strategies and all.

use crate::error::AppError;
use object::read::ReadCache;
use object::{Object, ObjectSegment};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Over every byte of the executable, and of the libraries that it has loaded, that is in memory while they run. Whatever
/// was compiled into them, by whomever, a change of it is a change of the hash, whether a version was raised or not. What
/// only a debugger reads is left out: it is most of the file, and decides nothing.
pub fn program_hash() -> Result<String, AppError> {
    let hash = || {
        let mut hasher = blake3::Hasher::new();
        add(executable()?, &mut hasher)?;
        for library in libraries()? {
            add(File::open(library)?, &mut hasher)?;
        }
        Ok(hasher.finalize().to_hex().to_string())
    };
    hash().map_err(|error: io::Error| AppError::system("the program cannot read itself", error))
}

/// Adds what of a file is in memory while it runs; all of it, where that is not known.
fn add(mut file: File, hasher: &mut blake3::Hasher) -> io::Result<()> {
    let parts = loaded(&file).unwrap_or_else(|| std::iter::once(0..u64::MAX).collect());
    for part in parts {
        hasher.update(&part.start.to_le_bytes());
        hasher.update(&part.end.to_le_bytes());
        file.seek(SeekFrom::Start(part.start))?;
        hasher.update_reader((&file).take(part.end - part.start))?;
    }
    Ok(())
}

/// What of a file is in memory while it runs.
fn loaded(file: &File) -> Option<Vec<Range<u64>>> {
    let cache = ReadCache::new(file);
    let parsed = object::File::parse(&cache).ok()?;
    let range = |(start, length): (u64, u64)| Some(start..start.checked_add(length)?);
    let parts: Vec<Range<u64>> =
        parsed.segments().map(|segment| range(segment.file_range())).collect::<Option<_>>()?;
    (!parts.is_empty()).then_some(parts)
}

/// The very file that was started, also when another has taken its place since.
#[cfg(target_os = "linux")]
fn executable() -> io::Result<File> {
    File::open("/proc/self/exe")
}

#[cfg(not(target_os = "linux"))]
fn executable() -> io::Result<File> {
    File::open(std::env::current_exe()?)
}

/// The libraries whose code is in memory: arithmetic is among it.
#[cfg(target_os = "linux")]
fn libraries() -> io::Result<std::collections::BTreeSet<String>> {
    let own = std::fs::read_link("/proc/self/exe")?;
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let code = maps.lines().filter_map(|line| {
        let mut words = line.splitn(6, ' ');
        let is_code = words.nth(1)?.contains('x');
        let path = words.nth(3)?.trim_start();
        (is_code && path.starts_with('/') && Path::new(path) != own).then(|| path.to_owned())
    });
    Ok(code.collect())
}

/// Elsewhere the system's libraries belong to the system.
#[cfg(not(target_os = "linux"))]
fn libraries() -> io::Result<Vec<String>> {
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn hash_of(path: &Path) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        add(File::open(path).unwrap(), &mut hasher).unwrap();
        hasher.finalize()
    }

    #[test]
    fn a_byte_of_its_code_changes_it_and_what_a_debugger_reads_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        let program = std::env::current_exe().unwrap();
        fs::copy(&program, &copy).unwrap();
        assert_eq!(hash_of(&copy), hash_of(&program));
        let parts = loaded(&File::open(&program).unwrap()).unwrap();
        let mut bytes = fs::read(&program).unwrap();
        let in_memory: u64 = parts.iter().map(|part| part.end - part.start).sum();
        assert!(in_memory < bytes.len() as u64, "there is nothing for a debugger");
        for part in &parts {
            let place = (part.end - 1) as usize;
            bytes[place] ^= 1;
            fs::write(&copy, &bytes).unwrap();
            assert_ne!(hash_of(&copy), hash_of(&program), "byte {place}");
            bytes[place] ^= 1;
        }
        bytes.push(0);
        fs::write(&copy, &bytes).unwrap();
        assert_eq!(hash_of(&copy), hash_of(&program));
    }

    #[test]
    fn what_is_no_program_is_read_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let hash = |text: &str| {
            fs::write(&path, text).unwrap();
            hash_of(&path)
        };
        assert_ne!(hash("one"), hash("two"));
        assert_ne!(hash("one"), hash("one more"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_library_of_arithmetic_is_part_of_what_runs() {
        let libraries = libraries().unwrap();
        assert!(libraries.iter().any(|path| path.contains("libc")), "{libraries:?}");
        assert!(!libraries.contains(std::env::current_exe().unwrap().to_str().unwrap()));
        assert_eq!(program_hash().unwrap(), program_hash().unwrap());
    }
}
