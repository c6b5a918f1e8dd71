//! The code that runs: the hash of the program itself, strategies and all.

use crate::failure::{Failure, FailureKind};
use std::fs::File;
use std::io;

/// Over every byte of the executable that runs. Whatever was compiled into it, by whomever, a change of it is a change of
/// the hash, whether a version was raised or not.
pub(crate) fn program_hash() -> Result<String, Failure> {
    let hash = executable().and_then(|file| {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(file)?;
        Ok(hasher.finalize().to_hex().to_string())
    });
    hash.map_err(|error| {
        Failure::new(FailureKind::Unexpected, error).context("the program cannot read itself")
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_hash_of_the_file_that_runs() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(program_hash().unwrap(), blake3::hash(&bytes).to_hex().to_string());
    }
}
