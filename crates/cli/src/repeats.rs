//! Suppresses repeated warnings: shows the first one, and counts its repeats in one line per suppression span.
//!
//! A repeat has the same subject (the text before the first colon, such as a symbol) and the same text up to the second
//! colon, in which numbers may differ. In each span, the number of warnings whose subjects differ only in numbers is
//! limited, and so is the number of all warnings. Errors are always shown.

use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) const SUPPRESSION_SPAN: Duration = Duration::from_mins(5);
const MAX_SIMILAR_WARNINGS: u64 = 10;
const MAX_WARNINGS_PER_SPAN: u64 = 200;

#[derive(Debug, Default)]
pub(crate) struct WarningFilter {
    tallies: BTreeMap<WarningGroup, Tally>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WarningGroup {
    limit: u64,
    text: String,
}

#[derive(Debug, Default)]
struct Tally {
    since: Duration,
    shown: u64,
    held: u64,
    latest: String,
}

impl WarningFilter {
    pub(crate) fn admit(&mut self, text: &str, now: Duration) -> bool {
        let groups = warning_groups(text);
        let is_full =
            |group: &&WarningGroup| self.tallies.get(*group).is_some_and(|tally| tally.shown >= group.limit);
        if let Some(tally) = groups.iter().find(is_full).and_then(|group| self.tallies.get_mut(group)) {
            tally.held += 1;
            text.clone_into(&mut tally.latest);
            return false;
        }
        for group in groups {
            self.tallies.entry(group).or_insert_with(|| Tally { since: now, ..Tally::default() }).shown += 1;
        }
        true
    }

    pub(crate) fn take_due_summaries(&mut self, now: Duration) -> Vec<String> {
        let mut due = Vec::new();
        self.tallies.retain(|group, tally| {
            if now.saturating_sub(tally.since) < SUPPRESSION_SPAN {
                return true;
            }
            let count = tally.take_summary(now);
            // A single kind that keeps repeating stays suppressed. Larger groups are shown again in the next span.
            let stays = group.limit == 1 && count.is_some();
            due.extend(count);
            stays
        });
        due
    }

    pub(crate) fn take_all_summaries(&mut self, now: Duration) -> Vec<String> {
        self.tallies.values_mut().filter_map(|tally| tally.take_summary(now)).collect()
    }

    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.tallies.values().map(|tally| tally.since + SUPPRESSION_SPAN).min()
    }
}

impl Tally {
    fn take_summary(&mut self, now: Duration) -> Option<String> {
        if self.held == 0 {
            return None;
        }
        let seconds = now.saturating_sub(self.since).as_secs();
        let span = if seconds < 60 { format!("{seconds} s") } else { format!("{} min", seconds / 60) };
        let text = format!("... and {} similar in the last {span}, latest: {}", self.held, self.latest);
        (self.since, self.held) = (now, 0);
        Some(text)
    }
}

fn warning_groups(text: &str) -> [WarningGroup; 3] {
    let mut parts = text.splitn(3, ": ");
    let (subject, what) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let what = mask_numbers(what);
    [
        WarningGroup { limit: 1, text: format!("{subject}: {what}") },
        WarningGroup { limit: MAX_SIMILAR_WARNINGS, text: format!("{}: {what}", mask_numbers(subject)) },
        WarningGroup { limit: MAX_WARNINGS_PER_SPAN, text: String::new() },
    ]
}

fn mask_numbers(text: &str) -> String {
    let words = text.split_inclusive(|letter: char| !letter.is_alphanumeric());
    words.map(|word| if word.contains(|letter: char| letter.is_ascii_digit()) { "#" } else { word }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn held(count: u64, latest: &str) -> String {
        format!("... and {count} similar in the last 5 min, latest: {latest}")
    }

    #[test]
    fn condenses_a_flood_into_one_line_and_counts() {
        let mut repeats = WarningFilter::default();
        let text = |second: u64| format!("EURUSD: no price: cause {second}: HTTP 500");
        for second in 0..900 {
            assert_eq!(repeats.admit(&text(second), at(second)), second == 0);
            let expected = match second {
                300 => vec![held(300, &text(300))],
                600 => vec![held(300, &text(600))],
                _ => Vec::new(),
            };
            assert_eq!(repeats.take_due_summaries(at(second)), expected, "{second}");
        }
        assert_eq!(repeats.take_all_summaries(at(900)), [held(299, &text(899))]);
        assert!(repeats.take_all_summaries(at(900)).is_empty());
        assert!(!repeats.admit("EURUSD: no price: x", at(959)));
        let expected = "... and 1 similar in the last 59 s, latest: EURUSD: no price: x";
        assert_eq!(repeats.take_all_summaries(at(959)), [expected]);
    }

    #[test]
    fn shows_a_warning_again_after_a_quiet_span() {
        let mut repeats = WarningFilter::default();
        assert!(repeats.admit("no wallets: HTTP 500", at(0)));
        assert_eq!(repeats.next_due(), Some(SUPPRESSION_SPAN));
        assert!(repeats.take_due_summaries(at(300)).is_empty());
        assert_eq!(repeats.next_due(), None);
        assert!(repeats.admit("no wallets: HTTP 500", at(301)));
    }

    #[test]
    fn shows_warnings_about_other_subjects() {
        let mut repeats = WarningFilter::default();
        let texts = "EURUSD: no price: x|GBPUSD: no price: x|EURUSD 1m: no candles: x|trade #3 is in doubt: HTTP 500|\
                     trade #4 is in doubt: HTTP 500|trade #4: no answer about its result: x|\
                     trade #5: no answer about its result: x|trade 01JX is explained by no intent|\
                     trade 01JY is explained by no intent|the venue sent something unknown: Trade.a; it was skipped|\
                     the venue sent something unknown: Trade.b; it was skipped";
        for text in texts.split('|') {
            assert!(repeats.admit(text, at(0)) && !repeats.admit(text, at(1)), "{text}");
        }
    }

    #[test]
    fn limits_the_number_of_kinds() {
        let mut repeats = WarningFilter::default();
        let shown =
            (0..1_000).filter(|number| repeats.admit(&format!("trade 01J{number} is a stranger"), at(0)));
        assert_eq!(shown.count() as u64, MAX_SIMILAR_WARNINGS);
        let word = |number: u32| {
            let letter = |place: u32| char::from(b'a' + (number / 26_u32.pow(place) % 26) as u8);
            (0..3).map(letter).collect::<String>()
        };
        let shown =
            (0..1_000).filter(|number| repeats.admit(&format!("field {} is unknown", word(*number)), at(0)));
        assert_eq!(shown.count() as u64, MAX_WARNINGS_PER_SPAN - MAX_SIMILAR_WARNINGS);
        let count_in = |text: &String| text.split(' ').nth(2).unwrap().parse::<u64>().unwrap();
        let counts: u64 = repeats.take_all_summaries(at(9)).iter().map(count_in).sum();
        assert_eq!(counts, 2_000 - MAX_WARNINGS_PER_SPAN);
        assert!(repeats.tallies.len() as u64 <= MAX_WARNINGS_PER_SPAN * 2 + 1);
    }
}
