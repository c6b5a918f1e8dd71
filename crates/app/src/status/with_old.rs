//! Status figures over all intents, including old trades.

use candlewick_engine::{BotVerdict, EdgeRow, IntentId, IntentRow, IntentState, RunningEdge, VenueId};
use candlewick_records::{EdgeIntervals, JournalContents, StrangeTrade, VerdictLine};
use candlewick_runtime::OldTrade;

pub(super) fn settled(contents: &JournalContents, old: &[OldTrade]) -> usize {
    let is_settled = |row: &&IntentRow| row.state == IntentState::Settled;
    let old = old.iter().filter(|old| old.settled.is_some()).count();
    old + contents.book.rows().iter().filter(is_settled).count()
}

pub(super) fn by_person(contents: &JournalContents, old: &[OldTrade]) -> Vec<u64> {
    let old = old.iter().filter(|old| old.by_person).map(|old| old.intent);
    let intents = contents.book.rows().iter().map(|row| row.approved.intent());
    let young = intents.filter(|intent| contents.book.is_settled_by_person(*intent));
    old.chain(young).map(IntentId::number).collect()
}

pub(super) fn strangers(contents: &JournalContents, old: &[OldTrade]) -> Vec<StrangeTrade> {
    let mut strangers = contents.strangers();
    strangers.retain(|stranger| {
        let id = VenueId::truncated(&stranger.venue_id);
        !old.iter().any(|old| old.is_trade(id.as_str()))
    });
    strangers
}

#[derive(Default)]
struct Own {
    rows: Vec<EdgeRow>,
    said: u64,
}

pub(super) fn verdicts_of(
    JournalContents { session, book, .. }: &JournalContents,
    old: &[OldTrade],
) -> Vec<VerdictLine> {
    let verdicts: Vec<&BotVerdict> = session.verdicts().collect();
    let mut bots: Vec<Own> = verdicts.iter().map(|_| Own::default()).collect();
    let young = book.rows().iter().map(|row| {
        let (intent, bot) = (row.approved.intent(), row.approved.bot());
        (intent, bot, EdgeRow::of(row), book.is_settled_by_person(intent))
    });
    let old = old.iter().map(|old| (old.intent, old.bot, old.edge, old.by_person));
    for (intent, bot, edge, is_said) in old.chain(young) {
        let is_of = |verdict: &&BotVerdict| intent >= verdict.first_intent();
        let is_own = verdicts.get(bot.index()).is_some_and(is_of);
        let Some(own) = bots.get_mut(bot.index()).filter(|_| is_own) else { continue };
        own.rows.push(edge);
        own.said += u64::from(is_said);
    }
    let lines = session.bots().iter().zip(verdicts).zip(bots);
    let line = |((bot, verdict), own): ((&String, &BotVerdict), Own)| {
        let intervals = EdgeIntervals::of(RunningEdge::after(&own.rows).sequence());
        VerdictLine::with(bot, verdict, (own.said, intervals))
    };
    lines.map(line).collect()
}
