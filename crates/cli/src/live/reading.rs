//! Progress of reading the journal before a run: a bar on a terminal, else occasional log lines.

use crate::arguments::GlobalArguments;
use crate::progress::{Terminal, is_visible};
use candlewick_app as app;
use candlewick_broker::clock::Stopwatch;
use std::time::Duration;

const PACE: Duration = Duration::from_secs(15);

pub(super) struct ReadingProgress<'a> {
    pub(super) global: &'a GlobalArguments,
    pub(super) is_full_screen: bool,
}

impl app::Progress for ReadingProgress<'_> {
    fn bar(&self, work: &str) -> Box<dyn app::ProgressBar> {
        if is_visible(self.global) && !self.is_full_screen {
            return Terminal(self.global).bar(work);
        }
        Box::new(Lines { work: work.to_owned(), watch: Stopwatch::start(), next: PACE })
    }

    fn spinner(&self, work: &str) -> Box<dyn Send> {
        Terminal(self.global).spinner(work)
    }
}

struct Lines {
    work: String,
    watch: Stopwatch,
    next: Duration,
}

impl Lines {
    fn line(&mut self, elapsed: Duration, (done, total): (u64, u64)) -> Option<String> {
        if elapsed < self.next {
            return None;
        }
        self.next = elapsed + PACE;
        let (work, percent) = (&self.work, u128::from(done) * 100 / u128::from(total.max(1)));
        let so_far = format!("{work}: {done} of {total} entries, {percent} %");
        if done == 0 {
            return Some(so_far);
        }
        let left = elapsed.as_secs_f64() * total.saturating_sub(done) as f64 / done as f64;
        let (minutes, seconds) = ((left / 60.0).round(), left.round());
        Some(if seconds < 100.0 {
            format!("{so_far}, about {seconds} s left")
        } else {
            format!("{so_far}, about {minutes} min left")
        })
    }
}

impl app::ProgressBar for Lines {
    fn update(&mut self, done: u64, total: u64) {
        let elapsed = self.watch.elapsed();
        if let Some(line) = self.line(elapsed, (done, total)) {
            tracing::warn!("{line}");
        }
    }

    fn pulse(&mut self, _text: String) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_now_and_then_and_says_how_much_is_left() {
        let mut lines = Lines { work: "reading".to_owned(), watch: Stopwatch::start(), next: PACE };
        let mut at = |seconds: u64, done: u64| lines.line(Duration::from_secs(seconds), (done, 50_000_000));
        let said = [at(0, 0), at(14, 999_000), at(15, 1_000_000), at(29, 2_000_000), at(45, 40_000_000)];
        // 49 million more at a million in 15 s, and ten at 40 in 45 s.
        let expected = [
            None,
            None,
            Some("reading: 1000000 of 50000000 entries, 2 %, about 12 min left"),
            None,
            Some("reading: 40000000 of 50000000 entries, 80 %, about 11 s left"),
        ];
        assert_eq!(said, expected.map(|line| line.map(str::to_owned)));
        assert_eq!(at(100, 0).as_deref(), Some("reading: 0 of 50000000 entries, 0 %"));
    }
}
