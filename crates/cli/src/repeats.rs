//! Repeated warnings are shown once and then counted.
//!
//! Warnings are of one kind if they agree up to their first colon (symbol, intent, request) and,
//! ignoring numbers, up to the second. The number shown per span is limited for kinds that differ
//! only in numbers, and for all kinds. The others are counted, and the count is shown at the end of
//! the span; the journal has every one. What an operator must see is an alarm: an error that is
//! never suppressed.

use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) const SPAN: Duration = Duration::from_mins(5);
const MAX_OF_FAMILY: u64 = 10;
const MAX_OF_ALL: u64 = 200;

#[derive(Debug, Default)]
pub(crate) struct Repeats {
    tallies: BTreeMap<Key, Tally>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Kind(String),
    Family(String),
    All,
}

#[derive(Debug)]
struct Tally {
    since: Duration,
    shown: u64,
    held: u64,
    latest: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) count: u64,
    pub(crate) span: Duration,
    pub(crate) latest: String,
}

impl Key {
    fn of(text: &str) -> [Self; 3] {
        let mut parts = text.splitn(3, ": ");
        let (who, what) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let what = without_numbers(what);
        [
            Self::Kind(format!("{who}: {what}")),
            Self::Family(format!("{}: {what}", without_numbers(who))),
            Self::All,
        ]
    }

    const fn limit(&self) -> u64 {
        match self {
            Self::Kind(_) => 1,
            Self::Family(_) => MAX_OF_FAMILY,
            Self::All => MAX_OF_ALL,
        }
    }
}

impl Repeats {
    pub(crate) fn admit(&mut self, text: &str, now: Duration) -> bool {
        let keys = Key::of(text);
        let full = |key: &&Key| self.tallies.get(*key).is_some_and(|tally| tally.shown >= key.limit());
        if let Some(tally) = keys.iter().find(full).and_then(|key| self.tallies.get_mut(key)) {
            tally.held += 1;
            text.clone_into(&mut tally.latest);
            return false;
        }
        for key in keys {
            let new = Tally { since: now, shown: 0, held: 0, latest: String::new() };
            self.tallies.entry(key).or_insert(new).shown += 1;
        }
        true
    }

    pub(crate) fn due(&mut self, now: Duration) -> Vec<Held> {
        let mut due = Vec::new();
        self.tallies.retain(|key, tally| {
            if now.saturating_sub(tally.since) < SPAN {
                return true;
            }
            due.extend(tally.take(now));
            // A kind goes on; of many, the next span shows some again.
            matches!(key, Key::Kind(_)) && tally.since == now
        });
        due
    }

    pub(crate) fn rest(&mut self, now: Duration) -> Vec<Held> {
        self.tallies.values_mut().filter_map(|tally| tally.take(now)).collect()
    }

    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.tallies.values().map(|tally| tally.since + SPAN).min()
    }
}

impl Tally {
    fn take(&mut self, now: Duration) -> Option<Held> {
        let count = std::mem::take(&mut self.held);
        let span = now.saturating_sub(self.since);
        let latest = std::mem::take(&mut self.latest);
        (count > 0).then(|| {
            self.since = now;
            Held { count, span, latest }
        })
    }
}

impl Held {
    pub(crate) fn words(&self) -> String {
        let seconds = self.span.as_secs();
        let span = if seconds < 60 { format!("{seconds} s") } else { format!("{} min", seconds / 60) };
        format!("... and {} more of these in the last {span}: {}", self.count, self.latest)
    }
}

fn without_numbers(text: &str) -> String {
    let is_separator = |letter: char| !letter.is_alphanumeric();
    text.split_inclusive(is_separator)
        .map(|part| {
            let word = part.trim_end_matches(is_separator);
            if word.contains(|letter: char| letter.is_ascii_digit()) {
                format!("#{}", &part[word.len()..])
            } else {
                part.to_owned()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn held(count: u64, seconds: u64, latest: &str) -> Held {
        Held { count, span: at(seconds), latest: latest.to_owned() }
    }

    #[test]
    fn a_flood_is_one_line_and_a_count_as_long_as_it_lasts() {
        let mut repeats = Repeats::default();
        let text = |second: u64| format!("EURUSD: no price: cause {second}: HTTP 500");
        for second in 0..900 {
            assert_eq!(repeats.admit(&text(second), at(second)), second == 0);
            let expected = match second {
                300 => vec![held(300, 300, &text(300))],
                600 => vec![held(300, 300, &text(600))],
                _ => Vec::new(),
            };
            assert_eq!(repeats.due(at(second)), expected, "{second}");
        }
        assert_eq!(repeats.rest(at(900)), [held(299, 300, &text(899))]);
        assert_eq!(repeats.rest(at(900)), []);
        assert_eq!(held(212, 300, "x").words(), "... and 212 more of these in the last 5 min: x");
        assert_eq!(held(1, 59, "x").words(), "... and 1 more of these in the last 59 s: x");
    }

    #[test]
    fn after_a_quiet_span_a_warning_is_new() {
        let mut repeats = Repeats::default();
        assert!(repeats.admit("no wallets: HTTP 500", at(0)));
        assert_eq!(repeats.next_due(), Some(SPAN));
        assert_eq!(repeats.due(at(300)), []);
        assert_eq!(repeats.next_due(), None);
        assert!(repeats.admit("no wallets: HTTP 500", at(301)));
    }

    #[test]
    fn what_is_about_something_else_is_shown() {
        let mut repeats = Repeats::default();
        for text in [
            "EURUSD: no price: x",
            "GBPUSD: no price: x",
            "EURUSD 1m: no candles: x",
            "trade #3 is in doubt: HTTP 500",
            "trade #4 is in doubt: HTTP 500",
            "trade #4: no answer about its result: x",
            "trade #5: no answer about its result: x",
            "trade 01JX is explained by no intent",
            "trade 01JY is explained by no intent",
            "the venue sent something unknown: Trade.a; it was passed over",
            "the venue sent something unknown: Trade.b; it was passed over",
        ] {
            assert!(repeats.admit(text, at(0)), "{text}");
            assert!(!repeats.admit(text, at(1)), "{text}");
        }
    }

    #[test]
    fn kinds_without_end_are_counted_together() {
        let mut repeats = Repeats::default();
        let shown =
            (0..1_000).filter(|number| repeats.admit(&format!("trade 01J{number} is a stranger"), at(0)));
        assert_eq!(shown.count() as u64, MAX_OF_FAMILY);
        let word = |number: u32| {
            let letter = |place: u32| char::from(b'a' + (number / 26_u32.pow(place) % 26) as u8);
            (0..3).map(letter).collect::<String>()
        };
        let shown =
            (0..1_000).filter(|number| repeats.admit(&format!("field {} is unknown", word(*number)), at(0)));
        assert_eq!(shown.count() as u64, MAX_OF_ALL - MAX_OF_FAMILY);
        let counts: u64 = repeats.rest(at(9)).iter().map(|held| held.count).sum();
        assert_eq!(counts, 2_000 - MAX_OF_ALL);
        assert!(repeats.tallies.len() as u64 <= MAX_OF_ALL * 2 + 1);
    }
}
