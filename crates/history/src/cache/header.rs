//! The first bytes of a cache file: what the candles behind them are.

use blake3::Hash;
use bytemuck::{Pod, Zeroable};
use candlewick_sdk::{Candle, Series};

/// Changes whenever the form of the file does.
const VERSION: u32 = 1;
const MAGIC: [u8; 8] = *b"cwcandle";
/// Reads as another number where the byte order is another one.
const BYTE_ORDER: u64 = 0x0102_0304_0506_0708;

/// Fixed fields, each at a multiple of its size, in the byte order of the machine.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Header {
    magic: [u8; 8],
    version: u32,
    candle_bytes: u32,
    byte_order: u64,
    candles: u64,
    interval_ms: i64,
    /// The symbol's bytes, and zeros behind them.
    symbol: [u8; 32],
    hash: [u8; 32],
    /// What a file that is named by path was when it was read; zeros for a catalog's series.
    stamp: [u8; 32],
    reserved: [u8; 24],
    /// Over everything above.
    seal: [u8; 32],
}

/// Where the candles begin: a multiple of 8, so that they are aligned wherever the file's start is.
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

    /// The header at the start of a file's content, when it is sound and the content is as long as it says.
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

/// A symbol is at most 31 bytes long and holds no zero.
fn padded(series: Series) -> [u8; 32] {
    let mut bytes = [0; 32];
    let symbol = series.symbol.as_str().as_bytes();
    bytes[..symbol.len()].copy_from_slice(symbol);
    bytes
}
