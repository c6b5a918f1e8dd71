//! The workload of `work.py` as a plain loop.

pub const PERIOD: usize = 14;
pub const LOW: f64 = 30.0;
pub const HIGH: f64 = 70.0;
pub const HOLD: usize = 5;

/// Result of the loop: trades, wins, and profit of all trades with one unit each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    pub trades: usize,
    pub won: usize,
    pub earned: f64,
}

/// Wilder's RSI, updated close by close.
#[derive(Clone, Debug, Default)]
pub struct Rsi {
    seen: usize,
    last: f64,
    up: f64,
    down: f64,
}

impl Rsi {
    /// Returns the RSI at this close, `None` during warm-up.
    #[inline]
    pub fn next(&mut self, close: f64) -> Option<f64> {
        let period = PERIOD as f64;
        if self.seen > 0 {
            let change = close - self.last;
            let (gain, loss) = (change.max(0.0), (-change).max(0.0));
            if self.seen <= PERIOD {
                self.up += gain / period;
                self.down += loss / period;
            } else {
                self.up += (gain - self.up) / period;
                self.down += (loss - self.down) / period;
            }
        }
        self.last = close;
        self.seen += 1;
        let moved = self.up + self.down;
        let index = if moved == 0.0 { 50.0 } else { 100.0 * self.up / moved };
        (self.seen > PERIOD).then_some(index)
    }
}

/// Returns 1 for a buy, -1 for a sell, 0 for no trade.
#[inline]
pub fn side(index: f64) -> i8 {
    i8::from(index < LOW) - i8::from(index > HIGH)
}

/// Runs the reference in two passes, as `work.py` does. The caller provides the buffer of the RSI, so that page faults of new
/// memory are not measured.
pub fn by_hand(close: &[f64], index: &mut Vec<f64>) -> Outcome {
    let mut rsi = Rsi::default();
    index.clear();
    index.extend(close.iter().map(|&close| rsi.next(close).unwrap_or(f64::NAN)));
    let mut outcome = Outcome::default();
    let mut at = 0;
    while at + HOLD < close.len() {
        let side = side(index[at]);
        if side == 0 {
            at += 1;
            continue;
        }
        let earned = (close[at + HOLD] - close[at]) * f64::from(side);
        outcome.trades += 1;
        outcome.won += usize::from(earned > 0.0);
        outcome.earned += earned;
        at += HOLD + 1;
    }
    outcome
}
