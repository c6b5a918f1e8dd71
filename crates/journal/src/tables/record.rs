//! Rows of the tables.

use candlewick_sdk::Millis;
use std::collections::BTreeMap;

/// A row of the table `intents`: a request and its outcome, `None` if unknown.
///
/// Times are Unix milliseconds. Money is in the wallet's smallest unit, of which `unit` make up one
/// of its currency.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentRecord {
    pub intent: u64,
    /// Last entry about the intent: an event, or the action that opened it.
    pub seq: u64,
    pub run: u64,
    pub bot: String,
    /// Symbol, that of the venue if the venue opened another.
    pub symbol: String,
    /// `BUY` or `SELL`.
    pub direction: String,
    /// `in_doubt`, `open`, `settled`, `rejected`, `not_opened` or `not_sent`.
    pub state: String,
    /// `WON`, `LOST`, `DRAW` or `CANCELLED`, `None` until settled.
    pub result: Option<String>,
    pub stake_minor: i64,
    pub profit_minor: Option<i64>,
    pub unit: i64,
    /// Payout of a win, in percent of the stake.
    pub payout: Option<f64>,
    pub decision_time: Millis,
    pub request_time: Option<Millis>,
    pub open_time: Option<Millis>,
    pub open_price: Option<f64>,
    /// Actual or scheduled close time.
    pub close_time: Option<Millis>,
    pub close_price: Option<f64>,
    pub settled_time: Option<Millis>,
    /// Duration as `HH:MM`.
    pub close_type: String,
    pub expiration_type: String,
    pub reason: String,
    pub venue_id: Option<String>,
    /// Requested symbol if the venue opened another trade, as the next two fields.
    pub ordered_symbol: Option<String>,
    pub ordered_direction: Option<String>,
    pub ordered_stake_minor: Option<i64>,
    pub settled_by_person: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayFigures {
    pub seq: u64,
    pub decided: u64,
    /// Number of trades whose settlement was reported on that day.
    pub settled: u64,
    pub won: u64,
    pub lost: u64,
    pub drawn: u64,
    pub cancelled: u64,
    pub stake_minor: i64,
    pub profit_minor: i64,
    pub unit: i64,
}

pub(crate) const fn day_of(at: Millis) -> Millis {
    at.floor_to(Millis::DAY)
}

impl IntentRecord {
    pub(crate) fn days(&self) -> impl Iterator<Item = Millis> {
        [Some(self.decision_time), self.settled_time].into_iter().flatten().map(day_of)
    }
}

pub fn figures_of(intents: &[IntentRecord]) -> BTreeMap<(Millis, String), DayFigures> {
    let mut figures = BTreeMap::<_, DayFigures>::new();
    for intent in intents {
        let mut of = |at: Millis, count: fn(&mut DayFigures, &IntentRecord)| {
            let day = figures.entry((day_of(at), intent.bot.clone())).or_default();
            (day.seq, day.unit) = (day.seq.max(intent.seq), day.unit.max(intent.unit));
            count(day, intent);
        };
        of(intent.decision_time, |day, _| day.decided += 1);
        if let Some(at) = intent.settled_time {
            of(at, DayFigures::settle);
        }
    }
    figures
}

impl DayFigures {
    fn settle(&mut self, intent: &IntentRecord) {
        self.settled += 1;
        self.stake_minor += intent.stake_minor;
        self.profit_minor += intent.profit_minor.unwrap_or_default();
        match intent.result.as_deref() {
            Some("WON") => self.won += 1,
            Some("LOST") => self.lost += 1,
            Some("DRAW") => self.drawn += 1,
            Some("CANCELLED") => self.cancelled += 1,
            Some(_) | None => {}
        }
    }
}
