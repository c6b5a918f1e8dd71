//! A venue whose records contradict each other or its own wallet: corrected, reported or halted. One schedule in three
//! has two kinds of these lies and no others. `money_checks.rs` checks runs and ledgers. Price records may be of
//! another time, and wallets rebased, swapped, or of another user, currency or id: the run halts before booking.

use crate::prelude::*;
use crate::truth::Revision;

const ONE_IN: u64 = 3;
pub(crate) const OLD: Millis = Millis::from_seconds(2_400);
const FIRST_WORD: Millis = Millis::from_seconds(90);
const REVISED_AFTER: Millis = Millis::from_seconds(200);
const RERUN: Millis = Millis::from_seconds(60);
const LATE: Millis = Millis::HOUR;
const CUT_PAYOUT: i64 = 60;
const FEE: i64 = 100;
const TIMES: i64 = 6;
const CUT: i64 = 100;
const SPELL: u64 = 40;
const REBASED: i64 = 12_345_600;
const STALE_ONE_IN: u64 = 10;
pub(crate) const STALE_FACTOR: f64 = 5.0;
const TRADING: Millis = Millis::from_seconds(2_400);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstWord {
    Cancelled,
    Reversed,
    Uncut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MoneyLie {
    /// Accepts the order, but answers with a refusal or drops the connection.
    RefusesTaken,
    UnsentTaken,
    /// Answers with a trade made 40 minutes earlier, or with its times.
    AnswersOldTrade,
    AnswersOldTimes,
    RepeatsRequestTime,
    /// Reports another result by id for 90 s.
    FirstSays(FirstWord),
    Reverts,
    MarksReverted,
    Reruns,
    ReportsGross,
    CutsPayout,
    /// Keeps a win, a fee or the stake of a cancelled trade back from the wallet.
    KeepsWin,
    ChargesFee,
    KeepsStake,
    ClosesLate,
    /// Changes the list, or the record by id, once the order is known.
    ListedReal,
    ListedOpposite,
    RecordedReal,
    StakesMore,
    NamesFee,
}

use MoneyLie::{
    AnswersOldTimes, AnswersOldTrade, ChargesFee, ClosesLate, CutsPayout, FirstSays, KeepsStake, KeepsWin,
    ListedOpposite, ListedReal, MarksReverted, NamesFee, RecordedReal, RefusesTaken, RepeatsRequestTime,
    ReportsGross, Reruns, Reverts, StakesMore, UnsentTaken,
};

const KINDS: [MoneyLie; 19] = [
    RefusesTaken,
    UnsentTaken,
    AnswersOldTrade,
    AnswersOldTimes,
    RepeatsRequestTime,
    FirstSays(FirstWord::Cancelled),
    FirstSays(FirstWord::Reversed),
    FirstSays(FirstWord::Uncut),
    Reverts,
    Reruns,
    ReportsGross,
    CutsPayout,
    KeepsWin,
    ChargesFee,
    KeepsStake,
    ClosesLate,
    ListedReal,
    ListedOpposite,
    RecordedReal,
];
const RARE_ONE_IN: u64 = 10;
const RARE: [MoneyLie; 3] = [StakesMore, NamesFee, MarksReverted];

#[derive(Clone, Copy, Debug)]
pub(crate) struct MoneyLies {
    seed: u64,
    kinds: [MoneyLie; 2],
    wallet: Option<FalseWallet>,
    has_stale_prices: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FalseWallet {
    Rebased,
    Swapped,
    OtherUser,
    OtherCurrency,
    OtherId,
}

impl MoneyLies {
    pub(crate) fn draw(seed: u64) -> Option<Self> {
        let mut kinds = [2, 3].map(|key| KINDS[(mix([seed, 4_001, key]) >> 8) as usize % KINDS.len()]);
        let word = mix([seed, 4_001, 8]);
        if word.is_multiple_of(RARE_ONE_IN) {
            kinds[0] = RARE[(word >> 8) as usize % RARE.len()];
        }
        let other = [FalseWallet::OtherUser, FalseWallet::OtherCurrency, FalseWallet::OtherId];
        let wallet = match mix([seed, 4_001, 4]) % 12 {
            0 => Some(FalseWallet::Rebased),
            1 => Some(FalseWallet::Swapped),
            2 => Some(other[(mix([seed, 4_001, 7]) >> 8) as usize % other.len()]),
            _ => None,
        };
        let lies = Self { seed, kinds, wallet, has_stale_prices: mix([seed, 4_001, 6]).is_multiple_of(2) };
        mix([seed, 4_001, 1]).is_multiple_of(ONE_IN).then_some(lies)
    }

    pub(crate) fn price_offset(&self, second: Millis) -> Option<Millis> {
        let word = mix([self.seed, 4_001, second.get() as u64]);
        let offset = if (word >> 8).is_multiple_of(2) { Millis::HOUR } else { Millis::ZERO - Millis::DAY };
        (self.has_stale_prices && word.is_multiple_of(STALE_ONE_IN)).then_some(offset)
    }

    pub(crate) const fn pick(&self, word: u64) -> MoneyLie {
        self.kinds[word as usize % 2]
    }

    pub(crate) const fn has_shown_false_wallet(&self, readings: u64) -> bool {
        self.wallet.is_some() && readings > SPELL * 2
    }

    pub(crate) const fn has_false_wallet(self) -> bool {
        self.wallet.is_some()
    }

    pub(crate) fn has_kind(&self, kind: MoneyLie) -> bool {
        self.kinds.contains(&kind)
    }

    pub(crate) fn is_rebased(self) -> bool {
        matches!(self.wallet, Some(FalseWallet::Rebased | FalseWallet::Swapped))
    }

    pub(crate) fn distort_balances(&self, reading: u64, balances: Balances) -> Balances {
        let Some(wallet) = self.wallet.filter(|_| reading / SPELL % 3 == 1) else { return balances };
        let mut shown = balances;
        match wallet {
            FalseWallet::Rebased => shown.demo = Some(Decimal::new(REBASED, 2)),
            FalseWallet::Swapped => {
                std::mem::swap(&mut shown.demo, &mut shown.real);
                for wallet in &mut shown.wallets {
                    let is_demo = wallet.account == Some(Account::Demo);
                    wallet.account = Some(if is_demo { Account::Real } else { Account::Demo });
                    (if is_demo { "REAL" } else { "DEMO" }).clone_into(&mut wallet.type_name);
                }
            }
            FalseWallet::OtherUser | FalseWallet::OtherCurrency | FalseWallet::OtherId => {
                for name in &mut shown.wallets {
                    match wallet {
                        FalseWallet::OtherUser => name.user = Some("user-2".to_owned()),
                        FalseWallet::OtherCurrency => name.currency = Some("JPY".to_owned()),
                        _ => name.id.insert(0, 'x'),
                    }
                }
            }
        }
        shown
    }
}

/// No foreign trades and exact clocks, so that every difference is a lie; a loss limit, and time to exceed it.
pub(crate) fn with_money_lies(plan: Plan) -> Plan {
    if plan.lies.money.is_none() {
        return plan;
    }
    let Plan { risk, settings, habits, trading, seed, .. } = plan;
    let daily_loss_limit = Decimal::from([30, 60, 100][(mix([seed, 4_001, 5]) >> 8) as usize % 3]);
    let risk = RiskSettings { max_trades_per_day: 0, max_trades_per_hour: 0, daily_loss_limit, ..risk };
    let habits = Habits {
        has_strangers: false,
        company: 0,
        withholding: Withholding::Nothing,
        has_wild_clocks: false,
        clock_jumps: 0,
        odd_prices: 0,
        list_lag_ms: habits.list_lag_ms.min(i64::from(settings.list_lag_ms)),
        ..habits
    };
    Plan { risk, settings, habits, trading: trading.max(TRADING), ..plan }
}

impl MoneyLie {
    pub(crate) fn is_tellable(self, order: &TradeOrder, habits: &Habits) -> bool {
        match self {
            FirstSays(_) | ListedReal | ListedOpposite | RecordedReal => !habits.is_short_by_id,
            AnswersOldTrade | AnswersOldTimes | RepeatsRequestTime => !habits.only_acknowledges,
            ClosesLate => order.expiration_type != ExpirationType::CandleClose,
            _ => true,
        }
    }

    pub(crate) fn paid(self, amount: Decimal) -> Decimal {
        if self == StakesMore { amount * Decimal::from(TIMES) } else { amount }
    }

    pub(crate) fn ended(self, (outcome, profit): (Outcome, i64), stake: i64) -> (Outcome, i64) {
        match (self, outcome) {
            (CutsPayout, Outcome::Won) => (outcome, stake * CUT_PAYOUT / 100),
            (FirstSays(FirstWord::Uncut), Outcome::Won) => (outcome, profit - CUT),
            (KeepsStake, _) => (Outcome::Cancelled, 0),
            _ => (outcome, profit),
        }
    }

    pub(crate) fn withheld(self, (outcome, profit): (Outcome, i64), stake: i64) -> (i64, i64) {
        match self {
            ChargesFee | NamesFee => (FEE, 0),
            KeepsWin if outcome == Outcome::Won => (0, profit),
            KeepsStake => (0, stake),
            _ => (0, 0),
        }
    }

    pub(crate) fn revision(
        self,
        outcome: Outcome,
        (stake, payout): (i64, Decimal),
        told_at: Millis,
    ) -> Option<Revision> {
        match self {
            Reverts if outcome != Outcome::Cancelled => {
                Some(Revision { at: told_at + REVISED_AFTER, outcome: Outcome::Cancelled, profit: 0 })
            }
            Reruns => {
                let (outcome, profit) = reversed(outcome, (stake, payout));
                Some(Revision { at: told_at + REVISED_AFTER + RERUN, outcome, profit })
            }
            _ => None,
        }
    }

    pub(crate) const fn is_denied(self) -> bool {
        matches!(self, RefusesTaken | UnsentTaken)
    }
}

fn reversed(outcome: Outcome, (stake, payout): (i64, Decimal)) -> (Outcome, i64) {
    match outcome {
        Outcome::Lost => (Outcome::Won, stake * payout.to_i64().unwrap_or(0) / 100),
        Outcome::Won | Outcome::Draw | Outcome::Cancelled => (Outcome::Lost, -stake),
    }
}

fn first_word(word: FirstWord, trade: &Trade) -> Option<(Outcome, i64)> {
    match (word, trade.outcome) {
        (FirstWord::Cancelled, Outcome::Cancelled) => None,
        (FirstWord::Cancelled, _) => Some((Outcome::Cancelled, 0)),
        (FirstWord::Reversed, _) => Some(reversed(trade.outcome, (trade.stake, trade.payout))),
        (FirstWord::Uncut, Outcome::Won) => Some((Outcome::Won, trade.profit + CUT)),
        (FirstWord::Uncut, _) => None,
    }
}

pub(crate) fn is_by_status(trade: &Trade) -> bool {
    trade.told_at.get() % 2 == 0
}

pub(crate) fn bookable(lie: MoneyLie, trade: &Trade) -> Option<(Outcome, i64)> {
    match lie {
        FirstSays(FirstWord::Cancelled) if is_by_status(trade) && trade.listed_from <= trade.told_at => None,
        FirstSays(word) => first_word(word, trade),
        ReportsGross if trade.outcome == Outcome::Won => Some((Outcome::Won, trade.profit + trade.stake)),
        _ => trade.former,
    }
}

pub(crate) fn change_answer(lie: MoneyLie, report: &mut TradeReport, before: Option<Millis>) {
    match lie {
        AnswersOldTimes => {
            let (created, closed) = (&mut report.created_time, &mut report.close_time);
            for time in [&mut report.request_time, created, &mut report.open_time, closed] {
                *time = time.map(|right| right - OLD);
            }
        }
        RepeatsRequestTime => report.request_time = before.or(report.request_time),
        _ => {}
    }
}

pub(crate) fn change_record(lie: MoneyLie, trade: &Trade, report: &mut TradeReport, now: Millis) {
    let is_over = report.progress.outcome().is_some();
    match lie {
        ReportsGross if trade.outcome == Outcome::Won => {
            report.profit = report.profit.map(|profit| profit + Decimal::new(trade.stake, 2));
        }
        CutsPayout if is_over => {
            report.payout = candlewick_sdk::Payout::from_percent(Decimal::from(CUT_PAYOUT)).ok();
        }
        Reverts if trade.former.is_some() => report.is_reverted = true,
        MarksReverted => report.is_reverted = is_marked(trade, now),
        StakesMore => {
            report.payment.paid = Some(trade.order.amount);
            report.amount = report.amount.map(|amount| amount / Decimal::from(TIMES));
        }
        NamesFee => report.payment.fee = Decimal::new(FEE, 2),
        ClosesLate => report.close_time = report.close_time.map(|right| right + LATE),
        Reruns if (trade.told_at + REVISED_AFTER..trade.told_at + REVISED_AFTER + RERUN).contains(&now) => {
            (report.progress, report.profit) = (TradeProgress::Running, None);
        }
        _ => {}
    }
}

pub(crate) fn is_marked(trade: &Trade, now: Millis) -> bool {
    trade.outcome != Outcome::Cancelled && now >= trade.told_at + REVISED_AFTER
}

pub(crate) fn change_own_record(lie: MoneyLie, trade: &Trade, report: &mut TradeReport, now: Millis) {
    let is_first = report.progress.outcome().is_some() && now < trade.told_at + FIRST_WORD;
    let FirstSays(word) = lie else { return };
    if let Some((outcome, profit)) = first_word(word, trade).filter(|_| is_first) {
        report.progress = TradeProgress::Over(outcome);
        report.profit = (outcome != Outcome::Cancelled).then(|| Decimal::new(profit, 2));
        report.is_outcome_from_status = outcome == Outcome::Cancelled && is_by_status(trade);
    }
}

pub(crate) fn change_known(lie: MoneyLie, trade: &Trade, report: &mut TradeReport, is_row: bool) -> bool {
    match (lie, is_row) {
        (RecordedReal, false) | (ListedReal, true) => report.account = Some(Account::Real),
        (ListedOpposite, true) => {
            report.direction = Some(ReportedValue::Known(trade.order.direction.opposite()));
        }
        _ => return false,
    }
    true
}
