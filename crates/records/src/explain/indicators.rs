//! Indicators of a strategy at a decision, recomputed by replaying the run up to the decision.

use super::conditions::ConditionState;
use crate::RecordsError;
use crate::contents::JournalContents;
use crate::lines::{is_candle, parse};
use crate::run::RecordedRun;
use candlewick_engine::{Event, EventKind, IntentId, IntentRow, TradeSettlement};
use candlewick_journal::{LineKind, Reader, StoredLine};
use candlewick_sdk::{
    Candle, CoverageRule, Direction, GateSnapshot, LongerCandles, Millis, Registry, Settlement, Strategy,
    StrategyEntry,
};
use std::collections::BTreeMap;

pub const MAX_REPLAYED_ENTRIES: u64 = 500_000;
const ENTRIES_PER_PAGE: u32 = 5_000;

#[derive(Debug, Default)]
pub(super) struct DecisionContext {
    pub(super) indicators: BTreeMap<String, f64>,
    pub(super) conditions: Vec<ConditionState>,
    pub(super) gate: Option<GateSnapshot>,
}

pub(super) struct RecomputeOptions<'a> {
    pub(super) registry: &'a Registry,
    pub(super) is_replay_unlimited: bool,
    pub(super) is_conditions_only: bool,
    pub(super) command: &'a str,
}

/// Recomputes each bot's indicators right before an entry. An inner `Err` is the reason why a bot has none.
pub(super) async fn recompute_indicators(
    reader: &mut Reader,
    contents: &JournalContents,
    (run, bots): (u64, &[(&str, u64)]),
    options: &RecomputeOptions<'_>,
) -> Result<Vec<Result<DecisionContext, String>>, RecordsError> {
    let run = contents.run(run);
    let header = run.and_then(|run| contents.lines.iter().find(|stored| stored.seq == run.seq));
    let unread = |why: String| Ok(bots.iter().map(|_| Err(why.clone())).collect());
    let (Some(run), Some(header)) = (run, header) else {
        return unread("the journal does not contain the run".to_owned());
    };
    if let Some(since) = contents.compacted_before().filter(|since| run.began < *since) {
        return unread(RecordsError::Compacted { since }.to_string());
    }
    let of_bot = |(bot, until): &(&str, u64)| Replay::for_bot((run, contents), (bot, *until), options);
    let mut replays: Vec<Result<Replay, String>> = bots.iter().map(of_bot).collect();
    let is_needed = |replay: &&Replay| !options.is_conditions_only || replay.has_conditions();
    let untils = replays.iter().flatten().filter(is_needed).map(|replay| replay.until);
    if let Some(until) = untils.max() {
        // The walk starts at the header and verifies every replayed line.
        let mut walk = reader.walk_after(header.head(), ENTRIES_PER_PAGE).await?;
        loop {
            let page = walk.next().await?;
            for replay in replays.iter_mut().flatten() {
                let end = replay.until;
                let mut earlier = page.iter().take_while(|stored| stored.seq < end);
                earlier.try_for_each(|stored| replay.apply_line(stored))?;
            }
            if page.last().is_none_or(|last| last.seq >= until) {
                break;
            }
        }
    }
    Ok(replays.into_iter().map(|replay| replay.map(Replay::into_context)).collect())
}

struct Replay {
    strategy: Box<dyn Strategy>,
    longer: LongerCandles,
    last: Option<Candle>,
    run: u64,
    /// Number of the first entry that is not replayed.
    until: u64,
    series: Option<usize>,
    symbol: Option<usize>,
    trades: BTreeMap<IntentId, (Direction, Millis)>,
    indicators: Vec<(String, f64)>,
}

impl Replay {
    fn for_bot(
        (run, contents): (&RecordedRun, &JournalContents),
        (bot, until): (&str, u64),
        options: &RecomputeOptions<'_>,
    ) -> Result<Self, String> {
        let own = contents.intents().filter(|(_, other)| other.bot == bot);
        let trade = |row: &IntentRow| (row.approved.direction(), row.approved.decision_time());
        let trades = own.map(|(row, _)| (row.approved.intent(), trade(row))).collect();
        let replay = Self { trades, ..Self::new(run, (bot, until), options.registry)? };
        let before = until.saturating_sub(run.seq + 1);
        let is_needed = !options.is_conditions_only || replay.has_conditions();
        if is_needed && before > MAX_REPLAYED_ENTRIES && !options.is_replay_unlimited {
            return Err(format!(
                "{before} entries must be replayed; to allow this, run `candlewick {} --indicators`",
                options.command
            ));
        }
        Ok(replay)
    }

    fn new(run: &RecordedRun, (bot, until): (&str, u64), registry: &Registry) -> Result<Self, String> {
        let place = run.settings.bots.iter().position(|one| one.name == bot);
        let place = place.ok_or_else(|| format!("the run has no bot \"{bot}\""))?;
        let strategy = run
            .build_strategy(place, registry, StrategyEntry::build_explainer)
            .map_err(|error| error.to_string())??;
        let own = run.settings.bots[place].series();
        let rule = CoverageRule::for_symbol(own.symbol, run.settings.longer_share_percent);
        let longer = LongerCandles::new_with_coverage_rule(own.interval, strategy.longer_intervals(), rule);
        Ok(Self {
            longer: longer.map_err(|error| error.to_string())?,
            strategy,
            last: None,
            run: run.number,
            until,
            series: run.series.iter().position(|one| *one == own),
            symbol: run.symbols().iter().position(|one| *one == own.symbol),
            trades: BTreeMap::new(),
            indicators: Vec::new(),
        })
    }

    fn has_conditions(&self) -> bool {
        !self.strategy.conditions().is_empty()
    }

    fn into_context(self) -> DecisionContext {
        DecisionContext {
            indicators: self.indicators.into_iter().collect(),
            conditions: self.strategy.conditions().iter().map(ConditionState::from_condition).collect(),
            gate: self.strategy.gate(),
        }
    }

    fn apply_line(&mut self, stored: &StoredLine) -> Result<(), RecordsError> {
        let series =
            Some(&stored.line.body).filter(|_| is_candle(stored)).and_then(|body| parse_series_index(body));
        let is_of_others = series.is_some() && series != self.series;
        if stored.line.kind != LineKind::Event || stored.line.run != self.run || is_of_others {
            return Ok(());
        }
        let event: Event = parse(stored)?;
        match &event.kind {
            EventKind::Candle { series, candle, .. } if Some(series.index()) == self.series => {
                self.feed_longer_candles();
                self.longer.feed_longer_candles_before(candle, &mut *self.strategy);
                self.strategy.on_candle(candle);
                self.store_indicators();
                self.last = Some(*candle);
            }
            EventKind::Price { symbol, price } if Some(symbol.index()) == self.symbol => {
                self.feed_longer_candles();
                self.strategy.on_price(price);
                self.store_indicators();
            }
            EventKind::Settled(settled) => self.apply_settlement(settled),
            EventKind::SettledByPerson { intent, outcome, profit } => {
                self.apply_settlement(&TradeSettlement::from_operator(*intent, *outcome, *profit));
            }
            _ => {}
        }
        Ok(())
    }

    /// Feeds the strategy the longer candles that the last candle completed. Called after the decision on this candle.
    fn feed_longer_candles(&mut self) {
        if let Some(candle) = self.last.take() {
            self.longer.feed_longer_candles_after(&candle, &mut *self.strategy);
        }
    }

    fn apply_settlement(&mut self, settled: &TradeSettlement) {
        if let Some((direction, decision_time)) = self.trades.remove(&settled.intent) {
            let TradeSettlement { outcome, profit, .. } = *settled;
            if self.strategy.wants_settlements() {
                self.feed_longer_candles();
                self.strategy.on_settled(&Settlement { direction, decision_time, outcome, profit });
            }
        }
    }

    fn store_indicators(&mut self) {
        let named = self.strategy.indicators().into_iter();
        self.indicators = named.map(|(name, value)| (name.to_owned(), value)).collect();
    }
}

fn parse_series_index(body: &str) -> Option<usize> {
    let (_, rest) = body.split_once("\"series\":")?;
    rest.split_once(|letter: char| !letter.is_ascii_digit())?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_journal::{ChainHash, Line};
    use candlewick_sdk::{
        BotContext, BuildError, Interval, Money, Outcome, Price, Signal, StrategyFactory, parameters,
    };
    use serde_json::{Value, json};

    parameters! {
        struct Params {
            /// Length of the longer candles in seconds.
            longer_s: usize = 120, 2..=86_400;
        }
    }

    struct Probe {
        longer: [Interval; 1],
        shown: BTreeMap<&'static str, f64>,
    }

    impl Strategy for Probe {
        fn warmup(&self) -> usize {
            0
        }

        fn longer_intervals(&self) -> &[Interval] {
            &self.longer
        }

        fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
            self.shown.insert("close", candle.close());
            None
        }

        fn on_longer_candle(&mut self, _interval: Interval, candle: &Candle) {
            self.shown.insert("longer close", candle.close());
        }

        fn on_price(&mut self, price: &Price) -> Option<Signal> {
            self.shown.insert("price", price.value);
            None
        }

        fn on_settled(&mut self, settlement: &Settlement) {
            *self.shown.entry("minor units").or_default() += settlement.profit.minor() as f64;
        }

        fn indicators(&self) -> Vec<(&str, f64)> {
            self.shown.iter().map(|(name, value)| (*name, *value)).collect()
        }
    }

    impl StrategyFactory for Probe {
        const NAME: &'static str = "probe";
        const VERSION: &'static str = "1.0.0";
        const ABOUT: &'static str = "Offers what it was shown.";
        const WANTS_PRICES: bool = true;
        type Params = Params;

        fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
            let longer = Interval::from_seconds(params.longer_s as i64);
            Ok(Self { longer: [longer.expect("two minutes")], shown: BTreeMap::new() })
        }
    }

    fn run(version: &str) -> RecordedRun {
        let bot = |name: &str, symbol: &str| json!({"name": name, "symbol": symbol, "interval": "1m", "strategy": "probe", "close_type": "01:00"});
        let settings = json!({"money_scale": 2, "balance": "100", "risk": {}, "bots": [bot("a", "AAA"), bot("b", "BBB")]});
        RecordedRun::from_settings(settings, ("probe", version))
    }

    fn stored(run: u64, kind: LineKind, body: &Value) -> StoredLine {
        let (at, body) = (Millis::ZERO, body.to_string());
        let line = Line { run, kind, intent: None, at, received: at, body };
        StoredLine { seq: 11, line, hash: ChainHash::GENESIS }
    }

    fn event(what: &Value) -> StoredLine {
        let mut body = json!({"at": 0, "received": 0});
        body.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
        stored(2, LineKind::Event, &body)
    }

    fn candle(series: u64, minute: i64, close: f64) -> StoredLine {
        let candle = json!({"time": minute * 60_000, "open": close, "high": close, "low": close, "close": close, "volume": 0.0});
        event(&json!({"event": "candle", "series": series, "candle": candle, "origin": "live"}))
    }

    fn settled(intent: u64, profit: i64) -> StoredLine {
        let settled =
            TradeSettlement::from_operator(IntentId::new(intent), Outcome::Won, Money::from_minor(profit));
        let (at, received) = (Millis::ZERO, Millis::ZERO);
        stored(2, LineKind::Event, &json!(Event { at, received, kind: EventKind::Settled(settled) }))
    }

    fn named(replay: &Replay) -> Vec<(&str, f64)> {
        replay.indicators.iter().map(|(name, value)| (name.as_str(), *value)).collect()
    }

    #[test]
    fn replays_the_inputs_of_the_bot_up_to_its_answer() {
        let registry = Registry::default().with::<Probe>().unwrap();
        let mut replay = Replay::new(&run("1.0.0"), ("b", 100), &registry).unwrap();
        replay.trades = BTreeMap::from([(IntentId::new(7), (Direction::Buy, Millis::ZERO))]);
        let close = |close: f64| ("close", close);
        let priced = |symbol: u64, value: f64| {
            event(&json!({"event": "price", "symbol": symbol, "price": {"time": 0, "value": value}}))
        };
        let (longer, price) = (("longer close", 20.0), ("price", 21.0));
        let mut another_run = candle(1, 5, 99.0);
        another_run.line.run = 1;
        let steps: [(StoredLine, &[(&str, f64)]); 9] = [
            (candle(1, 0, 10.0), &[close(10.0)]),
            (candle(0, 1, 99.0), &[close(10.0)]),
            (another_run, &[close(10.0)]),
            (stored(2, LineKind::Note, &json!({"event": "candle"})), &[close(10.0)]),
            // Two minutes have closed, but the strategy decides before it receives the longer candle.
            (candle(1, 1, 20.0), &[close(20.0)]),
            (priced(0, 99.0), &[close(20.0)]),
            (priced(1, 21.0), &[close(20.0), longer, price]),
            (settled(7, 800), &[close(20.0), longer, price]),
            (settled(8, 100), &[close(20.0), longer, price]),
        ];
        for (line, expected) in steps {
            replay.apply_line(&line).unwrap();
            assert_eq!(named(&replay), expected, "{}", line.line.body);
        }
        for line in [settled(7, 800), candle(1, 2, 30.0)] {
            replay.apply_line(&line).unwrap();
        }
        assert_eq!(named(&replay), [close(30.0), longer, ("minor units", 800.0), price]);
        assert!(replay.apply_line(&event(&json!({"event": "candle"}))).is_err());
    }

    #[test]
    fn names_reason_why_a_strategy_cannot_be_replayed() {
        let registry = Registry::default().with::<Probe>().unwrap();
        let mut unfit = run("1.0.0");
        unfit.settings.bots[1].params = json!({"longer_s": 1});
        for (run, bot, expected) in [
            (run("1.0.0"), "c", "the run has no bot \"c\""),
            (
                run("0.9.0"),
                "b",
                "the run used version 0.9.0 of strategy \"probe\", but this program has version",
            ),
            (unfit, "b", "bot \"b\": parameters of strategy \"probe\": "),
        ] {
            let why = Replay::new(&run, (bot, 100), &registry).err().unwrap();
            assert!(why.starts_with(expected), "{why}");
        }
    }
}
