//! Two lines of one bot for one moment: a line that was copied twice, or two that contradict each other.

use super::entry::{ListEntry, ReadLine, Taken, When};
use candlewick_engine::BotSettings;
use std::collections::BTreeMap;

/// Takes lines that ask for the same as an earlier one for its repetition, and those that ask for something else for an error.
pub(super) fn mark_twins(lines: &mut [ReadLine], bots: &[BotSettings]) {
    let mut known: BTreeMap<_, Vec<ListEntry>> = BTreeMap::new();
    for line in lines {
        let Taken::Entry(entry, _) = line.taken else { continue };
        let when = match entry.when {
            When::Once(at) => (at.get(), None),
            When::Daily(daily) => (0, Some((daily.time, daily.zone.name(), daily.date))),
        };
        let alike = known.entry((entry.bot, when)).or_default();
        match alike.iter().find(|earlier| earlier.when.is_same(entry.when)) {
            None => alike.push(entry),
            Some(earlier) if earlier.is_trade_of(&entry) => line.taken = Taken::Repeats(earlier.line),
            Some(earlier) => {
                let name = bots.get(entry.bot.index()).map_or("", |bot| bot.name.as_str());
                line.taken = Taken::Contradicts(format!(
                    "line {} asks {name} for another trade at that time already: keep one of them",
                    earlier.line
                ));
            }
        }
    }
}
