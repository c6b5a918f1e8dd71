//! Times of one kind, and what is printed of them.

use std::time::Duration;

#[derive(Default)]
pub(crate) struct Times(pub(crate) Vec<Duration>);

impl Times {
    pub(crate) fn at(&self, share: f64) -> f64 {
        let mut times = self.0.clone();
        times.sort_unstable();
        let place = (times.len().saturating_sub(1) as f64 * share) as usize;
        times.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    }

    pub(crate) fn median(&self) -> f64 {
        self.at(0.5)
    }
}
