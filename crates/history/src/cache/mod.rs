//! Cache files, which store candles in their in-memory layout and are opened without parsing.
//!
//! A cache file is a header followed by the candles, 48 bytes each, in native byte order. Each file is written
//! under a temporary name and then renamed, so only the header is checked on opening. A cache is rejected if
//! the source changed less than two seconds before the cache was written, because file system clocks are coarse.
//! Cache files can be deleted at any time.

use crate::HashedSeries;
use crate::disk::{Disk, replace};
use blake3::Hash;
use bytemuck::{Pod, Zeroable};
use candlewick_sdk::{Candle, CandleSeries, Series};
use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;

mod file_cache;

pub use file_cache::FileCache;

pub(crate) const CACHE_SUFFIX: &str = ".candles";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheKey {
    Hash(Hash),
    File([u8; 32]),
}

pub(crate) fn open(path: &Path, series: Series, key: CacheKey) -> Option<HashedSeries> {
    let (header, candles) = MappedCandles::open(path)?;
    let is_match = match key {
        CacheKey::Hash(hash) => header.hash() == hash,
        CacheKey::File(stamp) => header.stamp == stamp,
    };
    if !is_match || !header.belongs_to(series) {
        return None;
    }
    let candles = CandleSeries::from_validated(series, candles).ok()?;
    Some(HashedSeries::with_hash(candles, header.hash()))
}

pub(crate) fn write(disk: &dyn Disk, path: &Path, series: &HashedSeries, key: CacheKey) -> io::Result<()> {
    let stamp = match key {
        CacheKey::Hash(_) => [0; 32],
        CacheKey::File(stamp) => stamp,
    };
    let candles = series.candles();
    let header = Header::new(candles.series(), candles.candles().len(), series.hash(), stamp);
    replace(disk, path, &[header.as_bytes(), bytemuck::cast_slice(candles.candles())])
}

/// Format version of cache files, to be incremented with every change of the format.
const VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"cwcandle";
/// Byte order marker. A machine with a different byte order reads a different value.
const BYTE_ORDER: u64 = 0x0102_0304_0506_0708;

/// Header of a cache file. All fields are in native byte order and aligned to their size.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    candle_bytes: u32,
    byte_order: u64,
    candles: u64,
    interval_ms: i64,
    symbol: [u8; 32],
    hash: [u8; 32],
    /// Stamp of the source file at the time of reading. All zeros for a catalog series.
    stamp: [u8; 32],
    reserved: [u8; 24],
    /// Hash of all preceding fields.
    seal: [u8; 32],
}

/// Size of the header, which is also the offset of the candles. It is a multiple of 8 to align the candles.
const HEADER_BYTES: usize = size_of::<Header>();
const SEALED_BYTES: usize = HEADER_BYTES - 32;
const _: () = assert!(HEADER_BYTES.is_multiple_of(align_of::<Candle>()) && size_of::<Candle>() == 48);

impl Header {
    fn new(series: Series, candles: usize, hash: Hash, stamp: [u8; 32]) -> Self {
        let mut header = Self {
            magic: MAGIC,
            version: VERSION,
            candle_bytes: size_of::<Candle>() as u32,
            byte_order: BYTE_ORDER,
            candles: candles as u64,
            interval_ms: series.interval.length().get(),
            symbol: padded_symbol(series),
            hash: *hash.as_bytes(),
            stamp,
            reserved: [0; 24],
            seal: [0; 32],
        };
        header.seal = header.compute_seal();
        header
    }

    fn parse(content: &[u8]) -> Option<Self> {
        let header: Self = bytemuck::pod_read_unaligned(content.get(..HEADER_BYTES)?);
        let is_ours = header.magic == MAGIC
            && header.version == VERSION
            && header.byte_order == BYTE_ORDER
            && header.candle_bytes as usize == size_of::<Candle>();
        let length = header.candles.checked_mul(size_of::<Candle>() as u64)?;
        let is_whole = (content.len() - HEADER_BYTES) as u64 == length;
        (is_ours && is_whole && header.seal == header.compute_seal()).then_some(header)
    }

    fn as_bytes(&self) -> &[u8] {
        bytemuck::bytes_of(self)
    }

    fn belongs_to(&self, series: Series) -> bool {
        self.symbol == padded_symbol(series) && self.interval_ms == series.interval.length().get()
    }

    fn hash(&self) -> Hash {
        Hash::from_bytes(self.hash)
    }

    fn compute_seal(&self) -> [u8; 32] {
        *blake3::hash(&self.as_bytes()[..SEALED_BYTES]).as_bytes()
    }
}

/// Returns the symbol, padded with zeros. A symbol has at most 31 bytes and no zero byte.
fn padded_symbol(series: Series) -> [u8; 32] {
    let mut bytes = [0; 32];
    let symbol = series.symbol.as_str().as_bytes();
    bytes[..symbol.len()].copy_from_slice(symbol);
    bytes
}

/// Candles of a memory-mapped cache file. This type contains the only unsafe code outside tests and benches.
struct MappedCandles(Mmap);

impl MappedCandles {
    fn open(path: &Path) -> Option<(Header, Self)> {
        let file = File::open(path).ok()?;
        // SAFETY: A map is sound as long as no process changes the file's content. This program never does: a cache file
        // is written under another name, synced, and only then renamed. Replacing it by a rename and removing it by an
        // unlink do not change the mapped content. The files are in the user's own folders, and no other program has a
        // reason to write to them. Such a program would break any mapped file, even executables. Every bit pattern
        // is a valid `f64` and `i64`, so corrupt content results in wrong candles at worst. Length and alignment are
        // checked below.
        #[allow(unsafe_code, reason = "mapping a file cannot be made safe")]
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let header = Header::parse(&map)?;
        bytemuck::try_cast_slice::<u8, Candle>(&map[HEADER_BYTES..]).ok()?;
        // Tells the system that the map is read sequentially. A failure has no effect on correctness.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        Some((header, Self(map)))
    }
}

impl AsRef<[Candle]> for MappedCandles {
    fn as_ref(&self) -> &[Candle] {
        bytemuck::cast_slice(&self.0[HEADER_BYTES..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SystemDisk;
    use candlewick_sdk::{Candle, Interval, Millis, Ohlcv};
    use std::fs;

    fn series(symbol: &str) -> Series {
        Series { symbol: symbol.parse().unwrap(), interval: Interval::MINUTE }
    }

    fn some(count: i64) -> HashedSeries {
        let candle = |minute: i64| {
            let price = 1.0 + minute as f64;
            let numbers = Ohlcv { open: price, high: price + 0.5, low: price, close: price, volume: -0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
        };
        HashedSeries::new(CandleSeries::new(series("A"), (0..count).map(candle).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn rejects_cache_of_another_series_or_source() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.candles");
        let (written, other) = (some(3), some(4));
        let of = CacheKey::File([7; 32]);
        assert!(open(&path, series("A"), of).is_none(), "there is none");
        write(&SystemDisk, &path, &written, of).unwrap();
        assert!(open(&path, series("A"), of).is_some());
        assert!(open(&path, series("B"), of).is_none());
        assert!(open(&path, Series { interval: "2m".parse().unwrap(), ..series("A") }, of).is_none());
        assert!(open(&path, series("A"), CacheKey::File([8; 32])).is_none());
        assert!(open(&path, series("A"), CacheKey::Hash(other.hash())).is_none());
    }

    #[test]
    fn rejects_damaged_cache_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.candles");
        let written = some(3);
        let of = CacheKey::Hash(written.hash());
        write(&SystemDisk, &path, &written, of).unwrap();
        let sound = fs::read(&path).unwrap();
        let header = sound.len() - 3 * 48;
        let is_opened = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            open(&path, series("A"), of).is_some()
        };
        for place in 0..header {
            let mut damaged = sound.clone();
            damaged[place] ^= 1;
            assert!(!is_opened(&damaged), "byte {place}");
        }
        for length in 0..sound.len() {
            assert!(!is_opened(&sound[..length]), "{length} bytes");
        }
        assert!(!is_opened(&[&sound[..], &[0]].concat()));
        assert!(is_opened(&sound));
    }
}
