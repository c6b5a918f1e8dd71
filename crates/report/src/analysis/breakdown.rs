//! Trade results by hour, symbol and other dimensions. The means of small cells are shrunk toward the overall mean.

use candlewick_backtest::metric::unit_return;
use candlewick_engine::{BotSettings, IntentRow};
use candlewick_sdk::{Direction, Expiry, Millis, Money, MoneyScale, Outcome, Symbol};
use candlewick_statistics::{GroupMoments, shrink_to_overall_mean};
use serde::Serialize;

/// Minimum number of decided (won or lost) trades. Smaller cells are marked, because chance may explain their results.
pub const SMALL_CELL_TRADES: u64 = 30;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Breakdown {
    pub by: Dimension,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    pub label: String,
    pub trades: u64,
    pub won: u64,
    pub lost: u64,
    pub win_rate: Option<f64>,
    /// Mean break-even win rate of the won and lost trades; `None` if any payout is unknown.
    pub break_even: Option<f64>,
    pub return_per_unit: Option<f64>,
    pub total_return: f64,
    /// Mean return per unit of stake, shrunk toward the mean of all trades to reduce noise.
    pub shrunk_return: Option<f64>,
    pub is_small: bool,
    pub pnl: f64,
}

/// Rounds to nine decimals to remove floating-point errors, such as in -0.3999999999999999.
fn round_to_nine_decimals(returns: f64) -> f64 {
    (returns * 1e9).round() / 1e9
}

#[derive(Clone, Default)]
struct Tally {
    trades: u64,
    won: u64,
    lost: u64,
    returns: GroupMoments,
    needed: f64,
    paid: u64,
    pnl: Money,
}

impl Breakdown {
    pub(super) fn build_all(bots: &[BotSettings], scale: MoneyScale, settled: &[&IntentRow]) -> Vec<Self> {
        let mut tables = Dimension::ALL.map(|dimension| (CellMap::new(dimension, bots), Vec::<Tally>::new()));
        for row in settled {
            let returned = unit_return(row);
            for (cell_map, tallies) in &mut tables {
                let Some(index) = cell_map.cell_index(row) else { continue };
                if index >= tallies.len() {
                    tallies.resize(index + 1, Tally::default());
                }
                tallies[index].add(row, returned);
            }
        }
        tables.iter().map(|(cell_map, tallies)| Self::new(cell_map, tallies, scale)).collect()
    }

    fn new(cell_map: &CellMap, tallies: &[Tally], scale: MoneyScale) -> Self {
        let samples: Vec<GroupMoments> = tallies.iter().map(|tally| tally.returns).collect();
        // Shrinking cannot fail here, because all returns are finite.
        let shrunk = shrink_to_overall_mean(&samples).unwrap_or_default();
        let cells = tallies.iter().zip(shrunk).enumerate().filter(|(_, (tally, _))| tally.trades > 0);
        let cells = cells.map(|(index, (tally, shrunk))| tally.to_cell(cell_map.label(index), shrunk, scale));
        Self { by: cell_map.dimension, cells: cells.collect() }
    }
}

/// Returns one cell per hour of the week (UTC), starting on Monday. The cell of an hour without trades is `None`.
pub(crate) fn hours_of_week(
    bots: &[BotSettings],
    scale: MoneyScale,
    settled: &[&IntentRow],
) -> Vec<Option<Cell>> {
    let [mut weekdays, mut hours] = [Dimension::Weekday, Dimension::Hour].map(|by| CellMap::new(by, bots));
    let mut tallies = vec![Tally::default(); 7 * 24];
    for row in settled {
        let index = weekdays.cell_index(row).zip(hours.cell_index(row)).map(|(day, hour)| day * 24 + hour);
        if let Some(tally) = index.and_then(|index| tallies.get_mut(index)) {
            tally.add(row, unit_return(row));
        }
    }
    let cell = |(index, tally): (usize, &Tally)| {
        let label = || format!("{} {}", weekdays.label(index / 24), hours.label(index % 24));
        (tally.trades > 0).then(|| tally.to_cell(label(), None, scale))
    };
    tallies.iter().enumerate().map(cell).collect()
}

impl Tally {
    fn add(&mut self, row: &IntentRow, returned: Option<f64>) {
        self.trades += 1;
        self.pnl += row.profit;
        if let Some(returned) = returned {
            self.returns.add(returned);
        }
        match row.outcome {
            Some(Outcome::Won) => self.won += 1,
            Some(Outcome::Lost) => self.lost += 1,
            Some(Outcome::Draw | Outcome::Cancelled) | None => return,
        }
        if let Some(payout) = row.payout {
            self.needed += 1.0 / (1.0 + payout.to_fraction());
            self.paid += 1;
        }
    }

    fn to_cell(&self, label: String, shrunk_return: Option<f64>, scale: MoneyScale) -> Cell {
        let decided = self.won + self.lost;
        let is_paid = decided > 0 && self.paid == decided;
        Cell {
            label,
            trades: self.trades,
            won: self.won,
            lost: self.lost,
            win_rate: (decided > 0).then(|| self.won as f64 / decided as f64),
            break_even: is_paid.then(|| self.needed / self.paid as f64),
            return_per_unit: (self.returns.count > 0)
                .then(|| round_to_nine_decimals(self.returns.sum / self.returns.count as f64)),
            total_return: round_to_nine_decimals(self.returns.sum),
            shrunk_return,
            is_small: decided < SMALL_CELL_TRADES,
            pnl: scale.to_f64(self.pnl),
        }
    }
}

/// Dimension by which trades are grouped. Hours and weekdays refer to the decision time in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    Hour,
    Weekday,
    Symbol,
    Direction,
    Expiry,
    PayoutBand,
    EntryDelay,
}

/// Exclusive upper bounds of the cells for entry delays, in milliseconds.
const DELAY_BOUNDS_MS: [i64; 6] = [1_000, 2_000, 3_000, 5_000, 10_000, 60_000];
const PAYOUT_BAND_POINTS: usize = 5;
pub(crate) const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Assignment of trades to the cells of one dimension. A trade without a value in this dimension is in no cell.
pub(super) struct CellMap {
    pub(super) dimension: Dimension,
    symbols: Vec<Symbol>,
    seen_symbols: Vec<Symbol>,
    seen_expiries: Vec<Expiry>,
}

impl Dimension {
    pub const ALL: [Self; 7] = [
        Self::Hour,
        Self::Weekday,
        Self::Symbol,
        Self::Direction,
        Self::Expiry,
        Self::PayoutBand,
        Self::EntryDelay,
    ];

    pub const fn as_str(self) -> &'static str {
        let names = ["hour (UTC)", "weekday (UTC)", "symbol", "direction", "expiry", "payout", "entry delay"];
        names[self as usize]
    }
}

impl CellMap {
    pub(super) fn new(dimension: Dimension, bots: &[BotSettings]) -> Self {
        let symbols = bots.iter().map(|bot| bot.symbol).collect();
        Self { dimension, symbols, seen_symbols: Vec::new(), seen_expiries: Vec::new() }
    }

    pub(super) fn cell_index(&mut self, row: &IntentRow) -> Option<usize> {
        let trade = &row.approved;
        let decided = trade.decision_time().get();
        match self.dimension {
            Dimension::Hour => Some((decided.rem_euclid(Millis::DAY.get()) / Millis::HOUR.get()) as usize),
            // The Unix epoch was a Thursday, which is weekday 3 if Monday is 0.
            Dimension::Weekday => Some((decided.div_euclid(Millis::DAY.get()) + 3).rem_euclid(7) as usize),
            Dimension::Symbol => {
                let symbol = *self.symbols.get(trade.bot().index())?;
                Some(index_or_push(&mut self.seen_symbols, symbol))
            }
            Dimension::Direction => Some(match trade.direction() {
                Direction::Buy => 0,
                Direction::Sell => 1,
            }),
            Dimension::Expiry => Some(index_or_push(&mut self.seen_expiries, trade.expiry())),
            Dimension::PayoutBand => {
                let percent = row.payout?.to_fraction() * 100.0;
                // Adds a small tolerance, so that a payout of 80 % is not read as 79.99999 %.
                Some((percent + 1e-9) as usize / PAYOUT_BAND_POINTS)
            }
            Dimension::EntryDelay => {
                let delay = row.open_time?.get() - decided;
                Some(DELAY_BOUNDS_MS.iter().position(|bound| delay < *bound).unwrap_or(DELAY_BOUNDS_MS.len()))
            }
        }
    }

    pub(super) fn label(&self, index: usize) -> String {
        match self.dimension {
            Dimension::Hour => format!("{index:02}:00"),
            Dimension::Weekday => WEEKDAYS[index].to_owned(),
            Dimension::Symbol => self.seen_symbols[index].to_string(),
            Dimension::Direction => [Direction::Buy, Direction::Sell][index].to_string(),
            Dimension::Expiry => {
                let Expiry { close_type, expiration_type } = self.seen_expiries[index];
                format!("{close_type} {expiration_type}")
            }
            Dimension::PayoutBand => {
                format!("{} to {} %", index * PAYOUT_BAND_POINTS, (index + 1) * PAYOUT_BAND_POINTS)
            }
            Dimension::EntryDelay => delay_label(index),
        }
    }
}

fn delay_label(index: usize) -> String {
    let seconds = |index: usize| DELAY_BOUNDS_MS.get(index).map(|bound| bound / 1_000);
    let from = index.checked_sub(1).and_then(seconds).map(|from| format!("from {from} s"));
    let below = seconds(index).map(|below| format!("below {below} s"));
    from.into_iter().chain(below).collect::<Vec<_>>().join(" ")
}

fn index_or_push<T: PartialEq>(seen: &mut Vec<T>, value: T) -> usize {
    seen.iter().position(|known| *known == value).unwrap_or_else(|| {
        seen.push(value);
        seen.len() - 1
    })
}
