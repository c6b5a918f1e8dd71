//! Identity of the running program, including compiled-in strategies.

use crate::error::{AppError, Result};
use object::read::ReadCache;
use object::{Object, ObjectSegment};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::env::consts::{ARCH, OS};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    pub version: String,
    pub target: String,
    pub features: Vec<String>,
    pub hash: String,
    /// Hashes of system libraries by file name. They are not part of the program's identity.
    pub libraries: BTreeMap<String, String>,
}

impl Program {
    pub fn current() -> Result<Self> {
        let features = [
            ("metrics", cfg!(feature = "metrics")),
            ("notify", cfg!(feature = "notify")),
            ("systemd", cfg!(feature = "systemd")),
        ];
        let features = features.into_iter().filter(|(_, is_on)| *is_on);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            target: format!("{ARCH}-{OS}"),
            features: features.map(|(name, _)| name.to_owned()).collect(),
            hash: program_hash()?,
            libraries: hash_libraries().map_err(to_read_error)?,
        })
    }

    pub fn changed_libraries(&self, other: &Self) -> Vec<&str> {
        let differs =
            |(name, hash): &(&String, &String)| other.libraries.get(*name).is_some_and(|one| one != *hash);
        self.libraries.iter().filter(differs).map(|(name, _)| name.as_str()).collect()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, target, features, hash, .. } = self;
        let features = if features.is_empty() { "no features".to_owned() } else { features.join(" ") };
        write!(f, "candlewick {version} for {target} with {features}, {}", &hash[..hash.len().min(12)])
    }
}

static PROGRAM_FILE: OnceLock<PathBuf> = OnceLock::new();

/// Sets the file to hash if the program runs as a library in another process. Only the first call has an effect.
pub fn set_program_file(file: PathBuf) {
    PROGRAM_FILE.get_or_init(|| file);
}

/// Returns the hash of the executable, without parts that are not loaded into memory (such as debug sections).
///
/// The hash changes with any compiled-in code, even if the version does not. A hash of Candlewick's
/// sources would not cover strategies in other crates.
pub fn program_hash() -> Result<String> {
    let file = PROGRAM_FILE.get().map_or_else(open_executable, File::open);
    file.and_then(hash_file).map_err(to_read_error)
}

fn to_read_error(error: io::Error) -> AppError {
    AppError::system("cannot read the program file", error)
}

fn hash_libraries() -> io::Result<BTreeMap<String, String>> {
    let hash = |path: String| {
        let name = Path::new(&path).file_name().map(|name| name.to_string_lossy().into_owned());
        Ok((name.unwrap_or_default(), hash_file(File::open(&path)?)?[..16].to_owned()))
    };
    mapped_libraries()?.into_iter().map(hash).collect()
}

fn hash_file(mut file: File) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    let parts = mapped_ranges(&file).unwrap_or_else(|| std::iter::once(0..u64::MAX).collect());
    for part in parts {
        hasher.update(&part.start.to_le_bytes());
        hasher.update(&part.end.to_le_bytes());
        file.seek(SeekFrom::Start(part.start))?;
        hasher.update_reader((&file).take(part.end - part.start))?;
    }
    Ok(hasher.finalize().to_hex().to_string())
}

fn mapped_ranges(file: &File) -> Option<Vec<Range<u64>>> {
    let cache = ReadCache::new(file);
    let parsed = object::File::parse(&cache).ok()?;
    let range = |(start, length): (u64, u64)| Some(start..start.checked_add(length)?);
    let parts: Vec<Range<u64>> =
        parsed.segments().map(|segment| range(segment.file_range())).collect::<Option<_>>()?;
    (!parts.is_empty()).then_some(parts)
}

/// Opens the executable that was started, even if its file has been replaced since the start.
#[cfg(target_os = "linux")]
fn open_executable() -> io::Result<File> {
    File::open("/proc/self/exe")
}

#[cfg(not(target_os = "linux"))]
fn open_executable() -> io::Result<File> {
    File::open(std::env::current_exe()?)
}

#[cfg(target_os = "linux")]
fn mapped_libraries() -> io::Result<std::collections::BTreeSet<String>> {
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

#[cfg(not(target_os = "linux"))]
fn mapped_libraries() -> io::Result<Vec<String>> {
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn hash_file(path: &Path) -> String {
        super::hash_file(File::open(path).unwrap()).unwrap()
    }

    #[test]
    fn hash_covers_code_but_not_debug_sections() {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("copy");
        let program = std::env::current_exe().unwrap();
        fs::copy(&program, &copy).unwrap();
        assert_eq!(hash_file(&copy), hash_file(&program));
        let parts = mapped_ranges(&File::open(&program).unwrap()).unwrap();
        let mut bytes = fs::read(&program).unwrap();
        let in_memory: u64 = parts.iter().map(|part| part.end - part.start).sum();
        assert!(in_memory < bytes.len() as u64, "no debug sections");
        for part in &parts {
            let place = (part.end - 1) as usize;
            bytes[place] ^= 1;
            fs::write(&copy, &bytes).unwrap();
            assert_ne!(hash_file(&copy), hash_file(&program), "byte {place}");
            bytes[place] ^= 1;
        }
        bytes.push(0);
        fs::write(&copy, &bytes).unwrap();
        assert_eq!(hash_file(&copy), hash_file(&program));
    }

    #[test]
    fn hashes_all_bytes_of_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let hash = |text: &str| {
            fs::write(&path, text).unwrap();
            hash_file(&path)
        };
        assert_ne!(hash("one"), hash("two"));
        assert_ne!(hash("one"), hash("one more"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn records_libraries_and_reports_patched_ones() {
        let libraries = mapped_libraries().unwrap();
        assert!(libraries.iter().any(|path| path.contains("libc")), "{libraries:?}");
        assert!(!libraries.contains(std::env::current_exe().unwrap().to_str().unwrap()));
        let program = Program::current().unwrap();
        assert_eq!(program.hash, hash_file(&std::env::current_exe().unwrap()), "executable only");
        let name = program.libraries.keys().find(|name| name.starts_with("libc")).unwrap().clone();
        let mut patched = program.clone();
        patched.libraries.insert(name.clone(), "0123456789abcdef".to_owned());
        patched.libraries.insert("libnew.so.1".to_owned(), "0123456789abcdef".to_owned());
        assert_eq!(program.changed_libraries(&program), [""; 0]);
        assert_eq!(patched.changed_libraries(&program), [name]);
    }
}
