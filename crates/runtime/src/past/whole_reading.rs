//! How far the reading of a whole journal is: of a long one it takes minutes, and whoever waits is told.

/// A journal that is read from its first entry on, because no snapshot stands for what came before its last ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeReading<'a> {
    /// Why its last snapshot is not used, in words; none where it has no snapshot.
    pub why: Option<&'a str>,
    /// Entries that were read; 0 before the first is.
    pub done: u64,
    /// Entries that there are.
    pub total: u64,
}

/// Told of a [`WholeReading`] before it begins, and again with every few thousand entries.
pub type ReadingWatcher<'a> = dyn FnMut(WholeReading<'_>) + Send + 'a;
