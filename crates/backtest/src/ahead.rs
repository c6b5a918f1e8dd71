//! Asks the processor for what is read soon.
//!
//! A processor reads ahead by itself where a loop goes on and on; a backtest's loop over candles is broken off at each trade, and
//! waits for memory again behind it. Asking changes nothing but time.

/// Candles that are asked for before they are handed in: a few hundred nanoseconds of work.
pub(crate) const AHEAD: usize = 32;

/// Asks for these. Nothing is waited for.
#[inline]
pub(crate) fn fetch<T>(soon: &[T]) {
    for one in soon {
        fetch_one(one);
    }
}

/// Asks for the first bytes of this one.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn fetch_one<T>(soon: &T) {
    safe_arch::prefetch_t0(soon);
}

/// Other processors are not asked.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn fetch_one<T>(_: &T) {}
