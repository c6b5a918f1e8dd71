//! What is said of all intents, of old ones by their rows alone.

use candlewick_engine::{BotVerdict, IntentId, IntentRow, IntentState, OrderTerms, VenueId, edge_sequence};
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

/// The verdict on each bot.
pub(super) fn verdicts_of(
    JournalContents { session, book, .. }: &JournalContents,
    old: &[OldRow],
) -> Vec<VerdictLine> {
    let rows = || {
        let young = book.rows().iter().map(|row| (row, book.is_settled_by_person(row.approved.intent())));
        old.iter().map(|old| (&old.row, old.by_person)).chain(young)
    };
    let bots = session.bots().iter().zip(session.verdicts()).enumerate();
    let line = |(place, (bot, verdict)): (usize, (&String, &BotVerdict))| {
        let is_own =
            |terms: &OrderTerms| terms.bot().index() == place && terms.intent() >= verdict.first_intent();
        let own: Vec<(&IntentRow, bool)> = rows().filter(|(row, _)| is_own(&row.approved)).collect();
        let intervals = EdgeIntervals::of(&edge_sequence(own.iter().map(|(row, _)| *row)));
        let said = own.iter().filter(|(_, by_person)| *by_person).count();
        VerdictLine::with(bot, verdict, (said as u64, intervals))
    };
    bots.map(line).collect()
}
