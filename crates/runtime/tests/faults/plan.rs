//! Parameters of a schedule, drawn from its seed.

use crate::delays::with_delays;
use crate::money_lies::with_money_lies;
use crate::prelude::*;
use candlewick_runtime::RuntimeSettings;

const NOON: Millis = Millis::new(1_767_614_400_000);
const SYMBOLS: [&str; 3] = ["BTCUSDT", "ETHUSDT", "EURUSD"];
const TOLD_LATE_S: [i64; 6] = [0, 0, 0, 0, 30, 90];
const REFUNDING_ONE_IN: u64 = 4;
const REFUNDING_FOR: Millis = Millis::from_seconds(600);
const MANY_TRADES_FOR: Millis = Millis::from_seconds(3_600);
pub(crate) const BALANCE: i64 = 100_000;

pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) epoch: Millis,
    pub(crate) trading: Millis,
    pub(crate) signals: i64,
    pub(crate) bots: Vec<BotSettings>,
    pub(crate) risk: RiskSettings,
    pub(crate) settings: RuntimeSettings,
    pub(crate) habits: Habits,
    pub(crate) lies: Lies,
    pub(crate) told_late: Millis,
    pub(crate) called_off_one_in: u64,
}

/// Field of a page that holds the length of the list (contract 2.5 does not say).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Total,
    Count,
    Unstated,
}

/// Order of the listed rows (`observed: results`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    NewestFirst,
    Mixed,
    Restless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Withholding {
    Nothing,
    Both,
    List,
}

/// Behaviour of the venue and the network. Shares are per mille.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    pub(crate) patience_ms: i64,
    pub(crate) lost: i64,
    pub(crate) unanswered: i64,
    pub(crate) late: i64,
    pub(crate) is_slow_to_open: bool,
    pub(crate) rejected: i64,
    pub(crate) unsent: i64,
    pub(crate) failing: i64,
    pub(crate) slow: i64,
    pub(crate) unreadable: i64,
    pub(crate) sparse: i64,
    pub(crate) list_lag_ms: i64,
    pub(crate) wallet_lag_ms: i64,
    pub(crate) settle_late_ms: i64,
    pub(crate) page_size: u64,
    pub(crate) order: Order,
    pub(crate) length: Length,
    pub(crate) repeated: i64,
    pub(crate) gaps: i64,
    pub(crate) has_unknown_words: bool,
    pub(crate) is_short_by_id: bool,
    pub(crate) only_acknowledges: bool,
    pub(crate) has_dates: bool,
    pub(crate) has_strangers: bool,
    pub(crate) company: i64,
    pub(crate) withholding: Withholding,
    pub(crate) has_wild_clocks: bool,
    pub(crate) cuts_payouts: bool,
    pub(crate) list_outage: (Millis, Millis),
    pub(crate) journal_outage: (Millis, Millis),
    pub(crate) slow_writes: i64,
    pub(crate) read_attempts: u32,
    pub(crate) requests_per_second: f64,
    pub(crate) odd_prices: i64,
    pub(crate) clock_jumps: i64,
}

impl Plan {
    pub(crate) fn draw(seed: u64) -> (Self, Dice) {
        let mut dice = Dice::new(seed);
        let trading = Millis::from_seconds(dice.skewed(60, 1_800));
        let to_midnight = Millis::HOUR * 12 - Millis::from_seconds(dice.between(0, 600));
        let epoch = if dice.one_in(8) { NOON + to_midnight } else { NOON };
        let list_lag_s = dice.pick(&[10, 10, 30, 30, 120]);
        let settings = RuntimeSettings {
            watch_prices: dice.one_in(4),
            wallet_every_s: dice.pick(&[10, 30, 60]),
            list_every_s: dice.pick(&[10, 60, 300]),
            list_lag_ms: list_lag_s * 1_000,
            settle_after_ms: dice.pick(&[0, 1_000, 4_000]),
            ..RuntimeSettings::default()
        };
        let told_late_s = TOLD_LATE_S[(mix([seed, 1_789, 2]) >> 8) as usize % TOLD_LATE_S.len()];
        let mut plan = Self {
            seed,
            epoch,
            trading,
            signals: dice.pick(&[100, 300, 900]),
            bots: bots(&mut dice),
            risk: risk(&mut dice),
            habits: habits(&mut dice, i64::from(list_lag_s) * 1_000, trading),
            settings,
            lies: Lies::draw(seed),
            told_late: Millis::from_seconds(told_late_s),
            called_off_one_in: 40,
        };
        let is_refunding = mix([seed, 1_789, 3]).is_multiple_of(REFUNDING_ONE_IN);
        let keeps_back = plan.habits.withholding == Withholding::List;
        let follows = plan.habits.withholding == Withholding::Both;
        let wallet_lag_ms = u32::try_from(plan.habits.wallet_lag_ms).unwrap_or_default();
        plan.settings.wallet_lag_ms += wallet_lag_ms + if follows { plan.settings.list_lag_ms } else { 0 };
        let plan = if keeps_back && is_refunding { plan.with_refunds() } else { plan };
        (with_delays(with_money_lies(plan)), dice)
    }

    pub(crate) fn lists_late(&self) -> bool {
        self.habits.list_lag_ms > i64::from(self.settings.list_lag_ms)
    }

    pub(crate) fn with_many_trades(self, remember_s: u32) -> Self {
        let (risk, settings) = (without_limits(self.risk), RuntimeSettings { remember_s, ..self.settings });
        Self { trading: MANY_TRADES_FOR, signals: 900, risk, settings, ..self }
    }

    /// A returned stake may look like one never charged, while the list withholds its trade.
    fn with_refunds(self) -> Self {
        let Self { mut bots, risk, habits, .. } = self;
        let first = bots[0].clone();
        bots.resize(bots.len().max(2), first.clone());
        for (number, bot) in bots.iter_mut().enumerate() {
            bot.name = format!("bot-{number}");
            bot.symbol = Symbol::new(SYMBOLS[number]).unwrap();
            bot.stake = first.stake.clone();
        }
        let risk = RiskSettings { max_open_trades: 0, max_open_trades_per_symbol: 1, ..without_limits(risk) };
        Self {
            bots,
            risk,
            habits: Habits { unanswered: 300, ..habits },
            trading: self.trading.max(REFUNDING_FOR),
            told_late: Millis::from_seconds(90),
            called_off_one_in: 3,
            ..self
        }
    }
}

fn without_limits(risk: RiskSettings) -> RiskSettings {
    let (daily_loss_limit, max_drawdown_percent) = (Decimal::ZERO, 0.0);
    let (max_trades_per_day, max_trades_per_hour) = (0, 0);
    RiskSettings { max_trades_per_day, max_trades_per_hour, daily_loss_limit, max_drawdown_percent, ..risk }
}

fn bots(dice: &mut Dice) -> Vec<BotSettings> {
    let amount = Decimal::from(dice.pick(&[5, 10, 20]));
    let bot = |(number, dice): (i64, &mut Dice)| BotSettings {
        name: format!("bot-{number}"),
        symbol: Symbol::new(dice.pick(&SYMBOLS)).unwrap(),
        entry_delay_s: 0,
        venue: std::collections::BTreeMap::new(),
        interval: dice.pick(&["5s", "5s", "10s", "30s"]).parse().unwrap(),
        strategy: "random".to_owned(),
        close_type: dice.pick(&["00:05", "00:10", "00:30", "01:00"]).parse().unwrap(),
        expiration_type: dice.pick(&[
            ExpirationType::Unstated,
            ExpirationType::TimeFixed,
            ExpirationType::CandleClose,
        ]),
        params: serde_json::json!({}),
        // Trades with equal stakes cannot be distinguished.
        stake: StakeSettings::Fixed {
            amount: if dice.one_in(3) { Decimal::from(dice.pick(&[7, 15])) } else { amount },
        },
    };
    (0..dice.between(1, 3)).map(|number| bot((number, &mut *dice))).collect()
}

fn risk(dice: &mut Dice) -> RiskSettings {
    RiskSettings {
        max_open_trades: dice.pick(&[0, 0, 2, 4]),
        max_open_trades_per_symbol: dice.pick(&[1, 2, 3, 5]),
        max_trades_per_day: dice.pick(&[0, 0, 3, 12]),
        daily_loss_limit: Decimal::from(dice.pick(&[0, 0, 40, 100])),
        max_trades_per_hour: dice.pick(&[0, 0, 2, 8]),
        max_drawdown_percent: dice.pick(&[0.0, 0.0, 0.0, 5.0, 10.0]),
        max_signal_delay_ms: dice.pick(&[0, 1_000, 5_000, 5_000]),
        cooldown_after_loss_s: dice.pick(&[0, 0, 10]),
        allow_opposite: dice.one_in(2),
        allow_duplicate: dice.one_in(2),
        ..RiskSettings::default()
    }
}

fn habits(dice: &mut Dice, list_lag_ms: i64, trading: Millis) -> Habits {
    let trouble = [0, 0, 30, 100, 300];
    let mut outage = |times: i64, seconds: i64| {
        if !dice.one_in(times) {
            return (Millis::ZERO, Millis::ZERO);
        }
        let from = Millis::new(dice.between(0, trading.get()));
        (from, from + Millis::from_seconds(dice.between(5, seconds)))
    };
    let (list_outage, journal_outage) = (outage(12, 900), outage(8, 120));
    // A list that withholds trades beyond its allowed lag must not make trades forgotten either.
    let lag_most = if dice.one_in(16) { list_lag_ms * 3 } else { list_lag_ms };
    let withholding = match dice.between(1, 8) {
        1 => Withholding::Both,
        2 => Withholding::List,
        _ => Withholding::Nothing,
    };
    let is_alone = withholding == Withholding::List;
    Habits {
        patience_ms: dice.pick(&[1_000, 2_000, 5_000, 5_000]),
        lost: dice.pick(&trouble),
        unanswered: dice.pick(&trouble),
        late: dice.pick(&[0, 0, 30, 150]),
        is_slow_to_open: dice.one_in(3),
        rejected: dice.pick(&[0, 30, 100]),
        unsent: dice.pick(&[0, 0, 30]),
        failing: dice.pick(&[0, 0, 20, 60, 120]),
        slow: dice.pick(&[0, 10, 50]),
        unreadable: dice.pick(&[0, 0, 50, 400]),
        sparse: dice.pick(&[0, 0, 300]),
        list_lag_ms: dice.pick(&[0, lag_most / 3, lag_most]),
        wallet_lag_ms: dice.pick(&[0, 0, 2_000, list_lag_ms]),
        settle_late_ms: dice.pick(&[0, 4_000, 30_000, 90_000]),
        page_size: dice.pick(&[5, 10, 100, 100]) as u64,
        order: dice.pick(&[Order::NewestFirst, Order::NewestFirst, Order::Mixed, Order::Restless]),
        length: dice.pick(&[Length::Total, Length::Total, Length::Count, Length::Unstated]),
        repeated: dice.pick(&[0, 0, 50]),
        gaps: dice.pick(&[0, 0, 30]),
        has_unknown_words: dice.one_in(4),
        is_short_by_id: dice.one_in(4),
        only_acknowledges: dice.one_in(6),
        has_dates: !dice.one_in(4),
        has_strangers: dice.one_in(8) && !is_alone,
        company: if is_alone { 0 } else { dice.pick(&[0, 500, 1_000]) },
        withholding,
        has_wild_clocks: dice.one_in(6),
        cuts_payouts: dice.one_in(3),
        list_outage,
        journal_outage,
        slow_writes: dice.pick(&[0, 0, 30]),
        read_attempts: dice.pick(&[1, 1, 3]),
        requests_per_second: dice.pick(&[0.0, 0.0, 5.0, 10.0]),
        odd_prices: dice.pick(&[0, 0, 30, 300]),
        clock_jumps: dice.pick(&[0, 0, 0, 20, 200]),
    }
}
