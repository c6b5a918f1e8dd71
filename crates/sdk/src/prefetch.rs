//! Prefetching of data that is read soon (docs/performance.md).

/// Prefetches the first cache line of a value.
///
/// For loops over more data than fits the caches. Affects only the speed.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn prefetch<T>(soon: &T) {
    safe_arch::prefetch_t0(soon);
}

/// Does nothing on other processors.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn prefetch<T>(_: &T) {}
