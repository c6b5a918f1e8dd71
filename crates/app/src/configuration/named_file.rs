//! Resolution of input files named in a configuration: its folder, then the working directory.
//!
//! Paths are replaced per layer, since only a layer knows its file. Output paths (journal, catalog,
//! ledger, state) and paths from environment or command line are relative to the working directory.

use crate::error::AppError;
use figment::value::{Dict, Value};
use std::fs::File;
use std::io;
use std::path::{self, Path, PathBuf};

/// Makes the paths in a configuration file relative to the working directory.
///
/// # Errors
/// A path with different files in both folders.
pub(super) fn place_files(values: &mut Dict, configuration: &Path) -> Result<(), AppError> {
    let Some(folder) = configuration.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    let place = Place { folder, configuration };
    values.iter_mut().try_for_each(|(key, value)| place.walk(value, &mut vec![key.clone()]))
}

pub(super) fn looked_for(origin: Option<&str>, name: &str) -> String {
    let name = Path::new(name);
    if name.as_os_str().is_empty() || name.is_absolute() || name.exists() {
        return String::new();
    }
    let configuration = origin.map(Path::new).filter(|origin| origin.is_file());
    let folders = configuration.and_then(Path::parent).into_iter().chain([Path::new("")]);
    let mut places: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let place = whole(&folder.join(name));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let places = places.iter().map(|place| place.display().to_string());
    format!("; it was looked for as {}", places.collect::<Vec<_>>().join(" and as "))
}

struct Place<'a> {
    folder: &'a Path,
    configuration: &'a Path,
}

impl Place<'_> {
    fn walk(&self, value: &mut Value, key: &mut Vec<String>) -> Result<(), AppError> {
        match value {
            Value::String(_, text) => {
                if let Some(placed) = self.placed(text, key)? {
                    *text = placed;
                }
                Ok(())
            }
            Value::Dict(_, values) => values.iter_mut().try_for_each(|(name, value)| {
                key.push(name.clone());
                let walked = self.walk(value, key);
                key.pop();
                walked
            }),
            Value::Array(_, values) => values.iter_mut().try_for_each(|value| self.walk(value, key)),
            _ => Ok(()),
        }
    }

    fn placed(&self, text: &str, key: &[String]) -> Result<Option<String>, AppError> {
        let key: Vec<&str> = key.iter().map(String::as_str).collect();
        let (before, name) = match key.as_slice() {
            // SYMBOL@INTERVAL=PATH, or a path alone.
            ["sandbox", "data"] => text.split_at(text.find('=').map_or(0, |at| at + 1)),
            ["signals", "list" | "secret_file"]
            | ["broker", "api_token_file" | "api_key_file"]
            | ["risk", "blackouts"]
            | ["risk", "blackouts", "file"]
            | ["notify", "channels", _, "url_file" | "secret_file"] => ("", text),
            // Any parameter may name a file; a text without a dot or a folder is some other word.
            ["bots", "params", ..] if text.contains(['.', '/', '\\']) => ("", text),
            _ => return Ok(None),
        };
        let here = Path::new(name);
        let beside = self.folder.join(here);
        if here.is_absolute() || !beside.is_file() {
            return Ok(None);
        }
        if !here.is_file() {
            return Ok(beside.to_str().map(|beside| format!("{before}{beside}")));
        }
        if is_same(here, &beside) {
            return Ok(None);
        }
        let problem = format!(
            "{}: {} = {text:?} is one file beside the configuration, {}, and another one in the working folder, {}",
            self.configuration.display(),
            key.join("."),
            whole(&beside).display(),
            whole(here).display()
        );
        Err(AppError::invalid(problem)
            .help("write the whole path of the one that is meant, or remove the other"))
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let hash = |path: &Path| -> io::Result<blake3::Hash> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(File::open(path)?)?;
        Ok(hasher.finalize())
    };
    let is_one = std::fs::canonicalize(one).ok().zip(std::fs::canonicalize(other).ok());
    is_one.is_some_and(|(one, other)| one == other)
        || hash(one).ok().zip(hash(other).ok()).is_some_and(|(one, other)| one == other)
}

fn whole(path: &Path) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
