//! What is known of a series: its versions, their files, and where the candles came from.

use crate::hash::hash_of_blocks;
use blake3::Hash;
use candlewick_sdk::{Candle, Interval, Millis, Series, Symbol};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;

/// The version of the manifest's form.
pub(super) const FORMAT: u32 = 1;
/// File names that are kept of one origin.
const MAX_FILES: usize = 100;

/// A series in the catalog.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub(super) format: u32,
    /// The trading pair.
    pub symbol: Symbol,
    /// The candles' length.
    pub interval: Interval,
    /// The number of the version that is read unless another is asked for.
    pub current: u32,
    /// All versions, oldest first.
    pub versions: Vec<Version>,
    /// Where candles came from, oldest first.
    pub origins: Vec<Provenance>,
    /// The file of values that came later for moments that were there already.
    pub revisions: Option<RevisionFile>,
    /// The file of values that the repair of the current version left out or replaced: they do not come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired: Option<RevisionFile>,
    /// Closed hours in which a source was asked for candles and had none.
    #[serde(rename = "rests", default, skip_serializing_if = "Vec::is_empty")]
    pub empty_hours: Vec<EmptyHours>,
}

/// Closed hours in which a source was asked for candles and had none: nobody needs to ask again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmptyHours {
    /// The source, as its [`Provenance`] names it.
    pub source: String,
    /// Open time of the first candle that is not there.
    pub start: Millis,
    /// Open time of the candle that ends it.
    pub end: Millis,
}

/// One state of a series' candles. An append goes on with the current version; a repair begins a new one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// Counted from 1.
    pub number: u32,
    /// What it is, in a few words.
    pub note: String,
    /// The [`series_hash`](crate::series_hash) of its candles; a backtest over them alone prints the same.
    pub data_hash: String,
    /// Its candle files, by time.
    pub segments: Vec<Segment>,
}

/// The candles of one block of the calendar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// The name of the file.
    pub file: String,
    /// Open time of the first candle.
    pub start: Millis,
    /// Close time of the last candle.
    pub end: Millis,
    /// How many there are.
    pub candles: u64,
    /// The hash of its candles, as it enters that of the series.
    pub hash: String,
}

/// A file of values that are not in force: revised ones, or those that a repair left out or replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevisionFile {
    /// Its name.
    pub file: String,
    /// How many values it holds.
    pub count: u64,
}

/// Where the candles of one append come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The venue, program or format, such as a URL or `csv`.
    pub source: String,
    /// Under which terms, where known.
    pub licence: Option<String>,
    /// When they were fetched: a candle that closes later was not closed yet, and is left out.
    pub fetched_at: Millis,
    /// The files that they were in.
    pub files: Vec<String>,
}

/// What one source has brought.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The venue, program or format.
    pub source: String,
    /// Under which terms, where known.
    pub licence: Option<String>,
    /// When it was first fetched from.
    pub first_at: Millis,
    /// When it was last fetched from.
    pub last_at: Millis,
    /// The files that the candles were in; of very many, the latest.
    pub files: Vec<String>,
    /// Candles that were not there before.
    pub new: u64,
    /// Values that differ from those seen before.
    pub revised: u64,
}

/// A value that came for a moment whose candle was there already, and differs from it; or one that a repair left out or
/// replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Revision {
    /// When it was fetched, or taken out.
    pub seen: Millis,
    /// The value.
    pub candle: Candle,
}

impl Manifest {
    /// Of a series of which there is nothing yet.
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

    /// Which series this is of.
    pub const fn series(&self) -> Series {
        Series { symbol: self.symbol, interval: self.interval }
    }

    /// The version of that number.
    pub fn version(&self, number: u32) -> Option<&Version> {
        self.versions.iter().find(|version| version.number == number)
    }

    /// The version that is read unless another is asked for.
    pub fn current(&self) -> Option<&Version> {
        self.version(self.current)
    }

    /// How many revised values are kept.
    pub fn revised(&self) -> u64 {
        self.revisions.as_ref().map_or(0, |revisions| revisions.count)
    }

    /// Whether a source was asked for a stretch of closed hours, and had nothing.
    pub fn is_known_empty(&self, source: &str, stretch: &Range<Millis>) -> bool {
        let covers = |empty: &EmptyHours| empty.start <= stretch.start && stretch.end <= empty.end;
        self.empty_hours.iter().any(|empty| empty.source == source && covers(empty))
    }

    /// Every file that it names.
    pub(super) fn files(&self) -> impl Iterator<Item = String> + '_ {
        let segments = self.versions.iter().flat_map(|version| &version.segments);
        let revisions = self.revisions.iter().chain(&self.repaired).map(|values| values.file.clone());
        segments.map(|segment| segment.file.clone()).chain(revisions)
    }

    /// What a person may have broken.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(name) = self.files().find(|name| !is_plain_name(name)) {
            return Err(format!("\"{name}\" is not the name of a file in this folder"));
        }
        for version in &self.versions {
            let hash =
                hash_of(self.series(), &version.segments).ok_or("a hash is not 64 hexadecimal digits")?;
            if hash.to_hex().as_str() != version.data_hash {
                return Err(format!(
                    "the data_hash of version {} is not that of its segments",
                    version.number
                ));
            }
        }
        if self.current().is_none() {
            return Err(format!("there is no version {}", self.current));
        }
        Ok(())
    }

    /// Puts a version in force, in the place of the one of its number.
    pub(super) fn put(&mut self, version: Version) {
        self.current = version.number;
        match self.versions.iter_mut().find(|known| known.number == version.number) {
            Some(known) => *known = version,
            None => self.versions.push(version),
        }
    }

    /// Notes where candles came from; one entry for each source.
    pub(super) fn note(&mut self, origin: &Origin, new: u64, revised: u64) {
        let of_source = |known: &Provenance| known.source == origin.source && known.licence == origin.licence;
        let place = self.origins.iter().position(of_source).unwrap_or(self.origins.len());
        if place == self.origins.len() {
            self.origins.push(Provenance::new(origin));
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
        let surplus = known.files.len().saturating_sub(MAX_FILES);
        known.files.drain(..surplus);
    }
}

impl Provenance {
    fn new(origin: &Origin) -> Self {
        Self {
            source: origin.source.clone(),
            licence: origin.licence.clone(),
            first_at: origin.fetched_at,
            last_at: origin.fetched_at,
            files: Vec::new(),
            new: 0,
            revised: 0,
        }
    }
}

impl Version {
    /// Of these files.
    pub(super) fn new(series: Series, number: u32, note: &str, segments: Vec<Segment>) -> Self {
        let hash = hash_of(series, &segments).expect("the hashes of segments were just printed");
        Self { number, note: note.to_owned(), data_hash: hash.to_hex().to_string(), segments }
    }

    /// Its [`series_hash`](crate::series_hash).
    pub(super) fn hash(&self) -> Hash {
        Hash::from_hex(&self.data_hash).expect("a manifest's hashes are checked when it is read")
    }

    /// How many candles it has.
    pub fn candles(&self) -> u64 {
        self.segments.iter().map(|segment| segment.candles).sum()
    }

    /// Open time of its first candle.
    pub fn start(&self) -> Millis {
        self.segments.first().map_or(Millis::ZERO, |segment| segment.start)
    }

    /// Close time of its last candle.
    pub fn end(&self) -> Millis {
        self.segments.last().map_or(Millis::ZERO, |segment| segment.end)
    }
}

fn hash_of(series: Series, segments: &[Segment]) -> Option<Hash> {
    let blocks = segments.iter().map(|segment| Some((segment.candles, Hash::from_hex(&segment.hash).ok()?)));
    Some(hash_of_blocks(series, &blocks.collect::<Option<Vec<_>>>()?))
}
/// Whether a name stays inside its folder.
pub(super) fn is_plain_name(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|file| file == name)
}
