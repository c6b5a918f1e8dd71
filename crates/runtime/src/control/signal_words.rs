//! Text rendering of external signals, for status, page, final report and responses.

use super::{SignalTally, SourceTally};
use candlewick_sdk::visible;
use std::collections::BTreeMap;

const SHOWN_REASONS: usize = 5;

impl SignalTally {
    pub fn is_empty(&self) -> bool {
        self.by_source.is_empty()
    }

    pub fn words(&self) -> Vec<String> {
        if self.is_empty() {
            return Vec::new();
        }
        let all = self.by_source.values().fold(SourceTally::default(), SourceTally::and);
        let late = candlewick_engine::Rule::LateSignal.as_str();
        let rules = self.refused.iter().filter(|(rule, _)| rule.as_str() != late);
        let rules: Vec<String> = rules.map(|(rule, count)| format!("{rule} {count}")).collect();
        let mut lines = vec![format!("{} came: {}", all.came(), all.words(&rules))];
        if self.by_source.len() > 1 {
            let of_door =
                |(door, tally): (&String, &SourceTally)| format!("{}: {}", visible(door), tally.words(&[]));
            lines.extend(self.by_source.iter().map(of_door));
        }
        let of_door = |(door, tally): (&String, &SourceTally)| {
            Some(format!(
                "the last that was no signal ({}): {}",
                visible(door),
                visible(tally.problem.as_ref()?)
            ))
        };
        let by_door: Vec<String> = self.by_source.iter().filter_map(of_door).collect();
        // A journal of before says it of all doors together.
        let last = self.problem.as_ref().filter(|_| by_door.is_empty());
        lines.extend(last.map(|problem| format!("the last that was no signal: {}", visible(problem))));
        lines.extend(by_door);
        lines.extend(self.by_source.iter().filter_map(|(door, tally)| tally.reason_words(door)));
        lines
    }
}

impl SourceTally {
    fn and(self, other: &Self) -> Self {
        Self {
            approved: self.approved + other.approved,
            refused: self.refused + other.refused,
            late: self.late + other.late,
            duplicates: self.duplicates + other.duplicates,
            malformed: self.malformed + other.malformed,
            turned_away: self.turned_away + other.turned_away,
            problem: None,
            reasons: BTreeMap::new(),
        }
    }

    const fn came(&self) -> u64 {
        let Self { approved, refused, late, duplicates, malformed, turned_away, .. } = *self;
        approved + refused + late + duplicates + malformed + turned_away
    }

    fn reason_words(&self, door: &str) -> Option<String> {
        if self.reasons.len() < 2 {
            return None;
        }
        let mut reasons: Vec<(&String, &u64)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(reason, times)| (std::cmp::Reverse(**times), *reason));
        let more = reasons.len().saturating_sub(SHOWN_REASONS);
        let words = |(reason, times): &(&String, &u64)| {
            let times = if **times == 1 { "once".to_owned() } else { format!("{times} times") };
            format!("{times}: {}", visible(reason))
        };
        let mut words: Vec<String> = reasons.iter().take(SHOWN_REASONS).map(words).collect();
        words.extend((more > 0).then(|| format!("and {more} other reasons")));
        Some(format!("what was no signal ({}): {}", visible(door), words.join("; ")))
    }

    fn words(&self, rules: &[String]) -> String {
        let Self { approved, refused, late, duplicates, malformed, turned_away, .. } = *self;
        let rules = if rules.is_empty() { String::new() } else { format!(" ({})", rules.join(", ")) };
        let counts = [
            (approved, "approved".to_owned()),
            (refused, format!("refused{rules}")),
            (late, "late".to_owned()),
            (duplicates, if duplicates == 1 { "duplicate" } else { "duplicates" }.to_owned()),
            (malformed, "malformed".to_owned()),
            (turned_away, "turned away".to_owned()),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        counts.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct SignalNote {
    signals: SignalTally,
}

impl SignalTally {
    pub(crate) fn note(&self) -> String {
        let note = SignalNote { signals: Self { next: None, passed_over: None, ..self.clone() } };
        serde_json::to_string(&note).unwrap_or_default()
    }

    pub fn of_note(body: &str) -> Option<Self> {
        serde_json::from_str::<SignalNote>(body).ok().map(|note| note.signals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> SignalTally {
        let webhook = SourceTally { approved: 2, late: 1, turned_away: 9, ..SourceTally::default() };
        let list = SourceTally { duplicates: 1, malformed: 1, refused: 3, ..SourceTally::default() };
        SignalTally {
            approved: 2,
            refused: [("LateSignal".to_owned(), 1), ("InFlight".to_owned(), 3)].into(),
            duplicates: 1,
            malformed: [("list".to_owned(), 1)].into(),
            problem: Some("line 2: no\u{1b}".to_owned()),
            next: None,
            passed_over: None,
            by_source: [("webhook".to_owned(), webhook), ("list".to_owned(), list)].into(),
        }
    }

    #[test]
    fn signals_are_counted_in_all_and_by_their_door() {
        let expected = [
            "17 came: 2 approved, 3 refused (InFlight 3), 1 late, 1 duplicate, 1 malformed, 9 turned away",
            "list: 3 refused, 1 duplicate, 1 malformed",
            "webhook: 2 approved, 1 late, 9 turned away",
            "the last that was no signal: line 2: no\u{241b}",
        ];
        let found = tally().words();
        assert_eq!(found[..3], expected[..3]);
        assert!(
            found[3].starts_with("the last that was no signal: line 2: no") && !found[3].contains('\u{1b}')
        );
        let mut by_door = tally();
        for (door, problem) in [("list", "line 2: no"), ("webhook", "not a JSON object")] {
            by_door.by_source.get_mut(door).unwrap().problem = Some(problem.to_owned());
        }
        let last = [
            "the last that was no signal (list): line 2: no",
            "the last that was no signal (webhook): not a JSON object",
        ];
        assert_eq!(by_door.words()[3..], last);
        let one = SourceTally { duplicates: 2, ..SourceTally::default() };
        let one = SignalTally {
            duplicates: 2,
            by_source: [("list".to_owned(), one)].into(),
            ..SignalTally::default()
        };
        assert_eq!(one.words(), ["2 came: 2 duplicates"]);
        assert!(SignalTally::default().words().is_empty());
    }

    #[test]
    fn what_was_no_signal_is_told_by_its_reasons_the_most_frequent_first() {
        let mut stdin = SourceTally { malformed: 4, duplicates: 1, ..SourceTally::default() };
        let object = "not a JSON object";
        stdin.add_reasons([(object.to_owned(), 2)].into());
        stdin.add_reasons([("no bot trades EURUSD\u{1b}".to_owned(), 1), (object.to_owned(), 1)].into());
        let tally =
            |stdin| SignalTally { by_source: [("stdin".to_owned(), stdin)].into(), ..SignalTally::default() };
        let words = tally(stdin.clone()).words();
        assert_eq!(words[0], "5 came: 1 duplicate, 4 malformed");
        let expected = "what was no signal (stdin): 3 times: not a JSON object; once: no bot trades EURUSD";
        assert!(words[1].starts_with(expected) && !words[1].contains('\u{1b}'), "{words:?}");
        // A flood of different ones takes no more room than these.
        (0..1_000).for_each(|number| stdin.add_reasons([(format!("x{number}"), 1)].into()));
        assert_eq!(stdin.reasons.len(), 16);
        assert!(tally(stdin).words()[1].ends_with("; once: x1; once: x10; and 11 other reasons"));
        let same =
            SourceTally { malformed: 2, reasons: [(object.to_owned(), 2)].into(), ..SourceTally::default() };
        assert_eq!(tally(same).words().len(), 1, "the last says it");
    }

    #[test]
    fn a_note_has_them_and_no_other_note_does() {
        assert_eq!(SignalTally::of_note(&tally().note()), Some(tally()));
        for other in ["{\"note\":\"signals (list): read\"}", "{\"alarm\":\"x\"}", "{}", ""] {
            assert_eq!(SignalTally::of_note(other), None, "{other}");
        }
    }
}
