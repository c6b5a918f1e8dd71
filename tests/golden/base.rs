//! The recorded outputs, each file protected by its hash.

use crate::case::Case;
use crate::document::{hex_sha256, render};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of the list of hashes, in the format of `sha256sum`.
const SUMS: &str = "SHA256SUMS";

pub(crate) struct Base {
    folder: PathBuf,
    sums: BTreeMap<String, String>,
}

impl Base {
    pub(crate) fn open(folder: &Path) -> (Self, Vec<String>) {
        let text = fs::read_to_string(folder.join(SUMS)).unwrap_or_default();
        let sums: BTreeMap<String, String> = text
            .lines()
            .map(|line| line.split_once("  ").expect("a line is a hash, two spaces and a name"))
            .map(|(hash, name)| (name.to_owned(), hash.to_owned()))
            .collect();
        let base = Self { folder: folder.to_owned(), sums };
        let listed = base.sums.iter().filter_map(|(name, hash)| match fs::read(folder.join(name)) {
            Err(_) => Some(format!("base/{name}: missing")),
            Ok(bytes) => (hex_sha256(&bytes) != *hash).then(|| format!("base/{name}: differs from its hash")),
        });
        let files = fs::read_dir(folder).into_iter().flatten();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let unlisted = names
            .filter(|name| name != SUMS && !base.sums.contains_key(name))
            .map(|name| format!("base/{name}: not listed in {SUMS}"));
        let problems = listed.chain(unlisted).collect();
        (base, problems)
    }

    pub(crate) fn read(&self, name: &str) -> Option<Value> {
        let text = fs::read(self.folder.join(name)).ok()?;
        Some(serde_json::from_slice(&text).unwrap())
    }

    pub(crate) fn record_missing(&mut self, outputs: &[(String, Value)]) {
        fs::create_dir_all(&self.folder).unwrap();
        let is_missing = |name: &str| !self.sums.contains_key(name) && !self.folder.join(name).exists();
        let missing: Vec<_> = outputs.iter().filter(|(name, _)| is_missing(name)).collect();
        for (name, output) in missing {
            let text = render(output);
            fs::write(self.folder.join(name), &text).unwrap();
            self.sums.insert(name.clone(), hex_sha256(text.as_bytes()));
        }
        let lines = self.sums.iter().map(|(name, hash)| format!("{hash}  {name}\n"));
        fs::write(self.folder.join(SUMS), lines.collect::<String>()).unwrap();
    }

    pub(crate) fn files_without_case(&self, cases: &[Case]) -> Vec<String> {
        let is_produced = |name: &&String| cases.iter().any(|case| case.file_name() == **name);
        let orphans = self.sums.keys().filter(|name| !is_produced(name));
        orphans.map(|name| format!("base/{name}: no case produces this file")).collect()
    }
}
