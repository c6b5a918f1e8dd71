//! Unfinished intents: in flight, in doubt or open.

use crate::{BotId, IntentId, OrderTerms, Renumbering, SymbolId, VenueTerms};
use candlewick_sdk::{Direction, Millis, Money};
use serde::{Deserialize, Serialize};
use std::{iter, mem};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum IntentStage {
    InFlight,
    InDoubt,
    Open,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Intent {
    pub(crate) id: IntentId,
    pub(crate) bot: BotId,
    pub(crate) symbol: SymbolId,
    pub(crate) direction: Direction,
    pub(crate) stake: Money,
    pub(crate) decision_time: Millis,
    /// Expected close time, computed from the decision time and the expiry.
    pub(crate) nominal_close: Millis,
    pub(crate) stage: IntentStage,
    pub(crate) payout_known: bool,
}

/// The unfinished intents of a Session.
/// Lookups are linear scans, because few intents are unfinished. Only the counts needed at every signal are cached.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Intents {
    pub(crate) unfinished: Vec<Intent>,
    seconds: Vec<Intent>,
    counts: Vec<IntentCounts>,
    unopened: Vec<UnopenedIntent>,
    pub(crate) next: IntentId,
}

/// An intent without a known trade at the venue. A trade may still appear.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct UnopenedIntent {
    intent: Intent,
    reserved_until: Millis,
    is_reserved: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReinstatedIntent {
    pub(crate) bot: BotId,
    pub(crate) decision_time: Millis,
    pub(crate) stake_to_reserve: Money,
}

/// Time after a decision during which a missing trade may still appear.
const LATE_TRADE_WINDOW: Millis = Millis::DAY;

impl Intent {
    #[inline]
    pub(crate) const fn new(
        (id, bot, symbol): (IntentId, BotId, SymbolId),
        (direction, stake): (Direction, Money),
        (decision_time, nominal_close): (Millis, Millis),
    ) -> Self {
        let stage = IntentStage::InFlight;
        Self { id, bot, symbol, direction, stake, decision_time, nominal_close, stage, payout_known: false }
    }
}

impl Intents {
    pub(crate) fn with_capacity(capacity: usize, symbols: usize) -> Self {
        Self {
            unfinished: Vec::with_capacity(capacity),
            seconds: Vec::new(),
            counts: vec![IntentCounts::NONE; symbols],
            unopened: Vec::new(),
            next: IntentId::new(1),
        }
    }

    pub(crate) fn add_in_flight(&mut self, terms: &OrderTerms, nominal_close: Millis) {
        let whose = (terms.intent(), terms.bot(), terms.symbol());
        let bet = (terms.direction(), terms.stake());
        self.push(Intent::new(whose, bet, (terms.decision_time(), nominal_close)));
    }

    #[inline]
    pub(crate) fn push(&mut self, intent: Intent) {
        self.next = intent.id.next();
        self.add_to_counts(&intent);
        self.unfinished.extend(iter::once_with(|| intent));
    }

    #[inline]
    pub(crate) const fn take_next_id(&mut self) -> IntentId {
        let id = self.next;
        self.next = id.next();
        id
    }

    pub(crate) fn mark_open(&mut self, id: IntentId) -> Option<&Intent> {
        let intent = self.unfinished.iter_mut().find(|intent| intent.id == id)?;
        let before = mem::replace(&mut intent.stage, IntentStage::Open);
        if let Some(counts) = self.counts.get_mut(intent.symbol.index()) {
            counts.change_stage(before, IntentStage::Open);
        }
        Some(intent)
    }

    pub(crate) fn mark_payout_known(&mut self, id: IntentId) -> bool {
        let intent = self.unfinished.iter_mut().find(|intent| intent.id == id);
        intent.is_some_and(|intent| !mem::replace(&mut intent.payout_known, true))
    }

    pub(crate) fn apply_venue_terms(&mut self, id: IntentId, taken: &VenueTerms) -> Option<Intent> {
        let intent = self.unfinished.iter_mut().find(|intent| intent.id == id)?;
        let before = *intent;
        (intent.direction, intent.stake) = (taken.direction, taken.stake);
        if let Some(counts) = self.counts.get_mut(intent.symbol.index()) {
            counts.remove(&before);
            counts.add(intent);
        }
        Some(before)
    }

    /// Marks an intent as in doubt. Open trades stay open, because the venue has already accepted them.
    pub(crate) fn mark_in_doubt(&mut self, id: IntentId) {
        let unanswered = |intent: &&mut Intent| intent.id == id && intent.stage == IntentStage::InFlight;
        if let Some(intent) = self.unfinished.iter_mut().find(unanswered) {
            intent.stage = IntentStage::InDoubt;
            if let Some(counts) = self.counts.get_mut(intent.symbol.index()) {
                counts.change_stage(IntentStage::InFlight, IntentStage::InDoubt);
            }
        }
    }

    /// Removes and returns an intent, `None` if it is unknown or its trade is open. Open trades stay until they settle.
    pub(crate) fn remove_refused(&mut self, id: IntentId) -> Option<Intent> {
        self.remove_where(|intent| intent.id == id && intent.stage != IntentStage::Open)
    }

    pub(crate) fn remove_settled(&mut self, id: IntentId) -> Option<Intent> {
        self.remove_where(|intent| intent.id == id)
    }

    /// Gives up an intent in doubt. The stake stays reserved, but the symbol is no longer blocked.
    pub(crate) fn mark_unopened(&mut self, id: IntentId, reserved_until: Millis) -> Option<Intent> {
        let intent = self.remove_where(|intent| intent.id == id && intent.stage == IntentStage::InDoubt)?;
        self.unopened.push(UnopenedIntent { intent, reserved_until, is_reserved: true });
        Some(intent)
    }

    pub(crate) fn add_duplicate(&mut self, id: IntentId) {
        let unopened = self.unopened.iter().map(|unopened| &unopened.intent);
        let first = self.unfinished.iter().chain(unopened).find(|intent| intent.id == id);
        if let Some(second) = first.map(|first| Intent { stage: IntentStage::Open, ..*first }) {
            self.add_to_counts(&second);
            self.seconds.push(second);
        }
    }

    pub(crate) fn remove_duplicate(&mut self, id: IntentId) -> Option<BotId> {
        let place = self.seconds.iter().position(|second| second.id == id)?;
        let second = self.seconds.remove(place);
        if let Some(counts) = self.counts.get_mut(second.symbol.index()) {
            counts.remove(&second);
        }
        Some(second.bot)
    }

    #[inline]
    pub(crate) fn trade_count(&self) -> usize {
        self.unfinished.len() + self.seconds.len()
    }

    pub(crate) fn max_count_on_symbol(&self) -> usize {
        self.counts.iter().map(|counts| counts.total() as usize).max().unwrap_or_default()
    }

    pub(crate) fn bot_trade_count(&self, bot: BotId) -> usize {
        self.unfinished.iter().chain(&self.seconds).filter(|intent| intent.bot == bot).count()
    }

    pub(crate) fn bot_total_stake(&self, bot: BotId) -> Money {
        let reserved = self.unopened.iter().filter(|unopened| unopened.is_reserved);
        let reserved = reserved.map(|unopened| &unopened.intent);
        let all = self.unfinished.iter().chain(&self.seconds).chain(reserved);
        all.filter(|intent| intent.bot == bot).fold(Money::ZERO, |sum, intent| sum + intent.stake)
    }

    #[inline]
    pub(crate) const fn has_unopened_intents(&self) -> bool {
        !self.unopened.is_empty()
    }

    pub(crate) fn restore_unfinished(&mut self, intent: Intent) -> bool {
        let unopened = self.unopened.iter().map(|unopened| &unopened.intent);
        if self.unfinished.iter().chain(unopened).any(|known| known.id == intent.id) {
            return false;
        }
        let intent = Intent { stage: IntentStage::InDoubt, ..intent };
        self.add_to_counts(&intent);
        self.unfinished.push(intent);
        true
    }

    pub(crate) fn reinstate(&mut self, id: IntentId) -> Option<ReinstatedIntent> {
        let position = self.unopened.iter().position(|unopened| unopened.intent.id == id)?;
        let UnopenedIntent { intent, is_reserved, .. } = self.unopened.remove(position);
        self.add_to_counts(&intent);
        self.unfinished.push(intent);
        let released = if is_reserved { Money::ZERO } else { intent.stake };
        Some(ReinstatedIntent {
            bot: intent.bot,
            decision_time: intent.decision_time,
            stake_to_reserve: released,
        })
    }

    pub(crate) fn renumbered(mut self, numbers: &Renumbering, own_symbols: usize) -> Self {
        let unopened = self.unopened.iter_mut().map(|unopened| &mut unopened.intent);
        for intent in self.unfinished.iter_mut().chain(&mut self.seconds).chain(unopened) {
            (intent.bot, intent.symbol) = (numbers.map_bot(intent.bot), numbers.map_symbol(intent.symbol));
        }
        let counts = std::mem::replace(&mut self.counts, vec![IntentCounts::NONE; own_symbols]);
        for (symbol, counts) in numbers.symbols().iter().zip(counts) {
            if counts.total() > 0 {
                self.make_room_for(*symbol);
                self.counts[symbol.index()] = counts;
            }
        }
        self
    }

    #[inline]
    pub(crate) fn make_room_for(&mut self, symbol: SymbolId) {
        if symbol.index() >= self.counts.len() {
            self.extend_counts(symbol.index() + 1);
        }
    }

    pub(crate) fn bots(&self) -> impl Iterator<Item = BotId> {
        let unopened = self.unopened.iter().map(|unopened| &unopened.intent);
        self.unfinished.iter().chain(&self.seconds).chain(unopened).map(|intent| intent.bot)
    }

    pub(crate) fn next_release_time(&self) -> Millis {
        let reserved = self.unopened.iter().filter(|unopened| unopened.is_reserved);
        reserved.map(|unopened| unopened.reserved_until).min().unwrap_or(Millis::MAX)
    }

    pub(crate) fn reserved_intents(&self) -> impl Iterator<Item = IntentId> {
        let in_doubt = self.unfinished.iter().filter(|intent| intent.stage == IntentStage::InDoubt);
        let unopened = self.unopened.iter().filter(|unopened| unopened.is_reserved);
        in_doubt.map(|intent| intent.id).chain(unopened.map(|unopened| unopened.intent.id))
    }

    pub(crate) fn release_expired_stakes(&mut self, now: Millis) -> Money {
        let mut released = Money::ZERO;
        for unopened in &mut self.unopened {
            if unopened.is_reserved && unopened.reserved_until <= now {
                unopened.is_reserved = false;
                released += unopened.intent.stake;
            }
        }
        let is_young = |unopened: &UnopenedIntent| now - unopened.intent.decision_time < LATE_TRADE_WINDOW;
        self.unopened.retain(|unopened| unopened.is_reserved || is_young(unopened));
        released
    }

    fn remove_where(&mut self, matches: impl Fn(&Intent) -> bool) -> Option<Intent> {
        let position = self.unfinished.iter().position(matches)?;
        let list = &mut self.unfinished;
        // Fast path: the intent is usually the last in the list, and `remove` is a function call.
        let intent = if position + 1 == list.len() { list.pop()? } else { list.remove(position) };
        if let Some(counts) = self.counts.get_mut(intent.symbol.index()) {
            counts.remove(&intent);
        }
        Some(intent)
    }

    #[inline]
    fn add_to_counts(&mut self, intent: &Intent) {
        let place = intent.symbol.index();
        self.make_room_for(intent.symbol);
        self.counts[place].add(intent);
    }

    #[cold]
    fn extend_counts(&mut self, symbols: usize) {
        self.counts.resize(symbols, IntentCounts::NONE);
    }

    pub(crate) fn on_symbol(&self, symbol: SymbolId) -> impl Iterator<Item = &Intent> {
        self.unfinished.iter().chain(&self.seconds).filter(move |intent| intent.symbol == symbol)
    }

    #[inline]
    pub(crate) fn counts(&self, symbol: SymbolId) -> &IntentCounts {
        self.counts.get(symbol.index()).unwrap_or(&IntentCounts::NONE)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IntentCounts {
    by_direction: [u32; 2],
    by_stage: [u32; 3],
    /// Latest nominal close of all intents so far, `Millis::MAX` (unknown) after a restore.
    #[serde(skip, default = "unknown_close")]
    latest_close: Millis,
}

const fn unknown_close() -> Millis {
    Millis::MAX
}

impl IntentCounts {
    const NONE: Self = Self { by_direction: [0; 2], by_stage: [0; 3], latest_close: Millis::new(i64::MIN) };

    #[inline]
    pub(crate) const fn total(&self) -> u32 {
        self.by_direction[0] + self.by_direction[1]
    }

    #[inline]
    pub(crate) const fn in_direction(&self, direction: Direction) -> u32 {
        self.by_direction[direction as usize]
    }

    #[inline]
    pub(crate) const fn at_stage(&self, stage: IntentStage) -> u32 {
        self.by_stage[stage as usize]
    }

    /// Returns whether an intent may have its nominal close at `moment`. False positives are possible.
    #[inline]
    pub(crate) fn may_close_at(&self, moment: Millis) -> bool {
        moment <= self.latest_close
    }

    #[inline]
    fn add(&mut self, intent: &Intent) {
        self.by_direction[intent.direction as usize] += 1;
        self.by_stage[intent.stage as usize] += 1;
        self.latest_close = self.latest_close.max(intent.nominal_close);
    }

    #[inline]
    const fn remove(&mut self, intent: &Intent) {
        self.by_direction[intent.direction as usize] -= 1;
        self.by_stage[intent.stage as usize] -= 1;
    }

    #[inline]
    const fn change_stage(&mut self, from: IntentStage, to: IntentStage) {
        self.by_stage[from as usize] -= 1;
        self.by_stage[to as usize] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SYMBOLS: usize = 3;

    fn intent(number: u64, symbol: usize) -> Intent {
        let direction = if number.is_multiple_of(3) { Direction::Sell } else { Direction::Buy };
        let whose = (IntentId::new(number), BotId::FIRST, SymbolId::new(symbol).unwrap());
        Intent::new(whose, (direction, Money::from_minor(100)), (Millis::ZERO, Millis::MINUTE))
    }

    fn counted(intents: &Intents, symbol: SymbolId) -> IntentCounts {
        let count = |is_it: &dyn Fn(&Intent) -> bool| {
            intents.on_symbol(symbol).filter(|intent| is_it(intent)).count() as u32
        };
        IntentCounts {
            by_direction: [Direction::Buy, Direction::Sell]
                .map(|direction| count(&|intent| intent.direction == direction)),
            by_stage: [IntentStage::InFlight, IntentStage::InDoubt, IntentStage::Open]
                .map(|stage| count(&|intent| intent.stage == stage)),
            latest_close: intents.counts(symbol).latest_close,
        }
    }

    proptest! {
        #[test]
        fn counts_match_a_scan(steps in prop::collection::vec((0_u8..10, 1_u64..12, 0..SYMBOLS), 0..80)) {
            let mut intents = Intents::with_capacity(4, SYMBOLS - 1);
            for (step, number, symbol) in steps {
                let id = IntentId::new(number);
                match step {
                    0 | 1 => intents.push(intent(intents.next.number(), symbol)),
                    2 => { intents.mark_open(id); }
                    3 => intents.mark_in_doubt(id),
                    4 => { intents.remove_refused(id); }
                    5 => { intents.mark_unopened(id, Millis::HOUR); }
                    6 => {
                        let taken = VenueTerms { symbol: None, direction: Direction::Sell, stake: Money::from_minor(7) };
                        intents.apply_venue_terms(id, &taken);
                    }
                    7 => intents.add_duplicate(id),
                    8 => { intents.remove_duplicate(id); }
                    _ => { if intents.reinstate(id).is_none() { intents.remove_settled(id); } }
                }
                for symbol in (0..SYMBOLS).filter_map(SymbolId::new) {
                    prop_assert_eq!(*intents.counts(symbol), counted(&intents, symbol));
                    prop_assert_eq!(intents.counts(symbol).total() as usize, intents.on_symbol(symbol).count());
                }
            }
        }
    }
}
