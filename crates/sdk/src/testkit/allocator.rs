//! Counting allocator that detects growth of a strategy's memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static THREAD_COUNTS: Cell<Allocations> = const { Cell::new(Allocations { bytes: 0, calls: 0 }) };
}

/// Allocation counters of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Bytes allocated minus bytes freed; negative if the thread freed memory of other threads.
    pub bytes: i64,
    /// Number of allocations.
    pub calls: u64,
}

/// System allocator with counters for each thread. Install it to check strategies for memory growth:
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: candlewick_sdk::testkit::CountingAllocator = candlewick_sdk::testkit::CountingAllocator;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CountingAllocator;

impl Allocations {
    /// Returns the counters of the current thread. They are zero if [`CountingAllocator`] is not installed.
    pub fn current_thread() -> Self {
        THREAD_COUNTS.try_with(Cell::get).unwrap_or_default()
    }

    /// Returns whether the program has installed [`CountingAllocator`].
    pub fn is_counting() -> bool {
        let before = Self::current_thread();
        // `black_box` prevents the compiler from removing the allocation.
        drop(std::hint::black_box(Box::new(0_u64)));
        Self::current_thread() != before
    }
}

fn add_counts(bytes: i64, calls: u64) {
    // An ending thread may free memory after its counters are gone.
    let _ = THREAD_COUNTS.try_with(|counts| {
        let so_far = counts.get();
        counts.set(Allocations {
            bytes: so_far.bytes.wrapping_add(bytes),
            calls: so_far.calls.wrapping_add(calls),
        });
    });
}

#[allow(
    unsafe_code,
    reason = "`GlobalAlloc` is an unsafe trait; this allocator counts calls and forwards them"
)]
// SAFETY: every call is forwarded unchanged to the system allocator; the counters do not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add_counts(layout.size() as i64, 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add_counts(layout.size() as i64, 1);
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add_counts(size as i64 - layout.size() as i64, 1);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        add_counts(-(layout.size() as i64), 0);
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}
