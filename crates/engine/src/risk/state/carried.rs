//! Conversion of the counts to other settings.

use super::{RiskState, SymbolState};
use crate::Renumbering;
use crate::risk::Limits;
use crate::risk::session_limits::SessionTally;
use candlewick_sdk::{Millis, Money};

impl RiskState {
    /// Converts the counts to these limits and to the numbers of their Session. `bots` are the
    /// previous indices of its bots. `has_probes` says whether the payout probes are still the same
    /// trades.
    pub(crate) fn carried_over(
        self,
        limits: &Limits,
        (numbers, symbols): (&Renumbering, usize),
        bots: &[Option<usize>],
        has_probes: bool,
    ) -> Self {
        let mut moved = vec![SymbolState::NEW; symbols];
        for (symbol, state) in numbers.symbols().iter().zip(&self.symbols) {
            moved[symbol.index()] = *state;
        }
        let tally = |place: &Option<usize>| place.and_then(|place| self.bots.get(place)).copied();
        let tallies = bots.iter().map(|place| tally(place).unwrap_or_default()).collect();
        let pauses = self.pauses.under(&limits.pauses, numbers);
        let venue_refusals = self.venue_refusals.under(numbers);
        let mut carried = Self { symbols: moved, bots: tallies, pauses, venue_refusals, ..self };
        if !limits.counts_hours() {
            carried.recent.clear();
        }
        if !limits.cools_down() {
            carried.rested_at = Millis::new(i64::MIN);
            carried.symbols.iter_mut().for_each(|symbol| symbol.rested_at = Millis::new(i64::MIN));
        }
        if !has_probes {
            carried.symbols.iter_mut().for_each(|symbol| symbol.probe = None);
        }
        if !limits.session.is_on() {
            carried.session = SessionTally::default();
            carried.bots.iter_mut().for_each(|bot| bot.session_profit = Money::ZERO);
        }
        carried
    }
}
