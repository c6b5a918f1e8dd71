//! Limits and stakes immediately before a decision, reconstructed by a replay of the Session.

use super::indicators::MAX_REPLAYED_ENTRIES;
use crate::RecordsError;
use crate::contents::JournalContents;
use crate::lines::SessionFold;
use crate::run::RecordedRun;
use candlewick_engine::{BotId, EdgeVerdict, LadderEntry, ReloadNote, Rule, Session, StakeSettings};
use candlewick_journal::{LineKind, Reader};
use candlewick_sdk::Millis;
use candlewick_sdk::rust_decimal::Decimal;

const LINES_PER_PAGE: u32 = 5_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct DecisionEntry {
    pub(super) seq: u64,
    pub(super) bot: usize,
    pub(super) at: Millis,
}

/// Calls `visit` with each decision and the Session right before it. Skips long replays unless `is_replay_unlimited` is set.
pub(super) async fn visit_sessions_before(
    reader: &mut Reader,
    contents: &JournalContents,
    (run, decisions): (&RecordedRun, &[DecisionEntry]),
    is_unlimited: bool,
    mut visit: impl FnMut(&Session, &DecisionEntry),
) -> Result<(), RecordsError> {
    let near = decisions.iter().filter(|decision| is_unlimited || decision.seq <= MAX_REPLAYED_ENTRIES);
    let mut left = near.peekable();
    if left.peek().is_none() || contents.compacted_before().is_some() {
        return Ok(());
    }
    let mut fold = SessionFold::new(run.session_without_strategies()?);
    let mut walk = reader.walk(LINES_PER_PAGE).await?;
    loop {
        let page = walk.next().await?;
        for stored in &page {
            while let Some(decision) = left.next_if(|decision| decision.seq <= stored.seq) {
                visit(&fold.session, decision);
            }
            if left.peek().is_none() {
                return Ok(());
            }
            if stored.line.kind == LineKind::Note && stored.line.run == run.number {
                let note = ReloadNote::parse(&stored.line.body);
                if let Some(note) = note.map_err(|error| RecordsError::unreadable_entry(stored, error))? {
                    let applied = fold.session.apply_limits(&note.risk);
                    applied.map_err(|error| RecordsError::unreadable_entry(stored, error))?;
                }
            }
            fold.apply_line(stored)?;
        }
        if page.is_empty() {
            return Ok(());
        }
    }
}

pub(super) async fn add_limit_figures(
    mut refusals: Vec<(DecisionEntry, Rule, &mut String)>,
    reader: &mut Reader,
    of_run: (&JournalContents, &RecordedRun),
    is_unlimited: bool,
) -> Result<(), RecordsError> {
    refusals.sort_by_key(|(decision, ..)| decision.seq);
    let decisions: Vec<DecisionEntry> = refusals.iter().map(|(decision, ..)| *decision).collect();
    let (contents, run) = of_run;
    visit_sessions_before(reader, contents, (run, &decisions), is_unlimited, |session, decision| {
        for (_, rule, words) in refusals.iter_mut().filter(|(other, ..)| other.seq == decision.seq) {
            let figures = limit_figures(*rule, session, decision);
            **words = rule.add_detail(std::mem::take(*words), &figures);
        }
    })
    .await
}

fn limit_figures(rule: Rule, session: &Session, decision: &DecisionEntry) -> String {
    // The replay omits candles, so the age of the last candle is unknown.
    let Some(bot) = BotId::new(decision.bot).filter(|_| rule != Rule::StaleData) else {
        return String::new();
    };
    session.describe_rule_values(rule, bot, decision.at)
}

/// Describes the origin of a stake, for example `level 3 of 3 (4.40, times 2 after a loss)`.
pub(super) fn stake_origin(session: &Session, run: &RecordedRun, decision: &DecisionEntry) -> Option<String> {
    let (bot, settings) = (BotId::new(decision.bot)?, run.settings.bots.get(decision.bot)?);
    let (next, is_probe) = session.next_stake(bot, decision.at)?;
    if is_probe {
        return Some(format!("the minimum stake, to probe the payout of {}", settings.symbol));
    }
    let scale = session.money_scale();
    let free = scale.format(session.ledger().free_balance());
    let money = |amount: Decimal| {
        scale.convert_exact(amount).map_or_else(|_| amount.to_string(), |money| scale.format(money))
    };
    let has_lost_edge = || {
        let verdict = session.verdicts().nth(bot.index());
        verdict.is_some_and(|verdict| verdict.edge() == EdgeVerdict::NoLongerHeld)
    };
    Some(match &settings.stake {
        StakeSettings::Fixed { .. } => "the bot's fixed amount".to_owned(),
        StakeSettings::Share { percent } => format!("{percent} % of the free balance of {free}"),
        StakeSettings::Martingale { amount, factor, entry, .. } => {
            let ladder = session.ladder_levels(decision.at).into_iter().find(|ladder| ladder.bot == bot)?;
            let (level, levels) = (ladder.level, ladder.levels);
            let again = if *entry == LadderEntry::NextCandle { ", repeated on the next candle" } else { "" };
            let amount = money(*amount);
            format!("level {level} of {levels} ({amount}, times {factor} after a loss{again})")
        }
        StakeSettings::Soros { amount, wins, .. } => {
            let won = scale.format(next - scale.convert_exact(*amount).ok()?);
            format!("{} plus {won} profit from the last wins (at most {wins})", money(*amount))
        }
        StakeSettings::Kelly { .. } if has_lost_edge() => {
            "the minimum stake, because the edge no longer holds".to_owned()
        }
        StakeSettings::Kelly { fraction, .. } => format!("{fraction} Kelly on a free balance of {free}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{Event, EventKind, IntentId, OpenedTrade, Origin, SeriesId, TradeSettlement};
    use candlewick_sdk::{Candle, Interval, Money, Ohlcv, Outcome, Signal, Strategy};
    use serde_json::{Value, json};

    struct Buys;

    impl Strategy for Buys {
        fn warmup(&self) -> usize {
            0
        }

        fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
            Some(Signal::buy("every candle"))
        }
    }

    fn recorded_run(stake: &Value) -> RecordedRun {
        let bot = json!({
            "name": "bot", "symbol": "EURUSD", "interval": "1m", "strategy": "buys", "close_type": "01:00", "stake": stake
        });
        let settings = json!({ "money_scale": 2, "balance": "10000", "risk": {}, "bots": [bot] });
        RecordedRun::from_settings(settings, ("buys", "1.0.0"))
    }

    fn after(stake: &Value, ends: &[(Outcome, i64)]) -> String {
        let run = recorded_run(stake);
        let mut session = Session::new(&run.settings, vec![Box::new(Buys)]).unwrap();
        let mut actions = Vec::new();
        let mut at = Millis::MINUTE * 2;
        for (place, (outcome, profit)) in ends.iter().enumerate() {
            let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 1.0 };
            let candle = Candle::new(at - Millis::MINUTE, Interval::MINUTE, numbers).unwrap();
            let intent = IntentId::new(place as u64 + 1);
            let (open_time, open_price, close_time) = (Some(at), Some(1.0), Some(at + Millis::MINUTE));
            let (venue_id, payout, taken) = (None, None, None);
            let opened = OpenedTrade { intent, venue_id, open_time, open_price, close_time, payout, taken };
            let settled = TradeSettlement::from_operator(intent, *outcome, Money::from_minor(*profit));
            for kind in [
                EventKind::Candle { series: SeriesId::FIRST, candle, origin: Origin::Live },
                EventKind::Opened(opened),
                EventKind::Settled(settled),
            ] {
                session.handle(&Event { at, received: at, kind }, &mut actions);
            }
            at += Millis::MINUTE * 3;
        }
        let decision = DecisionEntry { seq: 1, bot: 0, at };
        stake_origin(&session, &run, &decision).unwrap()
    }

    #[test]
    fn describes_level_share_or_profit_of_a_stake() {
        let (lost, won) = (Outcome::Lost, Outcome::Won);
        let ladder = json!({ "kind": "martingale", "amount": 4.4, "factor": 2.0, "levels": 3 });
        let twice = [(lost, -440), (lost, -880)];
        assert_eq!(after(&ladder, &twice), "level 3 of 3 (4.40, times 2 after a loss)");
        assert_eq!(after(&ladder, &[(won, 374)]), "level 1 of 3 (4.40, times 2 after a loss)");
        let share = json!({ "kind": "share", "percent": 1.0 });
        assert_eq!(after(&share, &[(lost, -10_000)]), "1 % of the free balance of 9,900.00");
        let soros = json!({ "kind": "soros", "amount": 10.0, "wins": 2 });
        assert_eq!(after(&soros, &[(won, 850)]), "10.00 plus 8.50 profit from the last wins (at most 2)");
        assert_eq!(after(&json!({ "kind": "fixed", "amount": 10.0 }), &[]), "the bot's fixed amount");
    }
}
