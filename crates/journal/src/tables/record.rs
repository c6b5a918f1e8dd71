//! The rows of the tables.

use candlewick_sdk::Millis;
use std::collections::BTreeMap;

/// A row of the table `intents`: a request and what became of it. Times are milliseconds since 1970; money is in the smallest
/// unit of the wallet, of which `unit` are 1 of its currency. What is not known is none.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentRecord {
    /// Its number, from 1 over the whole journal.
    pub intent: u64,
    /// The number of the last entry about it: an event, or the action that opened it.
    pub seq: u64,
    /// The run in which it was decided.
    pub run: u64,
    /// The name of its bot.
    pub bot: String,
    /// The pair; the venue's where that took another.
    pub symbol: String,
    /// `BUY` or `SELL`.
    pub direction: String,
    /// `in_doubt`, `open`, `settled`, `rejected`, `not_opened` or `not_sent`.
    pub state: String,
    /// `WON`, `LOST`, `DRAW` or `CANCELLED`, once it has settled.
    pub result: Option<String>,
    /// The stake.
    pub stake_minor: i64,
    /// Net profit, once it has settled.
    pub profit_minor: Option<i64>,
    /// How many of the smallest unit are 1.
    pub unit: i64,
    /// What a win pays, in percent of the stake.
    pub payout: Option<f64>,
    /// When the bot decided.
    pub decision_time: Millis,
    /// When its request left; none when it never did.
    pub request_time: Option<Millis>,
    /// When the venue opened it.
    pub open_time: Option<Millis>,
    /// The price at which it opened.
    pub open_price: Option<f64>,
    /// When it closes or has closed.
    pub close_time: Option<Millis>,
    /// The price at which it closed.
    pub close_price: Option<f64>,
    /// When its settlement became known.
    pub settled_time: Option<Millis>,
    /// How long it lasts, as `HH:MM`.
    pub close_type: String,
    /// How its end is fixed.
    pub expiration_type: String,
    /// The strategy's reason, with its numbers.
    pub reason: String,
    /// The venue's identifier of the trade.
    pub venue_id: Option<String>,
    /// The pair that was asked for, where the venue took another trade, as the next two.
    pub ordered_symbol: Option<String>,
    /// The direction that was asked for.
    pub ordered_direction: Option<String>,
    /// The stake that was asked for.
    pub ordered_stake_minor: Option<i64>,
    /// Whether a person said how it ended.
    pub settled_by_person: bool,
}

/// A row of the table `figures`: what a bot came to on a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DayFigures {
    /// The largest `seq` among the intents that are counted.
    pub seq: u64,
    /// Intents that were decided on that day.
    pub decided: u64,
    /// Trades whose settlement became known on that day.
    pub settled: u64,
    /// Those of them that were won.
    pub won: u64,
    /// Those that were lost.
    pub lost: u64,
    /// Those that were drawn.
    pub drawn: u64,
    /// Those that the venue called off.
    pub cancelled: u64,
    /// The sum of the stakes of those that settled.
    pub stake_minor: i64,
    /// The sum of their profits.
    pub profit_minor: i64,
    /// How many of the smallest unit are 1.
    pub unit: i64,
}

/// The UTC day of a moment, by the moment at which it began.
pub(crate) const fn day_of(at: Millis) -> Millis {
    at.floor_to(Millis::DAY)
}

impl IntentRecord {
    /// The days on which it counts.
    pub(crate) fn days(&self) -> impl Iterator<Item = Millis> {
        [Some(self.decision_time), self.settled_time].into_iter().flatten().map(day_of)
    }
}

/// The figures of these intents, by day and bot.
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
