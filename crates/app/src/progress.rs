//! How far long work is, for whoever watches it.

/// Shows how far work is: bars in a terminal, events of a page, or nothing.
pub trait Progress: Send + Sync {
    /// Work of this name begins; its bar is there until it is dropped.
    fn bar(&self, work: &str) -> Box<dyn ProgressBar>;

    /// Work begins that does not know how far it is; the sign of life is there until it is dropped.
    fn spinner(&self, work: &str) -> Box<dyn Send>;
}

/// How far one piece of work is.
pub trait ProgressBar: Send {
    /// So much of so much is done.
    fn update(&mut self, done: u64, total: u64);

    /// A sign of life of what has no end that is known.
    fn pulse(&mut self, text: String);
}

/// Shows nothing.
pub struct NoProgress;

impl Progress for NoProgress {
    fn bar(&self, _work: &str) -> Box<dyn ProgressBar> {
        Box::new(Self)
    }

    fn spinner(&self, _work: &str) -> Box<dyn Send> {
        Box::new(Self)
    }
}

impl ProgressBar for NoProgress {
    fn update(&mut self, _done: u64, _total: u64) {}

    fn pulse(&mut self, _text: String) {}
}
