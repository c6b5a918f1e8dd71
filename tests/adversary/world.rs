//! Ground truth of the venue: orders received, trades made, and the wallet to the cent.

use crate::clock::now_ms;
use crate::lies::{Kind, Lie, Outcome, Profit, Word};
use crate::market::{Market, Pair};
use serde_json::Value;

/// Payout of every trade in percent.
pub(crate) const PAYOUT: i64 = 85;
pub(crate) const DEMO_CENTS: i64 = 1_000_000;
const SETTLED_AFTER_MS: i64 = 300;
pub(crate) const TRADE_MS: i64 = 5000;

#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) at: i64,
    pub(crate) pair: &'static str,
    pub(crate) is_buy: bool,
    pub(crate) cents: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Trade {
    pub(crate) id: String,
    /// Index of its order, `None` for a trade made before the run.
    pub(crate) order: Option<usize>,
    pub(crate) terms: Order,
    pub(crate) open_time: i64,
    pub(crate) close_time: i64,
    pub(crate) open_points: i64,
    pub(crate) close_points: i64,
    pub(crate) balance_before: i64,
    pub(crate) listed_from: i64,
    /// States in the list, each from a moment on; `None` is open again.
    pub(crate) words: Vec<(i64, Option<Word>)>,
    /// State in the detail, if it differs.
    pub(crate) detail_words: Vec<(i64, Option<Word>)>,
    /// Cumulative effect on the wallet, each from a moment on.
    money: Vec<(i64, i64)>,
}

fn value_at<T: Copy>(steps: &[(i64, T)], now: i64) -> Option<T> {
    steps.iter().rev().find(|(from, _)| *from <= now).map(|(_, value)| *value)
}

impl Trade {
    pub(crate) fn moved(&self, now: i64) -> i64 {
        value_at(&self.money, now).unwrap_or_default()
    }

    pub(crate) fn word(&self, is_detail: bool, now: i64) -> Option<Word> {
        let words = if is_detail { &self.detail_words } else { &self.words };
        value_at(words, now).flatten()
    }
}

pub(crate) fn profit_cents(word: Word, stake: i64) -> i64 {
    let agreed = match word.outcome {
        Outcome::Won => stake * word.payout.unwrap_or(PAYOUT) / 100,
        Outcome::Lost => -stake,
        Outcome::Draw | Outcome::Cancelled => 0,
    };
    match word.profit {
        Profit::Agreed => agreed,
        Profit::Gross => agreed + stake,
        Profit::Plus(cents) => agreed + cents,
        Profit::Percent(percent) => stake * percent / 100,
    }
}

pub(crate) struct World {
    pub(crate) market: Market,
    pub(crate) lies: Vec<Lie>,
    pub(crate) lie_counts: Vec<usize>,
    /// Outcomes, assigned to trades in turn.
    pub(crate) outcomes: &'static [Outcome],
    pub(crate) orders: Vec<Order>,
    pub(crate) trades: Vec<Trade>,
    pub(crate) movements: Vec<(i64, i64)>,
    pub(crate) wallet_readings: usize,
    pub(crate) list_lag_ms: i64,
    pub(crate) complaints: Vec<String>,
}

impl World {
    pub(crate) fn new(lies: Vec<Lie>, outcomes: &'static [Outcome], list_lag_ms: i64) -> Self {
        Self {
            market: Market::default(),
            lie_counts: vec![0; lies.len()],
            lies,
            outcomes,
            orders: Vec::new(),
            trades: Vec::new(),
            movements: Vec::new(),
            wallet_readings: 0,
            list_lag_ms,
            complaints: Vec::new(),
        }
    }

    pub(crate) fn wallet(&self, now: i64) -> i64 {
        let moved: i64 = self.trades.iter().map(|trade| trade.moved(now)).sum();
        let come: i64 = self.movements.iter().filter(|(at, _)| *at <= now).map(|(_, cents)| cents).sum();
        DEMO_CENTS + moved + come
    }

    pub(crate) fn lies_about(&self, order: usize) -> Vec<(usize, Kind)> {
        let lies = self.lies.iter().enumerate();
        lies.filter(|(_, lie)| lie.concerns(order)).map(|(index, lie)| (index, lie.kind)).collect()
    }

    pub(crate) fn count(&mut self, lie: usize) {
        self.lie_counts[lie] += 1;
    }

    pub(crate) fn receive(&mut self, body: &str) -> Option<usize> {
        let body: Value = serde_json::from_str(body).ok()?;
        let cents = (body["amount"].as_f64()? * 100.0).round() as i64;
        let is_buy = match body["direction"].as_str()? {
            "BUY" => true,
            "SELL" => false,
            _ => return None,
        };
        let pair = Pair::find(body["symbol"].as_str()?)?.name;
        if body["isDemo"].as_bool() != Some(true) || body["closeType"].as_str() != Some("00:05") {
            self.complaints.push(format!("an order that no bot can mean: {body}"));
        }
        self.orders.push(Order { at: now_ms(), pair, is_buy, cents });
        Some(self.orders.len() - 1)
    }

    pub(crate) fn take(&mut self, order: usize) -> usize {
        let terms = self.orders[order].clone();
        let second = terms.at.div_euclid(1000);
        let planned = self.outcomes[self.trades.len() % self.outcomes.len()];
        let trade = self.trade(Some(order), terms, second, Word::plain(planned));
        self.trades.push(trade);
        self.trades.len() - 1
    }

    pub(crate) fn invent_older(&mut self, order: usize, age_s: i64) -> usize {
        let mut terms = self.orders[order].clone();
        terms.at -= age_s * 1000;
        let mut trade = self.trade(None, terms.clone(), terms.at.div_euclid(1000), Word::LOST);
        trade.money.clear();
        trade.listed_from = 0;
        self.trades.push(trade);
        self.trades.len() - 1
    }

    fn trade(&mut self, order: Option<usize>, terms: Order, second: i64, planned: Word) -> Trade {
        let pair = Pair::find(terms.pair).expect("orders name known pairs");
        let open_time = second * 1000 + 999;
        let close_time = open_time + TRADE_MS;
        let lies = order.map(|order| self.lies_about(order)).unwrap_or_default();
        let lies: Vec<Kind> = lies.into_iter().map(|(_, kind)| kind).collect();
        let plan = Plan::new(&lies, planned, terms.cents, close_time + SETTLED_AFTER_MS, terms.at);
        let open_points = self.market.close(pair, second);
        let close_second = second + TRADE_MS / 1000;
        if order.is_some() {
            let move_up = match plan.outcome {
                Outcome::Won | Outcome::Draw => terms.is_buy,
                Outcome::Lost => !terms.is_buy,
                Outcome::Cancelled => true,
            };
            let step = if plan.outcome == Outcome::Draw { 0 } else { pair.step() };
            let points = if move_up { open_points + step } else { open_points - step };
            self.market.fix(pair, close_second, points);
        }
        Trade {
            id: self.new_id(terms.at),
            balance_before: self.wallet(terms.at),
            listed_from: terms.at + plan.listed_after_ms.max(self.list_lag_ms),
            close_points: self.market.close(pair, close_second),
            order,
            terms,
            open_time,
            close_time,
            open_points,
            words: plan.words,
            detail_words: plan.detail_words,
            money: plan.money,
        }
    }

    fn new_id(&self, at: i64) -> String {
        const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        let digits = |mut value: u128, count: usize| {
            let mut text = vec![b'0'; count];
            for digit in text.iter_mut().rev() {
                *digit = DIGITS[(value % 32) as usize];
                value /= 32;
            }
            String::from_utf8(text).expect("base 32 is ASCII")
        };
        let tail = (self.trades.len() as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C);
        digits(at as u128, 10) + &digits(tail, 16)
    }
}

struct Plan {
    outcome: Outcome,
    words: Vec<(i64, Option<Word>)>,
    detail_words: Vec<(i64, Option<Word>)>,
    money: Vec<(i64, i64)>,
    listed_after_ms: i64,
}

impl Plan {
    /// `known` is the time at which the result is known, `at` the arrival of the order.
    fn new(lies: &[Kind], planned: Word, stake: i64, known: i64, at: i64) -> Self {
        let mut words = vec![(known, Some(planned))];
        let mut detail_words = None;
        let mut paid = vec![(known, profit_cents(planned, stake))];
        let (mut held, mut fee, mut listed_after_ms) = (stake, 0, 0);
        let mut outcome = planned.outcome;
        let mut is_won_unpaid = false;
        for lie in lies {
            match *lie {
                Kind::RefusalThatTook { listed_after_ms: after, .. } => listed_after_ms = after,
                Kind::FirstWord { reported, truth, until_ms, is_listed } => {
                    let both = vec![(known, Some(reported)), (known + until_ms, Some(truth))];
                    words = if is_listed { both.clone() } else { vec![(known, Some(truth))] };
                    detail_words = Some(both);
                    (paid, outcome) = (vec![(known, profit_cents(truth, stake))], truth.outcome);
                }
                Kind::Revised { first, then, after_ms, reopened_ms } => {
                    let end = known + after_ms + reopened_ms;
                    words = vec![(known, Some(first)), (known + after_ms, None), (end, Some(then))];
                    words.retain(|(_, word)| word.is_some() || reopened_ms > 0);
                    detail_words = None;
                    paid = vec![(known, profit_cents(first, stake)), (end, profit_cents(then, stake))];
                    outcome = then.outcome;
                }
                Kind::Settled { reported, paid: really } => {
                    (words, detail_words) = (vec![(known, Some(reported))], None);
                    (paid, outcome) = (vec![(known, profit_cents(really, stake))], reported.outcome);
                }
                Kind::CancelledKept => {
                    (words, detail_words) = (vec![(known, Some(Word::CANCELLED))], None);
                    (paid, outcome) = (vec![(known, -stake)], Outcome::Cancelled);
                }
                Kind::WinUnpaid => is_won_unpaid = true,
                Kind::HiddenFee(cents) | Kind::TenantFee { cents, is_taken: true } => fee += cents,
                Kind::WalletAmounts { taken, .. } => held = stake * taken / 100,
                _ => {}
            }
        }
        if is_won_unpaid {
            (words, detail_words) = (vec![(known, Some(Word::WON))], None);
            (paid, outcome) = (vec![(known, -stake)], Outcome::Won);
        }
        // A stake of another size is won or lost as a whole.
        let scaled = |cents: i64| cents * held / stake - fee;
        let mut money = vec![(at, -held - fee)];
        money.extend(paid.into_iter().map(|(from, cents)| (from, scaled(cents))));
        let detail_words = detail_words.unwrap_or_else(|| words.clone());
        Self { outcome, words, detail_words, money, listed_after_ms }
    }
}
