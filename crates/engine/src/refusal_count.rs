//! Number of rejected signals by rule, in total and since the last trade.

use crate::{Control, IntentId, Rule, TradeBook};
use std::collections::BTreeMap;

/// Number of rules in the oldest readable snapshots, which store one total per rule.
const OLDEST_RULE_COUNT: usize = 35;

type RuleCounts = [u64; Rule::ALL.len()];

#[derive(Clone, Copy, Debug)]
pub(crate) struct RefusalCount {
    all: RuleCounts,
    recent: RuleCounts,
    since: Option<IntentId>,
    /// Number of `Halted` rejections in the current suspension, `None` if trading is not suspended.
    /// `recent` excludes these rejections, because the cause may be a requested stop instead of a halt.
    suspended: Option<u64>,
}

impl Default for RefusalCount {
    fn default() -> Self {
        let none = [0; Rule::ALL.len()];
        Self { all: none, recent: none, since: None, suspended: None }
    }
}

impl RefusalCount {
    #[inline]
    pub(crate) fn record(&mut self, rule: Rule, last: Option<IntentId>) {
        if self.since != last {
            (self.recent, self.since) = (Self::default().recent, last);
        }
        self.all[rule as usize] += 1;
        match &mut self.suspended {
            Some(count) if rule == Rule::Halted => *count += 1,
            _ => self.recent[rule as usize] += 1,
        }
    }

    /// Tracks suspensions. A `Suspend` during a suspension adds the rejections counted so far to `recent`.
    pub(crate) fn track_suspension(&mut self, control: Control) {
        match control {
            Control::Suspend => {
                self.recent[Rule::Halted as usize] += self.suspended.unwrap_or_default();
                self.suspended = Some(0);
            }
            Control::Continue => self.suspended = None,
            Control::Halt | Control::Resume | Control::Reload => {}
        }
    }

    /// Appends a later run, whose last intent is `later_last` in its own numbering. `last` is the last of both runs.
    pub(crate) fn append(&mut self, later: &Self, later_last: Option<IntentId>, last: Option<IntentId>) {
        let sums = self.all.iter_mut().zip(later.all);
        sums.for_each(|(count, more)| *count += more);
        if later_last.is_some() || self.since != last {
            (self.recent, self.since) = (Self::default().recent, last);
        }
        // Rejections since the last intent of the later run are also rejections since the last intent overall.
        if later.since == later_last {
            let sums = self.recent.iter_mut().zip(later.recent);
            sums.for_each(|(count, more)| *count += more);
        }
        self.suspended = later.suspended;
    }

    /// Returns the total rejections by rule number. Omits trailing zeros after the first [`OLDEST_RULE_COUNT`] totals.
    pub(crate) fn totals(&self) -> Vec<u64> {
        let later = &self.all[OLDEST_RULE_COUNT..];
        let used = later.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        self.all[..OLDEST_RULE_COUNT + used].to_vec()
    }

    pub(crate) fn from_totals(mut totals: Vec<u64>) -> Option<Self> {
        if totals.len() >= OLDEST_RULE_COUNT && totals.len() < Rule::ALL.len() {
            totals.resize(Rule::ALL.len(), 0);
        }
        Some(Self { all: RuleCounts::try_from(totals).ok()?, ..Self::default() })
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        named_counts(&self.all)
    }

    pub(crate) fn counts_after(&self, last: Option<IntentId>) -> impl Iterator<Item = (&'static str, u64)> {
        let is_since = self.since == last;
        named_counts(&self.recent).filter(move |_| is_since)
    }
}

impl TradeBook {
    /// Returns the number of rejections by rule since the last intent. Rules without rejections are omitted.
    pub fn refusals_since_last_intent(&self) -> BTreeMap<&'static str, u64> {
        self.refused.counts_after(self.last_intent()).filter(|(_, count)| *count > 0).collect()
    }
}

fn named_counts(counts: &RuleCounts) -> impl Iterator<Item = (&'static str, u64)> {
    Rule::ALL.into_iter().map(move |rule| (rule.as_str(), counts[rule as usize]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(counts: impl Iterator<Item = (&'static str, u64)>) -> Vec<(&'static str, u64)> {
        counts.filter(|(_, count)| *count > 0).collect()
    }

    #[test]
    fn refusals_before_the_last_trade_do_not_count_after_it() {
        let [first, second] = [1, 2].map(|number| Some(IntentId::new(number)));
        let mut count = RefusalCount::default();
        count.record(Rule::Halted, None);
        count.record(Rule::Halted, first);
        count.record(Rule::Pause, first);
        assert_eq!(list(count.counts()), [("Halted", 2), ("Pause", 1)]);
        assert_eq!(list(count.counts_after(first)), [("Halted", 1), ("Pause", 1)]);
        assert_eq!(list(count.counts_after(second)), []);
        count.record(Rule::Pause, second);
        assert_eq!(list(count.counts_after(second)), [("Pause", 1)]);
    }

    #[test]
    fn suspension_at_the_end_of_a_run_is_not_a_halt() {
        let first = Some(IntentId::new(1));
        let (mut halted, mut ended) = (RefusalCount::default(), RefusalCount::default());
        halted.record(Rule::Halted, first);
        for count in [&mut halted, &mut ended] {
            count.track_suspension(Control::Suspend);
            count.record(Rule::Halted, first);
            count.record(Rule::MaxDrawdown, first);
        }
        assert_eq!(list(ended.counts()), [("Halted", 1), ("MaxDrawdown", 1)]);
        assert_eq!(list(ended.counts_after(first)), [("MaxDrawdown", 1)]);
        assert_eq!(
            list(halted.counts_after(first)),
            [("Halted", 1), ("MaxDrawdown", 1)],
            "an operator's halt"
        );
        let mut next = RefusalCount::default();
        next.track_suspension(Control::Continue);
        next.record(Rule::Halted, None);
        ended.append(&next, None, first);
        assert_eq!(list(ended.counts_after(first)), [("Halted", 1), ("MaxDrawdown", 1)]);
        let mut refused = RefusalCount::default();
        for _ in 0..2 {
            refused.track_suspension(Control::Suspend);
            refused.record(Rule::Halted, None);
        }
        assert_eq!(list(refused.counts_after(None)), [("Halted", 1)]);
    }

    #[test]
    fn later_run_without_a_trade_continues_the_count_and_one_with_a_trade_resets_it() {
        let [first, second] = [1, 2].map(|number| Some(IntentId::new(number)));
        let (mut before, mut later) = (RefusalCount::default(), RefusalCount::default());
        before.record(Rule::Halted, first);
        later.record(Rule::Halted, None);
        let mut all = before;
        all.append(&later, None, first);
        assert_eq!(
            (list(all.counts()), list(all.counts_after(first))),
            (vec![("Halted", 2)], vec![("Halted", 2)])
        );
        let mut later = RefusalCount::default();
        later.record(Rule::Pause, first);
        before.append(&later, first, second);
        let expected = (vec![("Halted", 1), ("Pause", 1)], vec![("Pause", 1)]);
        assert_eq!((list(before.counts()), list(before.counts_after(second))), expected);
    }

    #[test]
    fn refusals_of_a_later_run_before_its_last_trade_do_not_count_after_it() {
        let [first, second, third, fourth] = [1, 2, 3, 4].map(|number| Some(IntentId::new(number)));
        // First run: intent 1, a halt. Second run: a pause, intent 1, a cooldown, intent 2. Combined: intents 1 to 3.
        let (mut all, mut later) = (RefusalCount::default(), RefusalCount::default());
        all.record(Rule::Halted, first);
        later.record(Rule::Pause, None);
        later.record(Rule::Cooldown, first);
        all.append(&later, second, third);
        assert_eq!(list(all.counts_after(third)), [], "nothing was refused after intent 3");
        assert_eq!(list(all.counts()), [("Halted", 1), ("Cooldown", 1), ("Pause", 1)]);
        let mut later = RefusalCount::default();
        later.record(Rule::Halted, first);
        all.append(&later, first, fourth);
        // A fourth run has only refusals, which follow intent 4.
        assert_eq!(list(all.counts_after(fourth)), [("Halted", 1)]);
        let mut later = RefusalCount::default();
        later.record(Rule::Pause, None);
        all.append(&later, None, fourth);
        assert_eq!(list(all.counts_after(fourth)), [("Halted", 1), ("Pause", 1)]);
    }
}
