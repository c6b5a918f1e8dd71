//! Progress reporting of long operations.

pub trait Progress: Send + Sync {
    /// Creates a progress bar that disappears when dropped.
    fn bar(&self, work: &str) -> Box<dyn ProgressBar>;

    /// Creates an indicator for work of unknown length. The indicator disappears when dropped.
    fn spinner(&self, work: &str) -> Box<dyn Send>;
}

pub trait ProgressBar: Send {
    fn update(&mut self, done: u64, total: u64);

    fn set_text(&mut self, text: String);
}

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

    fn set_text(&mut self, _text: String) {}
}
