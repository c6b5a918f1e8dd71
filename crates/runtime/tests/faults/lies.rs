//! A lying venue. Half of the schedules are honest; a quarter have only lies that must leave the ledger correct.
//! A trade has at most one lie, determined by its seed. `alarms.rs` checks every processed answer against the lies,
//! and `schedule.rs` checks the final state. Balances may also be missing, negative or noisy.

use crate::money_lies;
use crate::prelude::*;

const OTHER_SYMBOL: &str = "XRPUSDT";
const OTHER_DURATION: &str = "02:00";
const UNKNOWN_ID: &str = "trade-9999";
const MISTAKEN_FOR: Millis = Millis::from_seconds(60);
const AHEAD: Millis = Millis::from_seconds(1_800);
const TOO_MUCH: i64 = 900;
const IMPOSSIBLE_PAYOUT: Decimal = Decimal::from_parts(80, 0, 0, true, 0);
const OPENS_TWICE_ONE_IN: u64 = 12;
const REOPENS_AFTER: Millis = Millis::from_seconds(700);

const UNEXPLAINED: &str = "unknown trade";
const SECOND: &str = "was ordered once";
pub(crate) const WRONG_PROFIT: [&str; 3] = [" give ", ", but a ", " on a stake of "];
pub(crate) const MISSING: &str = "the venue no longer has trade";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Term {
    Amount,
    Symbol,
    Direction,
    Account,
    Expiry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    Request,
    Open,
    Close,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadTime {
    Microseconds,
    YearsAhead,
    Endless,
    Negative,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImpossibleResult {
    WinThatCosts,
    WinOfThousands,
    LossThatEarns,
    LossOfMore,
    DrawThatEarns,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherTrade {
    Id,
    Symbol,
    Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lie {
    /// Accepts other terms than ordered and reports them consistently.
    Takes(Term),
    /// Reports another term only in the answer to the open.
    Answers(Term),
    /// Returns the id of another trade, or all its fields, only in the answer.
    AnswersAnothersId,
    AnswersStrangersId,
    AnswersUnknownId,
    AnswersAhead,
    HasTime(Moment, BadTime),
    PaysTooMuch,
    HasPayout,
    EndsWith(ImpossibleResult),
    EndsBeside,
    /// Returns another trade's record by id for a minute.
    RecordOfAnother(OtherTrade),
    NotFoundById,
    /// Drops the trade from list and lookup by id after its close.
    Vanishes,
    ListedOtherwise,
    ListedProfit,
    ListedTwice,
    Reopens,
    OpensTwice,
    OfMoney(MoneyLie),
}

use BadTime::{Endless, Microseconds, Negative, YearsAhead};
use Lie::{Answers, EndsWith, HasTime, RecordOfAnother, Takes};

const SETTLING: [[Lie; 2]; 11] = [
    [Lie::AnswersAhead, Answers(Term::Expiry)],
    [Lie::AnswersAnothersId, Lie::AnswersAnothersId],
    [HasTime(Moment::Open, Microseconds), HasTime(Moment::Open, Endless)],
    [HasTime(Moment::Open, Negative), HasTime(Moment::Close, Microseconds)],
    [HasTime(Moment::Close, YearsAhead), HasTime(Moment::Close, Endless)],
    [HasTime(Moment::Close, Negative), HasTime(Moment::Request, Endless)],
    [HasTime(Moment::Request, Negative), Lie::EndsBeside],
    [RecordOfAnother(OtherTrade::Id), RecordOfAnother(OtherTrade::Symbol)],
    [RecordOfAnother(OtherTrade::Direction), Lie::NotFoundById],
    [Lie::ListedOtherwise, Lie::ListedProfit],
    [Lie::ListedTwice, Lie::Reopens],
];

const HALTING: [[Lie; 2]; 10] = [
    [Takes(Term::Expiry), Lie::PaysTooMuch],
    [Lie::HasPayout, Lie::Vanishes],
    [Lie::Vanishes, Takes(Term::Amount)],
    [Takes(Term::Symbol), Takes(Term::Direction)],
    [Takes(Term::Account), Answers(Term::Amount)],
    [Answers(Term::Symbol), Answers(Term::Direction)],
    [Answers(Term::Account), Lie::AnswersStrangersId],
    [Lie::AnswersUnknownId, EndsWith(ImpossibleResult::WinThatCosts)],
    [EndsWith(ImpossibleResult::WinOfThousands), EndsWith(ImpossibleResult::LossThatEarns)],
    [EndsWith(ImpossibleResult::LossOfMore), EndsWith(ImpossibleResult::DrawThatEarns)],
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lies {
    seed: u64,
    share: u64,
    wallet: u64,
    pub(crate) is_halting: bool,
    pub(crate) money: Option<MoneyLies>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Answer,
    ById,
    List,
}

impl Lies {
    pub(crate) fn draw(seed: u64) -> Self {
        let word = mix([seed, 1_789, 1]);
        let share = [100, 300, 1_000][(word >> 8) as usize % 3];
        let wallet = [0, 0, 100][(word >> 16) as usize % 3];
        let money = MoneyLies::draw(seed);
        match word % 4 {
            _ if money.is_some() => Self { seed, share, wallet: 0, is_halting: true, money },
            0 | 1 => Self { seed, share: 0, wallet: 0, is_halting: false, money },
            kind => Self { seed, share, wallet, is_halting: kind == 3, money },
        }
    }

    pub(crate) const fn has_any(&self) -> bool {
        self.share > 0
    }

    pub(crate) fn about(&self, ticket: u64, is_short_by_id: bool) -> Option<Lie> {
        let word = mix([self.seed, ticket, 1_790]);
        if word % 1_000 >= self.share {
            return None;
        }
        if let Some(money) = &self.money {
            return Some(Lie::OfMoney(money.pick(word >> 16)));
        }
        if self.is_halting && mix([self.seed, ticket, 1_792]).is_multiple_of(OPENS_TWICE_ONE_IN) {
            return Some(Lie::OpensTwice);
        }
        let place = (word >> 16) as usize;
        let is_halting = self.is_halting && (word >> 12).is_multiple_of(2);
        let lies = if is_halting { HALTING.as_flattened() } else { SETTLING.as_flattened() };
        let lie = lies[place % lies.len()];
        // If only the list reports the outcome of a trade, its outcome is final.
        let is_of_list =
            matches!(lie, Lie::ListedOtherwise | Lie::ListedProfit | Lie::ListedTwice | Lie::Reopens);
        (!is_short_by_id || !is_of_list).then_some(lie)
    }

    pub(crate) fn distort_balances(&self, reading: u64, balances: Balances) -> Balances {
        if let Some(money) = &self.money {
            return money.distort_balances(reading, balances);
        }
        let word = mix([self.seed, reading, 1_791]);
        if word % 1_000 >= self.wallet {
            return balances;
        }
        let demo = match (word >> 10) % 3 {
            0 => None,
            1 => Some(-Decimal::new((word >> 20) as i64 % 1_000_000 + 1, 2)),
            _ => balances.demo.map(|demo| demo + Decimal::new(2, 12)),
        };
        Balances { demo, ..balances }
    }
}

impl Lie {
    pub(crate) const fn money_lie(self) -> Option<MoneyLie> {
        if let Self::OfMoney(lie) = self { Some(lie) } else { None }
    }

    pub(crate) const fn is_unlike_asked(self) -> bool {
        matches!(self, Self::Takes(_))
    }

    pub(crate) const fn is_lost_with_its_answer(self) -> bool {
        matches!(self, Self::Takes(Term::Symbol | Term::Account))
    }

    pub(crate) const fn may_be_unexplained(self) -> bool {
        matches!(
            self,
            Self::Takes(_)
                | Self::AnswersStrangersId
                | Self::AnswersUnknownId
                | Self::OfMoney(MoneyLie::RefusesTaken | MoneyLie::UnsentTaken)
        )
    }

    pub(crate) const fn may_stay_open(self) -> bool {
        matches!(
            self,
            Self::Takes(Term::Symbol | Term::Direction)
                | Self::Answers(Term::Symbol | Term::Direction)
                | Self::AnswersStrangersId
                | Self::AnswersUnknownId
                | Self::Vanishes
        )
    }

    /// Returns whether the trade can only be booked with knowledge of the lie. A cancelled trade moves no money.
    pub(crate) fn is_heard(self, outcome: Outcome) -> bool {
        match self {
            Self::Takes(Term::Amount | Term::Symbol | Term::Account)
            | Self::PaysTooMuch
            | Self::HasPayout => {
                matches!(outcome, Outcome::Won | Outcome::Lost)
            }
            Self::EndsWith(_) => true,
            Self::EndsBeside => outcome == Outcome::Won,
            _ => false,
        }
    }

    pub(crate) const fn report_texts(self) -> &'static [&'static str] {
        match self {
            Self::Takes(Term::Amount) | Self::Answers(Term::Amount) => &["amount is", UNEXPLAINED, SECOND],
            Self::Takes(Term::Symbol) | Self::Answers(Term::Symbol) => &["symbol is", UNEXPLAINED, SECOND],
            Self::Takes(Term::Direction) | Self::Answers(Term::Direction) => {
                &["direction is", UNEXPLAINED, SECOND]
            }
            Self::Takes(Term::Account) | Self::Answers(Term::Account) => &["was staked on the"],
            Self::PaysTooMuch | Self::HasPayout => &["has a payout of"],
            Self::Vanishes => &[MISSING],
            Self::EndsWith(_) => &WRONG_PROFIT,
            Self::EndsBeside => &[" give "],
            Self::AnswersStrangersId => {
                &["amount is", "symbol is", "direction is", "describes another trade", UNEXPLAINED, SECOND]
            }
            Self::OpensTwice => &[SECOND],
            Self::AnswersUnknownId => &[UNEXPLAINED, SECOND, MISSING],
            _ => &[],
        }
    }

    pub(crate) const fn paid(self, percent: i64) -> i64 {
        if let Self::PaysTooMuch = self { TOO_MUCH } else { percent }
    }

    pub(crate) fn accepted_order(self, order: &TradeOrder) -> TradeOrder {
        let mut taken = order.clone();
        let term = match self {
            Self::Takes(term) => term,
            Self::OfMoney(lie) => {
                taken.amount = lie.paid(order.amount);
                return taken;
            }
            _ => return taken,
        };
        match term {
            Term::Amount => taken.amount *= Decimal::from(5),
            Term::Symbol => taken.symbol = OTHER_SYMBOL.parse().unwrap(),
            Term::Direction => taken.direction = order.direction.opposite(),
            Term::Account => taken.account = Account::Real,
            Term::Expiry => taken.close_type = OTHER_DURATION.parse().unwrap(),
        }
        taken
    }

    pub(crate) fn ended(self, (outcome, profit): (Outcome, i64), stake: i64) -> (Outcome, i64) {
        match self {
            EndsWith(ImpossibleResult::WinThatCosts) => (Outcome::Won, -stake),
            EndsWith(ImpossibleResult::WinOfThousands) => (Outcome::Won, stake * 10_000),
            EndsWith(ImpossibleResult::LossThatEarns) => (Outcome::Lost, stake),
            EndsWith(ImpossibleResult::LossOfMore) => (Outcome::Lost, -stake * 3),
            EndsWith(ImpossibleResult::DrawThatEarns) => (Outcome::Draw, stake),
            Self::EndsBeside if outcome == Outcome::Won => (outcome, profit - 1),
            Self::OfMoney(lie) => lie.ended((outcome, profit), stake),
            _ => (outcome, profit),
        }
    }
}

pub(crate) fn distort(trade: &Trade, mut report: TradeReport, place: Place, now: Millis) -> TradeReport {
    let Some(lie) = trade.lie else { return report };
    if let Lie::OfMoney(lie) = lie {
        money_lies::change_record(lie, trade, &mut report, now);
        if place == Place::ById {
            money_lies::change_own_record(lie, trade, &mut report, now);
        }
        return report;
    }
    match (lie, place) {
        (Answers(term), Place::Answer) => answer_otherwise(term, trade, &mut report),
        (Lie::AnswersAhead, Place::Answer) => report.request_time = report.request_time.map(|at| at + AHEAD),
        (HasTime(moment, kind), _) => {
            let time = match moment {
                Moment::Request => &mut report.request_time,
                Moment::Open => &mut report.open_time,
                Moment::Close => &mut report.close_time,
            };
            *time = time.map(|right| match kind {
                Microseconds => right * 1_000,
                YearsAhead => right + Millis::DAY * 2_000,
                Endless => Millis::MAX,
                Negative => Millis::new(-5),
            });
        }
        (Lie::HasPayout, _) => report.invalid_payout = report.payout.take().map(|_| IMPOSSIBLE_PAYOUT),
        (RecordOfAnother(another), Place::ById) if now < trade.told_at + MISTAKEN_FOR => {
            match another {
                OtherTrade::Id => UNKNOWN_ID.clone_into(&mut report.id),
                OtherTrade::Symbol => report.symbol = Some(OTHER_SYMBOL.to_owned()),
                OtherTrade::Direction => {
                    report.direction = Some(ReportedValue::Known(trade.order.direction.opposite()));
                }
            }
            report.profit = report.profit.map(|_| Decimal::from(5_000));
        }
        (Lie::ListedOtherwise, Place::List) => contradict(&mut report, trade),
        (Lie::ListedProfit, Place::List) => report.profit = report.profit.map(|profit| profit - Decimal::ONE),
        (Lie::Reopens, Place::List) if now >= trade.told_at + REOPENS_AFTER => {
            (report.progress, report.profit) = (TradeProgress::Running, None);
        }
        _ => {}
    }
    report
}

pub(crate) fn denial_of(trade: &Trade) -> Option<MoneyLie> {
    trade.money_lie().filter(|lie| lie.is_denied())
}

pub(crate) fn is_mistaken(trade: &Trade, now: Millis) -> bool {
    matches!(trade.lie, Some(RecordOfAnother(_))) && now < trade.told_at + MISTAKEN_FOR
}

pub(crate) fn has_vanished(world: &World, trade: &Trade) -> bool {
    let is_open = |intent: u64| {
        let disk = world.disk();
        disk.knows(trade) && !disk.settled.contains(&intent)
    };
    trade.lie == Some(Lie::Vanishes)
        && world.time.now() >= trade.close_time
        && trade.intent.is_some_and(is_open)
}

fn answer_otherwise(term: Term, trade: &Trade, report: &mut TradeReport) {
    let other = Takes(term).accepted_order(&trade.order);
    match term {
        Term::Amount => report.amount = Some(other.amount),
        Term::Symbol => report.symbol = Some(other.symbol.to_string()),
        Term::Direction => report.direction = Some(ReportedValue::Known(other.direction)),
        Term::Account => report.account = Some(other.account),
        Term::Expiry => report.close_type = Some(ReportedValue::Known(other.close_type)),
    }
}

fn contradict(report: &mut TradeReport, trade: &Trade) {
    let TradeProgress::Over(outcome) = report.progress else { return };
    let (other, profit) = match outcome {
        Outcome::Lost => (Outcome::Won, trade.stake / 2),
        Outcome::Won => (Outcome::Lost, -trade.stake),
        Outcome::Draw => (Outcome::Cancelled, 0),
        Outcome::Cancelled => (Outcome::Draw, 0),
    };
    report.progress = TradeProgress::Over(other);
    report.profit = Some(Decimal::new(profit, 2));
}

pub(crate) fn second_row(trade: &Trade, row: &TradeReport) -> Option<TradeReport> {
    (trade.lie == Some(Lie::ListedTwice)).then(|| {
        let mut second = row.clone();
        contradict(&mut second, trade);
        second
    })
}

pub(crate) fn answer(
    world: &World,
    truth: &Truth,
    trade: &Trade,
    record_of: impl Fn(&Trade) -> TradeReport,
) -> TradeReport {
    if trade.lie == Some(Lie::AnswersAhead) {
        world.notes.most_ahead.fetch_max(AHEAD.get(), Relaxed);
    }
    let honest = record_of(trade);
    let is_alone = world.disk().unclear.keys().all(|intent| Some(*intent) == trade.intent);
    let other = match trade.lie {
        Some(Lie::AnswersAnothersId) => {
            let disk = world.disk();
            let is_known = |other: &&Trade| disk.knows(other) && other.intent != trade.intent;
            truth.trades.iter().rev().find(is_known).cloned()
        }
        Some(Lie::AnswersStrangersId) if is_alone => {
            truth.trades.iter().rev().find(|other| is_stranger(trade, other)).cloned()
        }
        Some(Lie::AnswersUnknownId) => return TradeReport { id: UNKNOWN_ID.to_owned(), ..honest },
        Some(Lie::OfMoney(MoneyLie::AnswersOldTrade)) => {
            let is_old = |other: &&Trade| other.request_time < world.plan.epoch && other.order == trade.order;
            return truth.trades.iter().rev().find(is_old).map_or(honest, record_of);
        }
        Some(Lie::OfMoney(lie)) => {
            let mut report = honest;
            let ours = truth.trades.iter().filter(|other| other.intent.is_some() && other.id != trade.id);
            let before = ours.map(|other| other.request_time).filter(|at| *at <= trade.request_time).max();
            money_lies::change_answer(lie, &mut report, before);
            return report;
        }
        _ => None,
    };
    match other {
        Some(other) if mix([trade.stake as u64, trade.request_time.get() as u64, 5]).is_multiple_of(2) => {
            record_of(&other)
        }
        Some(other) => TradeReport { id: other.id, ..honest },
        None => honest,
    }
}

fn is_stranger(ours: &Trade, other: &Trade) -> bool {
    let (asked, order) = (&ours.order, &other.order);
    let is_unlike =
        asked.symbol != order.symbol || asked.direction != order.direction || asked.amount != order.amount;
    other.intent.is_none() && order.account == Account::Demo && is_unlike
}
