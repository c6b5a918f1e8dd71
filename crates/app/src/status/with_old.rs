//! What is said of all intents, of old ones by their rows alone.

use candlewick_engine::{BotVerdict, IntentId, IntentRow, IntentState, VenueId, edge_sequence};
use candlewick_records::{EdgeIntervals, JournalContents, StrangeTrade, VerdictLine};
use candlewick_runtime::OldRow;

/// How many trades have settled.
pub(super) fn settled(contents: &JournalContents, old: &[OldRow]) -> usize {
    let is_settled = |row: &&IntentRow| row.state == IntentState::Settled;
    old.iter().map(|old| &old.row).chain(contents.book.rows()).filter(is_settled).count()
}

/// Those of which a person said how they ended.
pub(super) fn by_person(contents: &JournalContents, old: &[OldRow]) -> Vec<u64> {
    let old = old.iter().filter(|old| old.by_person).map(|old| old.row.approved.intent());
    let intents = contents.book.rows().iter().map(|row| row.approved.intent());
    let young = intents.filter(|intent| contents.book.is_settled_by_person(*intent));
    old.chain(young).map(IntentId::number).collect()
}

/// Those that no old intent explains either.
pub(super) fn strangers(contents: &JournalContents, old: &[OldRow]) -> Vec<StrangeTrade> {
    let mut strangers = contents.strangers();
    strangers.retain(|stranger| {
        let id = VenueId::truncated(&stranger.venue_id);
        !old.iter().any(|old| old.is_trade(id.as_str()))
    });
    strangers
}

/// What is known of a bot's trades as far as its verdict is on them.
#[derive(Default)]
struct Own<'a> {
    rows: Vec<&'a IntentRow>,
    /// Of how many a person said how they ended.
    said: u64,
}

/// The verdict on each bot, by one look at each row.
pub(super) fn verdicts_of(
    JournalContents { session, book, .. }: &JournalContents,
    old: &[OldRow],
) -> Vec<VerdictLine> {
    let verdicts: Vec<&BotVerdict> = session.verdicts().collect();
    let mut bots: Vec<Own<'_>> = verdicts.iter().map(|_| Own::default()).collect();
    let young = book.rows().iter().map(|row| (row, book.is_settled_by_person(row.approved.intent())));
    for (row, is_said) in old.iter().map(|old| (&old.row, old.by_person)).chain(young) {
        let (place, intent) = (row.approved.bot().index(), row.approved.intent());
        let is_of = |verdict: &&BotVerdict| intent >= verdict.first_intent();
        let Some(own) = bots.get_mut(place).filter(|_| verdicts.get(place).is_some_and(is_of)) else {
            continue;
        };
        own.rows.push(row);
        own.said += u64::from(is_said);
    }
    let lines = session.bots().iter().zip(verdicts).zip(bots);
    let line = |((bot, verdict), own): ((&String, &BotVerdict), Own<'_>)| {
        let intervals = EdgeIntervals::of(&edge_sequence(own.rows));
        VerdictLine::with(bot, verdict, (own.said, intervals))
    };
    lines.map(line).collect()
}
