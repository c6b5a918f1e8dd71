//! Carries the counts of the risk rules over to changed settings, and finds changes that prevent this.

use super::{RiskState, SymbolState};
use crate::risk::session_limits::SessionTally;
use crate::risk::{Limits, PauseSettings, RiskSettings, SessionSpan};
use crate::{Renumbering, SymbolId};
use candlewick_sdk::{Millis, Money};

impl RiskState {
    /// Converts the counts for a Session with other limits and ids. `bots` holds the previous index of each bot, or
    /// `None` for a new bot. Payout probes in progress are discarded unless `keeps_probes` is set.
    pub(crate) fn carry_over(
        self,
        limits: &Limits,
        (numbers, symbols): (&Renumbering, usize),
        bots: &[Option<usize>],
        keeps_probes: bool,
    ) -> Self {
        let mut moved = vec![SymbolState::NEW; symbols];
        for (symbol, state) in numbers.symbols().iter().zip(&self.symbols) {
            moved[symbol.index()] = *state;
        }
        let tally = |place: &Option<usize>| place.and_then(|place| self.bots.get(place)).copied();
        let tallies = bots.iter().map(|place| tally(place).unwrap_or_default()).collect();
        let pauses = self.pauses.renumbered(&limits.pauses, numbers);
        let venue_refusals = self.venue_refusals.renumbered(numbers);
        let mut carried = Self { symbols: moved, bots: tallies, pauses, venue_refusals, ..self };
        if !limits.has_trades_per_hour_limit() {
            carried.recent.clear();
        }
        if !limits.has_cooldown() {
            carried.rested_at = Millis::new(i64::MIN);
            carried.symbols.iter_mut().for_each(|symbol| symbol.rested_at = Millis::new(i64::MIN));
        }
        if !keeps_probes {
            carried.symbols.iter_mut().for_each(|symbol| symbol.probe = None);
        }
        if !limits.session.is_enabled {
            carried.session = SessionTally::default();
            carried.bots.iter_mut().for_each(|bot| bot.session_profit = Money::ZERO);
        }
        carried
    }
}

/// Returns the key of the first changed setting that would have counted earlier trades differently.
/// The counts can only be converted if the result is `None`.
pub(crate) fn incompatible_setting(before: &RiskSettings, after: &RiskSettings) -> Option<&'static str> {
    let cools_down = after.cooldown_after_loss_s > 0 || after.cooldown_after_losses > 0;
    let cooldown = |is_changed: bool| cools_down && is_changed;
    let is_session_of_hours = after.session.of == SessionSpan::Hours;
    let same_session = (before.session.of, has_session_limits(before), &before.hours)
        == (after.session.of, has_session_limits(after), &after.hours);
    let changed = [
        ("day_start", before.day_start != after.day_start),
        ("day_timezone", before.day_timezone != after.day_timezone),
        ("max_trades_per_hour", before.max_trades_per_hour == 0 && after.max_trades_per_hour > 0),
        ("cooldown_after_loss_s", cooldown(before.cooldown_after_loss_s != after.cooldown_after_loss_s)),
        ("cooldown_after_losses", cooldown(before.cooldown_after_losses != after.cooldown_after_losses)),
        (
            "cooldown_after_losses_s",
            cooldown(before.cooldown_after_losses_s != after.cooldown_after_losses_s),
        ),
        ("cooldown_scope", cooldown(before.cooldown_scope != after.cooldown_scope)),
        ("pauses", !is_subsequence(&after.pauses, &before.pauses)),
        // A session that spans a run restarts with the next run anyway.
        ("session", is_session_of_hours && has_session_limits(after) && !same_session),
    ];
    changed.into_iter().find(|(_, is_changed)| *is_changed).map(|(key, _)| key)
}

fn has_session_limits(risk: &RiskSettings) -> bool {
    !risk.session.is_none() || risk.bots.values().any(crate::risk::BotLimitSettings::has_session_limit)
}

fn is_subsequence(pauses: &[PauseSettings], all: &[PauseSettings]) -> bool {
    let mut all = all.iter();
    pauses.iter().all(|pause| all.any(|known| known == pause))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PayoutRequirementChange {
    pub(crate) is_unchanged: bool,
    pub(crate) was_ever_needed: bool,
    pub(crate) is_needed_now: bool,
}

impl PayoutRequirementChange {
    pub(crate) fn compare(before: &Limits, after: &Limits, symbols: &[(SymbolId, SymbolId)]) -> Self {
        let payout_max_age = |of: &Limits, symbol| of.needs_payout(symbol).then_some(of.payout_max_age);
        let rules: Vec<(Option<Millis>, Option<Millis>)> = symbols
            .iter()
            .map(|(there, here)| (payout_max_age(before, *there), payout_max_age(after, *here)))
            .collect();
        Self {
            is_unchanged: rules.iter().all(|(there, here)| there == here),
            was_ever_needed: rules.iter().any(|(there, here)| there.is_some() || here.is_some()),
            is_needed_now: rules.iter().any(|(_, here)| here.is_some()),
        }
    }
}
