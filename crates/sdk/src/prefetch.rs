//! Prefetches what is read soon (docs/performance.md).

/// Prefetches the cache line with the first bytes of this, for a loop over more than caches hold. It changes nothing but the time.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn prefetch<T>(soon: &T) {
    safe_arch::prefetch_t0(soon);
}

/// On other processors it does nothing.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn prefetch<T>(_: &T) {}
