//! Header of a cache file: the identity of the candles in it.

use blake3::Hash;
use bytemuck::{Pod, Zeroable};
use candlewick_sdk::{Candle, Series};

/// Format version of cache files. Increment it with every change of the format.
const VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"cwcandle";
/// Reads as another number on a machine with another byte order.
const BYTE_ORDER: u64 = 0x0102_0304_0506_0708;

/// Fixed fields in native byte order, each at a multiple of its size.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Header {
    magic: [u8; 8],
    version: u32,
    candle_bytes: u32,
    byte_order: u64,
    candles: u64,
    interval_ms: i64,
    symbol: [u8; 32],
    hash: [u8; 32],
    /// Stamp of a file named by path at the time it was read, zeros for a catalog series.
    stamp: [u8; 32],
    reserved: [u8; 24],
    /// Hash of all fields above.
    seal: [u8; 32],
}

/// Offset of the candles: a multiple of 8, so they are aligned if the start of the file is.
pub(super) const HEADER_BYTES: usize = size_of::<Header>();
const SEALED_BYTES: usize = HEADER_BYTES - 32;
const _: () = assert!(HEADER_BYTES.is_multiple_of(align_of::<Candle>()) && size_of::<Candle>() == 48);

impl Header {
    pub(super) fn new(series: Series, candles: usize, hash: Hash, stamp: [u8; 32]) -> Self {
        let mut header = Self {
            magic: MAGIC,
            version: VERSION,
            candle_bytes: size_of::<Candle>() as u32,
            byte_order: BYTE_ORDER,
            candles: candles as u64,
            interval_ms: series.interval.length().get(),
            symbol: padded(series),
            hash: *hash.as_bytes(),
            stamp,
            reserved: [0; 24],
            seal: [0; 32],
        };
        header.seal = header.computed_seal();
        header
    }

    pub(super) fn of(content: &[u8]) -> Option<Self> {
        let header: Self = bytemuck::pod_read_unaligned(content.get(..HEADER_BYTES)?);
        let is_ours = header.magic == MAGIC
            && header.version == VERSION
            && header.byte_order == BYTE_ORDER
            && header.candle_bytes as usize == size_of::<Candle>();
        let length = header.candles.checked_mul(size_of::<Candle>() as u64)?;
        let is_whole = (content.len() - HEADER_BYTES) as u64 == length;
        (is_ours && is_whole && header.seal == header.computed_seal()).then_some(header)
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        bytemuck::bytes_of(self)
    }

    pub(super) fn is_of(&self, series: Series) -> bool {
        self.symbol == padded(series) && self.interval_ms == series.interval.length().get()
    }

    pub(super) fn hash(&self) -> Hash {
        Hash::from_bytes(self.hash)
    }

    pub(super) const fn stamp(&self) -> [u8; 32] {
        self.stamp
    }

    fn computed_seal(&self) -> [u8; 32] {
        *blake3::hash(&self.as_bytes()[..SEALED_BYTES]).as_bytes()
    }
}

/// A symbol has at most 31 bytes and contains no zero byte.
fn padded(series: Series) -> [u8; 32] {
    let mut bytes = [0; 32];
    let symbol = series.symbol.as_str().as_bytes();
    bytes[..symbol.len()].copy_from_slice(symbol);
    bytes
}
