//! Ladders that the limits, the hours or a pause cut in their middle: what becomes of the level that is due.

use crate::bots::session_settings;
use crate::configuration::Loaded;
use candlewick_engine::{
    BotSettings, IfRefused, LadderEntry, LadderInDay, PauseCause, PauseSettings, RiskSettings, StakeSettings,
    check_stakes,
};

/// Of each bot with a ladder, in the order of the bots.
pub fn cut_ladders(loaded: &Loaded) -> Vec<String> {
    let config = &loaded.config;
    let costs = check_stakes(&session_settings(loaded)).unwrap_or_default();
    let in_day = |bot: &BotSettings| costs.iter().find(|one| one.bot == bot.name)?.day.as_ref();
    let ladders = config.bots.iter().filter_map(Ladder::of);
    ladders.flat_map(|ladder| ladder.cuts(&config.risk, in_day(ladder.bot))).collect()
}

/// A ladder that grows after losses.
struct Ladder<'a> {
    bot: &'a BotSettings,
    levels: u32,
    entry: LadderEntry,
    if_refused: IfRefused,
}

impl<'a> Ladder<'a> {
    fn of(bot: &'a BotSettings) -> Option<Self> {
        let StakeSettings::Martingale { levels, entry, if_refused, .. } = bot.stake else { return None };
        (levels > 1).then_some(Self { bot, levels, entry, if_refused })
    }

    fn cuts(&self, risk: &RiskSettings, day: Option<&LadderInDay>) -> Vec<String> {
        let day = day.map(|day| self.day(day));
        let cuts = [self.pause(risk), self.loss_streak(risk), self.trades(risk), day, self.hours(risk)];
        cuts.into_iter().flatten().map(|words| format!("bot \"{}\": {words}", self.bot.name)).collect()
    }

    /// Whether this many losses come before the last level.
    const fn is_within(&self, losses: u32) -> bool {
        losses >= 1 && losses < self.levels
    }

    fn pause(&self, risk: &RiskSettings) -> Option<String> {
        let losses = |pause: &&PauseSettings| pause.of == PauseCause::Losses && self.is_within(pause.after);
        let (after, key) = if let Some(pause) = risk.pauses.iter().find(losses) {
            (pause.after, "risk.pauses")
        } else if risk.cooldown_after_loss_s > 0 && self.is_within(1) {
            (1, "risk.cooldown_after_loss_s")
        } else if risk.cooldown_after_losses_s > 0 && self.is_within(risk.cooldown_after_losses) {
            (risk.cooldown_after_losses, "risk.cooldown_after_losses")
        } else {
            return None;
        };
        Some(format!(
            "{key} rests after {}, {}: level {} {}",
            losses_in_words(after),
            self.middle(),
            after + 1,
            self.then("on the first signal behind the pause")
        ))
    }

    fn loss_streak(&self, risk: &RiskSettings) -> Option<String> {
        let own = risk.bots.get(&self.bot.name).map_or(0, |own| own.max_loss_streak);
        let (most, key) = if self.is_within(own) {
            (own, format!("risk.bots.{}.max_loss_streak stops the bot", self.bot.name))
        } else if self.is_within(risk.max_loss_streak) {
            (risk.max_loss_streak, "risk.max_loss_streak halts all bots".to_owned())
        } else {
            return None;
        };
        let then = match (self.entry, self.if_refused) {
            (LadderEntry::NextSignal, _) | (_, IfRefused::Wait) => {
                "is only staked once somebody resumes, on the first signal then"
            }
            (LadderEntry::NextCandle, IfRefused::Reset) => "is never staked",
        };
        Some(format!(
            "{key} after {} in a row, {}: level {} {then}",
            losses_in_words(most),
            self.middle(),
            most + 1
        ))
    }

    /// A number of trades that somebody set; the usual one of a day is none that a bot comes to.
    fn trades(&self, risk: &RiskSettings) -> Option<String> {
        let usual = RiskSettings::default().max_trades_per_day;
        let own = risk.bots.get(&self.bot.name).map_or(0, |own| own.max_trades_per_day);
        let limits = [
            (own, format!("risk.bots.{}.max_trades_per_day", self.bot.name), "day"),
            (risk.max_trades_per_day, "risk.max_trades_per_day".to_owned(), "day"),
            (risk.max_trades_per_hour, "risk.max_trades_per_hour".to_owned(), "hour"),
        ];
        let is_set = |most: u32| most > 0 && most != usual;
        let (most, key, span) = limits.into_iter().find(|(most, ..)| is_set(*most))?;
        let then = self.then(&format!("on the first signal of the next {span}"));
        Some(format!("{key} = {most} may be reached {}: the level that is due {then}", self.middle()))
    }

    fn day(&self, LadderInDay { limit, cost, room, is_own }: &LadderInDay) -> String {
        let who = if *is_own { "the bot has" } else { "all bots have" };
        let then = self.then("on the first signal of the next day");
        format!(
            "{limit} may be reached {}: once {who} lost more than {room} in a day, a new ladder of {cost} no longer fits, and the level that \
             is due {then}",
            self.middle()
        )
    }

    fn hours(&self, risk: &RiskSettings) -> Option<String> {
        (!risk.hours.is_empty()).then(|| {
            let then = self.then("on the first signal when they begin again");
            format!("risk.hours may end {}: the level that is due {then}", self.middle())
        })
    }

    fn middle(&self) -> String {
        format!("in the middle of its ladder of {} levels", self.levels)
    }

    /// What becomes of the level.
    fn then(&self, when: &str) -> String {
        match (self.entry, self.if_refused) {
            (LadderEntry::NextSignal, _) => format!("waits, and is staked {when}"),
            (LadderEntry::NextCandle, IfRefused::Wait) => format!(
                "is not entered with the next candle: it stays, and is staked {when} (if_refused = \"reset\" begins the ladder anew)"
            ),
            (LadderEntry::NextCandle, IfRefused::Reset) => {
                "is given up, and the ladder begins anew".to_owned()
            }
        }
    }
}

fn losses_in_words(count: u32) -> String {
    format!("{count} {}", if count == 1 { "loss" } else { "losses" })
}
