//! Progress of a complete journal read, which may take minutes.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeReading<'a> {
    pub why: Option<&'a str>,
    pub done: u64,
    pub total: u64,
}

/// Called before a complete read and after every few thousand entries.
pub type ReadingWatcher<'a> = dyn FnMut(WholeReading<'_>) + Send + 'a;
