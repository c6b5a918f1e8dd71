//! Progress display while a whole journal is read before a run.

use crate::progress::{Progress, ProgressBar};
use candlewick_runtime::WholeReading;

/// Number of entries below which reading is too fast to show.
const MANY: u64 = 100_000;

pub(super) struct ShownReading<'a> {
    progress: &'a dyn Progress,
    bar: Option<Box<dyn ProgressBar>>,
}

impl<'a> ShownReading<'a> {
    pub(super) const fn new(progress: &'a dyn Progress) -> Self {
        Self { progress, bar: None }
    }

    pub(super) fn take(&mut self, reading: WholeReading<'_>) {
        if self.bar.is_none()
            && let Some(notice) = notice_of(reading)
        {
            tracing::warn!("{notice}");
        }
        let bar = self.bar.get_or_insert_with(|| self.progress.bar("reading the journal"));
        bar.update(reading.done, reading.total);
    }
}

fn notice_of(reading: WholeReading<'_>) -> Option<String> {
    let WholeReading { why, total, .. } = reading;
    match why {
        Some(why) => Some(format!("{why}; it has {total} entries")),
        None if total >= MANY => Some(format!(
            "the journal has no snapshot to go on from, and all of its {total} entries are read"
        )),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_long_or_has_a_cause_is_said_before_it_begins() {
        let of = |why, total| notice_of(WholeReading { why, done: 0, total });
        assert_eq!(of(None, MANY - 1), None);
        assert!(of(None, MANY).is_some_and(|notice| notice.contains("all of its 100000 entries are read")));
        assert_eq!(
            of(Some("it is read: other settings"), 3).as_deref(),
            Some("it is read: other settings; it has 3 entries")
        );
    }
}
