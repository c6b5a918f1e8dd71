//! Memory map of a cache file: the only unsafe code besides counting allocators in tests.

use super::header::{HEADER_BYTES, Header};
use candlewick_sdk::Candle;
use memmap2::Mmap;
use std::fs::File;
use std::path::Path;

pub(super) struct MappedCandles {
    map: Mmap,
}

impl MappedCandles {
    pub(super) fn open(path: &Path) -> Option<(Header, Self)> {
        let file = File::open(path).ok()?;
        // SAFETY: A map is sound as long as nobody changes the file's bytes. This program never does: a cache file is
        // written under another name, made durable, and only then renamed to its own; it is replaced by renaming and
        // removed by unlinking, both of which leave the mapped file as it was. The files lie in the user's own folders
        // and nothing else has a reason to write to them; a program that does so breaks this promise, as it would that
        // of any mapped file, such as the executable's own. Every pattern of bits is a valid `f64` and `i64`, so bytes
        // that are wrong from the start are wrong candles at worst, and their length and alignment are checked below.
        #[allow(unsafe_code, reason = "mapping a file is what no safe function can promise to be sound")]
        let map = unsafe { Mmap::map(&file) }.ok()?;
        let header = Header::of(&map)?;
        bytemuck::try_cast_slice::<u8, Candle>(&map[HEADER_BYTES..]).ok()?;
        // Only advice, to a reader that goes from front to back; a system that knows none does as well.
        #[cfg(unix)]
        let _ = map.advise(memmap2::Advice::Sequential);
        Some((header, Self { map }))
    }
}

impl AsRef<[Candle]> for MappedCandles {
    fn as_ref(&self) -> &[Candle] {
        bytemuck::cast_slice(&self.map[HEADER_BYTES..])
    }
}
