//! Throttling of identical alerts.

use crate::alert::Alert;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of keys. If all are recent, further keys are not throttled.
const MOST: usize = 1_000;

#[derive(Debug)]
pub(crate) struct Repeats {
    quiet: Duration,
    said: HashMap<String, Said>,
}

#[derive(Debug)]
struct Said {
    since: Instant,
    last: Option<Alert>,
    held_back: u64,
}

impl Repeats {
    pub(crate) fn new(quiet: Duration) -> Self {
        Self { quiet, said: HashMap::new() }
    }

    pub(crate) fn pass(&mut self, alert: Alert, now: Instant) -> Option<Alert> {
        let Some(key) = alert.repeat_key.clone().filter(|_| !self.quiet.is_zero()) else {
            return Some(alert);
        };
        match self.said.get_mut(&key) {
            Some(said) if now.duration_since(said.since) < self.quiet => {
                said.held_back += 1;
                said.last = Some(alert);
                None
            }
            Some(said) => {
                let repeated = std::mem::take(&mut said.held_back);
                *said = Said { since: now, last: None, held_back: 0 };
                Some(Alert { repeated, ..alert })
            }
            None => {
                if self.said.len() < MOST {
                    self.said.insert(key, Said { since: now, last: None, held_back: 0 });
                }
                Some(alert)
            }
        }
    }

    pub(crate) fn due(&mut self, now: Instant, is_end: bool) -> Vec<Alert> {
        let mut due = Vec::new();
        self.said.retain(|_, said| {
            if !is_end && now.duration_since(said.since) < self.quiet {
                return true;
            }
            let Some(last) = said.last.take() else { return false };
            // The one that is sent is none of those that were not.
            due.push(Alert { repeated: said.held_back - 1, ..last });
            *said = Said { since: now, last: None, held_back: 0 };
            true
        });
        due.sort_by_key(|alert| alert.at);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alert::Severity;

    fn alert(at: i64, key: Option<&str>) -> Alert {
        let alert = Alert::new(at, Severity::Warning, "warning", format!("at {at}"));
        Alert { repeat_key: key.map(str::to_owned), ..alert }
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_said_lately_is_counted_and_told_when_the_quiet_time_is_over() {
        let (mut repeats, start) = (Repeats::new(Duration::from_mins(5)), Instant::now());
        let after = |seconds| start + Duration::from_secs(seconds);
        assert!(repeats.pass(alert(0, Some("a")), after(0)).is_some());
        for at in 1..=3 {
            assert_eq!(repeats.pass(alert(at, Some("a")), after(10)), None);
        }
        assert!(repeats.pass(alert(4, Some("b")), after(10)).is_some(), "another key");
        assert!(repeats.pass(alert(5, None), after(10)).is_some(), "no key");
        assert!(repeats.pass(alert(5, None), after(10)).is_some(), "no key is never held back");
        assert_eq!(repeats.due(after(299), false), []);
        let due = repeats.due(after(300), false);
        assert_eq!(due.iter().map(|alert| (alert.at, alert.repeated)).collect::<Vec<_>>(), [(3, 2)]);
        assert_eq!(repeats.pass(alert(6, Some("a")), after(301)), None, "what was just told is quiet again");
        assert_eq!(repeats.due(after(302), true).len(), 1, "an end tells all");
        let passed = repeats.pass(alert(7, Some("a")), after(900)).unwrap();
        assert_eq!(passed.repeated, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn an_alert_that_comes_after_its_quiet_time_says_how_many_were_held_back() {
        let (mut repeats, start) = (Repeats::new(Duration::from_mins(5)), Instant::now());
        repeats.pass(alert(0, Some("a")), start);
        repeats.pass(alert(1, Some("a")), start);
        let passed = repeats.pass(alert(2, Some("a")), start + Duration::from_secs(400)).unwrap();
        assert_eq!((passed.at, passed.repeated), (2, 1));
    }
}
