//! Cooldowns after losses, and pauses after a number of wins, losses or trades.

use super::{DayStart, Proposal, RiskSettings, RiskView, Ruling, refuse_if};
use crate::settings::is_default;
use crate::{BotId, EngineError, Renumbering, SymbolId};
use candlewick_sdk::{Millis, Outcome, Symbol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pause after a number of wins, losses or trades, such as `{ after = 3, of = "wins", for_s = 3600 }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseSettings {
    /// Number of wins, losses or trades that starts the pause. The count then restarts at 0.
    #[schemars(range(min = 1))]
    pub after: u32,
    /// Results that the pause counts.
    pub of: PauseCause,
    /// Length of the pause in seconds. If omitted, the pause lasts until the end of the day (`risk.day_start`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub for_s: u32,
    /// Scope of the count and of the pause: all bots, a symbol or a bot.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scope: PauseScope,
}

/// The results that a pause counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseCause {
    /// Consecutive wins. A loss resets the count.
    Wins,
    /// Consecutive losses. A win resets the count.
    Losses,
    /// Trades won, lost or drawn.
    Trades,
}

/// The trades that a pause counts together, and the bots that it stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PauseScope {
    /// Trades of all bots together. All bots pause.
    #[default]
    All,
    /// Trades on each symbol. The bots on that symbol pause.
    Symbol,
    /// Trades of each bot. That bot pauses.
    Bot,
}

/// A running pause that stops bots from opening trades.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningPause {
    /// Settings of the pause.
    pub pause: PauseSettings,
    /// End of the pause.
    pub until: Millis,
    /// Index of the paused symbol or bot, 0 if all bots pause.
    pub(crate) scope_index: usize,
}

/// The counts of all pauses, keyed by the pause settings, so that a changed pause starts counting at zero.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PauseState {
    counts: Vec<PauseCount>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PauseCount {
    pause: PauseSettings,
    of: usize,
    count: u32,
    rested_at: Millis,
}

/// The facts about an ended trade that pauses depend on.
#[derive(Clone, Copy, Debug)]
pub struct EndedTrade<'a> {
    /// Name of the bot.
    pub bot: &'a str,
    /// Traded symbol.
    pub symbol: Symbol,
    /// Outcome of the trade.
    pub outcome: Outcome,
    /// Time at which the outcome became known.
    pub at: Millis,
}

/// Returns the pause that stops a bot on a symbol after the given trades, with its end. `None` if no pause is running.
pub fn pause_after(
    risk: &RiskSettings,
    (bot, symbol): (&str, Symbol),
    mut ended: Vec<EndedTrade<'_>>,
    now: Millis,
) -> Option<(PauseSettings, Millis)> {
    ended.sort_by_key(|trade| trade.at);
    let day = DayStart::new(&risk.day_start, &risk.day_timezone, "risk").ok()?;
    let mut running: Option<(PauseSettings, Millis)> = None;
    for pause in &risk.pauses {
        let counts = |trade: &&EndedTrade<'_>| match pause.scope {
            PauseScope::All => true,
            PauseScope::Symbol => trade.symbol == symbol,
            PauseScope::Bot => trade.bot == bot,
        };
        let mut state = PauseState::default();
        for trade in ended.iter().filter(counts) {
            let (_, day_end) = day.day_bounds(trade.at);
            let one = SymbolId::new(0)?;
            state.count_outcome(&[*pause], (BotId::FIRST, one), trade.outcome, (trade.at, day_end));
        }
        let own = state.running_pauses(now).first().map(|running| (*pause, running.until));
        running = running.into_iter().chain(own).max_by_key(|(_, until)| *until);
    }
    running
}

impl PauseScope {
    const fn index(self, bot: BotId, symbol: SymbolId) -> usize {
        match self {
            Self::All => 0,
            Self::Symbol => symbol.index(),
            Self::Bot => bot.index(),
        }
    }
}

impl PauseSettings {
    /// Describes the cause, such as `2 losses in a row`.
    pub fn describe_cause(&self) -> String {
        let plural = if self.after == 1 { "" } else { "s" };
        match self.of {
            PauseCause::Wins => format!("{} win{plural} in a row", self.after),
            PauseCause::Losses => {
                format!("{} loss{} in a row", self.after, if self.after == 1 { "" } else { "es" })
            }
            PauseCause::Trades => format!("{} trade{plural}", self.after),
        }
    }

    /// Describes the pause, such as `pause of 600 s after 2 losses in a row by a bot`.
    pub fn describe(&self) -> String {
        let whose = match self.scope {
            PauseScope::All => "",
            PauseScope::Symbol => " on a symbol",
            PauseScope::Bot => " by a bot",
        };
        let rest = match self.for_s {
            0 => "pause for the rest of the day".to_owned(),
            seconds => format!("pause of {seconds} s"),
        };
        format!("{rest} after {}{whose}", self.describe_cause())
    }

    pub(super) fn check(pauses: &[Self]) -> Result<(), EngineError> {
        for (index, pause) in pauses.iter().enumerate() {
            if pause.after == 0 {
                let problem = "0 is too low; use 1 or more, or remove the pause";
                return Err(EngineError::setting(format!("risk.pauses[{index}].after"), problem));
            }
            if pauses[..index].contains(pause) {
                let problem = "this pause is listed twice; remove one of the two";
                return Err(EngineError::setting(format!("risk.pauses[{index}]"), problem));
            }
        }
        Ok(())
    }

    const fn count_after(&self, count: u32, outcome: Outcome) -> u32 {
        match (self.of, outcome) {
            (PauseCause::Wins, Outcome::Won)
            | (PauseCause::Losses, Outcome::Lost)
            | (PauseCause::Trades, Outcome::Won | Outcome::Lost | Outcome::Draw) => count + 1,
            (PauseCause::Wins, Outcome::Lost) | (PauseCause::Losses, Outcome::Won) => 0,
            (PauseCause::Wins | PauseCause::Losses, Outcome::Draw | Outcome::Cancelled)
            | (PauseCause::Trades, Outcome::Cancelled) => count,
        }
    }
}

impl PauseState {
    pub(super) const fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub(crate) fn count_outcome(
        &mut self,
        pauses: &[PauseSettings],
        (bot, symbol): (BotId, SymbolId),
        outcome: Outcome,
        (at, day_end): (Millis, Millis),
    ) {
        for pause in pauses {
            let own = self.count_mut(pause, pause.scope.index(bot, symbol), (pauses, at));
            own.count = pause.count_after(own.count, outcome);
            if own.count >= pause.after {
                let until =
                    if pause.for_s == 0 { day_end } else { at + Millis::from_seconds(pause.for_s.into()) };
                (own.count, own.rested_at) = (0, own.rested_at.max(until));
            }
        }
    }

    fn count_mut(
        &mut self,
        pause: &PauseSettings,
        of: usize,
        (all, at): (&[PauseSettings], Millis),
    ) -> &mut PauseCount {
        let place = self.counts.iter().position(|known| known.pause == *pause && known.of == of);
        let place = place.unwrap_or_else(|| {
            self.counts.retain(|known| known.rested_at > at || all.contains(&known.pause));
            self.counts.push(PauseCount { pause: *pause, of, count: 0, rested_at: Millis::new(i64::MIN) });
            self.counts.len() - 1
        });
        &mut self.counts[place]
    }

    pub(super) fn renumbered(mut self, pauses: &[PauseSettings], numbers: &Renumbering) -> Self {
        self.counts.retain(|known| pauses.contains(&known.pause));
        for known in &mut self.counts {
            known.of = match known.pause.scope {
                PauseScope::All => 0,
                PauseScope::Symbol => {
                    SymbolId::new(known.of).map_or(known.of, |id| numbers.map_symbol(id).index())
                }
                PauseScope::Bot => BotId::new(known.of).map_or(known.of, |id| numbers.map_bot(id).index()),
            };
        }
        self
    }

    pub(super) fn paused_until(&self, bot: BotId, symbol: SymbolId) -> Millis {
        let is_meant = |known: &&PauseCount| known.of == known.pause.scope.index(bot, symbol);
        let rests = self.counts.iter().filter(is_meant).map(|known| known.rested_at);
        rests.max().unwrap_or(Millis::new(i64::MIN))
    }

    pub(crate) fn running_pauses(&self, now: Millis) -> Vec<RunningPause> {
        let counts = self.counts.iter().filter(|known| known.rested_at > now);
        let mut running: Vec<RunningPause> = counts
            .map(|known| RunningPause { pause: known.pause, until: known.rested_at, scope_index: known.of })
            .collect();
        running.sort_by_key(|running| std::cmp::Reverse(running.until));
        running
    }

    pub(super) fn reset_counts(&mut self) {
        self.counts.iter_mut().for_each(|known| known.count = 0);
    }
}

pub(super) fn check_cooldown(proposal: &Proposal, view: RiskView<'_>) -> Ruling {
    refuse_if(proposal.at < view.state.cooldown_end(proposal.symbol))
}

#[inline]
pub(super) fn check_pause(proposal: &Proposal<'_>, view: RiskView<'_>) -> Ruling {
    refuse_if(proposal.at < view.state.paused_until(proposal.bot, proposal.symbol))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Situation;
    use super::*;
    use Outcome::{Cancelled, Draw, Lost, Won};
    use Ruling::{Pass, Refuse};
    use serde_json::json;

    #[test]
    fn ended_trades_determine_the_running_pause() {
        let symbol = |name: &str| name.parse::<Symbol>().unwrap();
        let two = PauseSettings { after: 2, of: PauseCause::Losses, for_s: 600, scope: PauseScope::Bot };
        let risk = RiskSettings { pauses: vec![two], ..RiskSettings::default() };
        let lost = |bot, minute: i64| {
            let (symbol, at) = (symbol("EURUSD"), Millis::MINUTE * minute);
            EndedTrade { bot, symbol, outcome: Lost, at }
        };
        let ask = |bot, minute: i64| {
            let ended = vec![lost("a", 3), lost("a", 1), lost("b", 2)];
            pause_after(&risk, (bot, symbol("EURUSD")), ended, Millis::MINUTE * minute)
        };
        assert_eq!(ask("a", 12), Some((two, Millis::MINUTE * 13)));
        assert_eq!(ask("a", 13), None);
        assert_eq!(ask("b", 4), None);
    }

    #[test]
    fn each_loss_starts_a_cooldown_and_consecutive_losses_a_longer_one() {
        let any = json!({ "cooldown_after_loss_s": 60 });
        let three = json!({ "cooldown_after_losses": 3, "cooldown_after_losses_s": 3_600 });
        let off = json!({ "cooldown_after_losses_s": 3_600 });
        for (settings, losses, wait_ms, expected) in [
            (&any, 1, 59_999, Refuse),
            (&any, 1, 60_000, Pass),
            (&any, 0, 0, Pass),
            (&three, 2, 1, Pass),
            (&three, 3, 3_599_999, Refuse),
            (&three, 3, 3_600_000, Pass),
            (&off, 1, 0, Pass),
        ] {
            let mut situation = Situation::from_json(settings);
            let lost_at = situation.proposal.at - Millis::new(wait_ms);
            for streak in 1..=losses {
                situation.state.count_outcome(Situation::SYMBOL, Lost);
                situation.state.cool_down(&situation.limits, Situation::SYMBOL, lost_at, streak);
            }
            assert_eq!(situation.ask(check_cooldown), expected, "{settings} {losses} {wait_ms}");
        }
    }

    #[test]
    fn cooldown_scope_decides_whether_other_symbols_pause() {
        for (scope, expected) in [("all", Refuse), ("symbol", Pass)] {
            let mut situation =
                Situation::from_json(&json!({ "cooldown_after_loss_s": 60, "cooldown_scope": scope }));
            situation.state.cool_down(&situation.limits, Situation::other_symbol(), situation.proposal.at, 1);
            assert_eq!(situation.ask(check_cooldown), expected, "{scope}");
        }
    }

    const DAY_END: Millis = Millis::new(1_767_571_200_000 + 86_400_000);
    const OWN: (BotId, SymbolId) = (BotId::FIRST, Situation::SYMBOL);

    fn pause(after: u32, of: PauseCause, for_s: u32) -> PauseSettings {
        PauseSettings { after, of, for_s, scope: PauseScope::All }
    }

    fn ask_after(pause: PauseSettings, outcomes: &[Outcome], wait_ms: i64) -> Ruling {
        let mut situation = Situation::with(|risk| risk.pauses = vec![pause]);
        let last = situation.proposal.at - Millis::new(wait_ms);
        for (later, outcome) in outcomes.iter().rev().enumerate().rev() {
            let at = last - Millis::from_seconds(later as i64);
            situation.end(OWN, *outcome, (at, DAY_END));
        }
        situation.ask(check_pause)
    }

    #[test]
    fn wins_losses_and_trades_are_counted_until_the_pause_and_then_from_zero() {
        use PauseCause::{Losses, Trades, Wins};
        for (after, of, outcomes, wait_ms, expected) in [
            (2, Wins, &[Won][..], 1, Pass),
            (2, Wins, &[Won, Won], 1, Refuse),
            (2, Wins, &[Won, Draw, Cancelled, Won], 1, Refuse),
            (2, Wins, &[Won, Lost, Won], 1, Pass),
            (2, Losses, &[Lost, Lost], 1, Refuse),
            (2, Losses, &[Lost, Won, Lost], 1, Pass),
            (2, Losses, &[Won, Won], 1, Pass),
            (2, Trades, &[Won, Lost], 1, Refuse),
            (2, Trades, &[Draw, Lost], 1, Refuse),
            (2, Trades, &[Cancelled, Lost], 1, Pass),
            (3, Trades, &[Won; 3], 599_999, Refuse),
            (3, Trades, &[Won; 3], 600_000, Pass),
            // The third of five trades started a pause 2 s before the last, so two count towards the next pause.
            (3, Trades, &[Won; 5], 597_999, Refuse),
            (3, Trades, &[Won; 5], 598_000, Pass),
            (3, Trades, &[Won; 6], 599_999, Refuse),
        ] {
            let found = ask_after(pause(after, of, 600), outcomes, wait_ms);
            assert_eq!(found, expected, "{of:?} {outcomes:?} {wait_ms}");
        }
    }

    #[test]
    fn pause_without_length_lasts_until_the_day_ends() {
        for (at, expected) in [(DAY_END - Millis::new(1), Refuse), (DAY_END, Pass)] {
            let mut situation = Situation::with(|risk| risk.pauses = vec![pause(1, PauseCause::Wins, 0)]);
            situation.end(OWN, Won, (situation.proposal.at, DAY_END));
            situation.proposal.at = at;
            assert_eq!(situation.ask(check_pause), expected, "{at}");
        }
    }

    #[test]
    fn pause_scope_decides_which_trades_count_and_which_bots_pause() {
        let other_bot = BotId::new(1).unwrap();
        for (scope, expected) in
            [(PauseScope::All, Refuse), (PauseScope::Symbol, Pass), (PauseScope::Bot, Pass)]
        {
            let two = PauseSettings { scope, ..pause(2, PauseCause::Losses, 60) };
            let mut situation = Situation::with(|risk| risk.pauses = vec![two]);
            let end = (situation.proposal.at, DAY_END);
            for whose in [(other_bot, Situation::SYMBOL), (BotId::FIRST, Situation::other_symbol())] {
                situation.end(whose, Lost, end);
            }
            assert_eq!(situation.ask(check_pause), expected, "{scope:?}");
            situation.end(OWN, Lost, end);
            assert_eq!(situation.ask(check_pause), Refuse, "{scope:?}");
            (situation.proposal.bot, situation.proposal.symbol) = (other_bot, Situation::other_symbol());
            assert_eq!(situation.ask(check_pause), expected, "{scope:?}");
        }
    }

    #[test]
    fn resume_resets_counts_but_does_not_end_a_pause() {
        let mut situation = Situation::with(|risk| risk.pauses = vec![pause(2, PauseCause::Losses, 60)]);
        let end = (situation.proposal.at, DAY_END);
        let mut lose = |is_resumed: bool| {
            if is_resumed {
                situation.state.resume();
            }
            situation.end(OWN, Lost, end);
            situation.ask(check_pause)
        };
        assert_eq!([lose(false), lose(true), lose(false)], [Pass, Pass, Refuse]);
        situation.state.resume();
        assert_eq!(situation.ask(check_pause), Refuse);
    }
}
