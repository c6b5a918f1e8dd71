//! Manifest of a series: versions, their files, and the provenance of the candles.

use crate::hash::hash_blocks;
use blake3::Hash;
use candlewick_sdk::{Candle, Interval, Millis, Series, Symbol};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;

pub(super) const FORMAT: u32 = 1;
const MAX_FILES_PER_ORIGIN: usize = 100;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub(super) format: u32,
    pub symbol: Symbol,
    pub interval: Interval,
    pub current: u32,
    pub versions: Vec<Version>,
    pub origins: Vec<Provenance>,
    pub revisions: Option<RevisionFile>,
    /// Candles that were removed or replaced by the repairs up to the current version. Appends do not restore them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired: Option<RevisionFile>,
    #[serde(rename = "rests", default, skip_serializing_if = "Vec::is_empty")]
    pub empty_hours: Vec<EmptyHours>,
}

/// Hours of a closed market for which a source has no candles. These hours are not requested again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmptyHours {
    pub source: String,
    pub start: Millis,
    /// Exclusive end: the open time of the next candle.
    pub end: Millis,
}

/// One version of a series. An append extends the current version. A repair adds a new version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    pub number: u32,
    pub note: String,
    /// [`series_hash`](crate::series_hash) of the candles.
    pub data_hash: String,
    pub segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    pub file: String,
    pub start: Millis,
    pub end: Millis,
    pub candles: u64,
    pub hash: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevisionFile {
    pub file: String,
    pub count: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub source: String,
    pub licence: Option<String>,
    /// Time of the fetch. Candles that close after this time are excluded.
    pub fetched_at: Millis,
    pub files: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    pub source: String,
    pub licence: Option<String>,
    pub first_at: Millis,
    pub last_at: Millis,
    pub files: Vec<String>,
    /// Number of candles that this source added.
    pub new: u64,
    pub revised: u64,
}

/// Candle that differs from an earlier candle of the same time, or that a repair removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revision {
    pub seen_at: Millis,
    pub candle: Candle,
}

impl Manifest {
    pub(super) const fn new(series: Series) -> Self {
        Self {
            format: FORMAT,
            symbol: series.symbol,
            interval: series.interval,
            current: 0,
            versions: Vec::new(),
            origins: Vec::new(),
            revisions: None,
            repaired: None,
            empty_hours: Vec::new(),
        }
    }

    pub const fn series(&self) -> Series {
        Series { symbol: self.symbol, interval: self.interval }
    }

    pub fn version(&self, number: u32) -> Option<&Version> {
        self.versions.iter().find(|version| version.number == number)
    }

    pub fn current_version(&self) -> Option<&Version> {
        self.version(self.current)
    }

    pub fn revision_count(&self) -> u64 {
        self.revisions.as_ref().map_or(0, |revisions| revisions.count)
    }

    pub fn is_known_empty(&self, source: &str, stretch: &Range<Millis>) -> bool {
        let covers = |empty: &EmptyHours| empty.start <= stretch.start && stretch.end <= empty.end;
        self.empty_hours.iter().any(|empty| empty.source == source && covers(empty))
    }

    pub(super) fn files(&self) -> impl Iterator<Item = String> + '_ {
        let segments = self.versions.iter().flat_map(|version| &version.segments);
        let revisions = self.revisions.iter().chain(&self.repaired).map(|values| values.file.clone());
        segments.map(|segment| segment.file.clone()).chain(revisions)
    }

    /// Rejects manifests that were edited by hand, for example with changed hashes or a file outside the folder.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(name) = self.files().find(|name| !is_plain_name(name)) {
            return Err(format!("\"{name}\" is not the name of a file in this folder"));
        }
        for version in &self.versions {
            let hash = segments_hash(self.series(), &version.segments)
                .ok_or("a hash is not 64 hexadecimal digits")?;
            if hash.to_hex().as_str() != version.data_hash {
                let number = version.number;
                return Err(format!("the data_hash of version {number} does not match its segments"));
            }
        }
        if self.current_version().is_none() {
            return Err(format!("the current version {} does not exist", self.current));
        }
        Ok(())
    }

    pub(super) fn set_current(&mut self, version: Version) {
        self.current = version.number;
        match self.versions.iter_mut().find(|known| known.number == version.number) {
            Some(known) => *known = version,
            None => self.versions.push(version),
        }
    }

    pub(super) fn record_origin(&mut self, origin: &Origin, new: u64, revised: u64) {
        let is_origin = |known: &Provenance| known.source == origin.source && known.licence == origin.licence;
        let place = self.origins.iter().position(is_origin).unwrap_or(self.origins.len());
        if place == self.origins.len() {
            self.origins.push(Provenance {
                source: origin.source.clone(),
                licence: origin.licence.clone(),
                first_at: origin.fetched_at,
                last_at: origin.fetched_at,
                files: Vec::new(),
                new: 0,
                revised: 0,
            });
        }
        let known = &mut self.origins[place];
        known.first_at = known.first_at.min(origin.fetched_at);
        known.last_at = known.last_at.max(origin.fetched_at);
        known.new += new;
        known.revised += revised;
        for file in &origin.files {
            if !known.files.contains(file) {
                known.files.push(file.clone());
            }
        }
        let surplus = known.files.len().saturating_sub(MAX_FILES_PER_ORIGIN);
        known.files.drain(..surplus);
    }
}

impl Version {
    pub(super) fn new(series: Series, number: u32, note: &str, segments: Vec<Segment>) -> Self {
        let hash = segments_hash(series, &segments).expect("segment hashes are valid");
        Self { number, note: note.to_owned(), data_hash: hash.to_hex().to_string(), segments }
    }

    pub(super) fn hash(&self) -> Hash {
        Hash::from_hex(&self.data_hash).expect("a manifest's hashes are checked when it is read")
    }

    pub fn candle_count(&self) -> u64 {
        self.segments.iter().map(|segment| segment.candles).sum()
    }

    pub fn start(&self) -> Millis {
        self.segments.first().map_or(Millis::ZERO, |segment| segment.start)
    }

    pub fn end(&self) -> Millis {
        self.segments.last().map_or(Millis::ZERO, |segment| segment.end)
    }
}

fn segments_hash(series: Series, segments: &[Segment]) -> Option<Hash> {
    let blocks = segments.iter().map(|segment| Some((segment.candles, Hash::from_hex(&segment.hash).ok()?)));
    Some(hash_blocks(series, &blocks.collect::<Option<Vec<_>>>()?))
}
pub(super) fn is_plain_name(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|file| file == name)
}
