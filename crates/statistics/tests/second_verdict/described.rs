//! Direct implementation of the documented verdict: stores every trade, recomputes every sum.

struct Trade {
    seen: f64,
    staked: Vec<f64>,
    decided: usize,
    /// Time of the end, return unless cancelled, and payout of a win.
    ended: Option<(usize, Option<f64>, f64)>,
}

pub(crate) struct Described {
    alpha: f64,
    beta: f64,
    delta: f64,
    clock: usize,
    trades: Vec<Trade>,
    /// Value of the edge account before each stake, with open stakes counted as lost.
    held: Vec<f64>,
    pub(crate) is_shown: bool,
    pub(crate) is_rejected: bool,
}

/// Parts of the edge account in 64ths with their edges in deltas, then of the mirror with shortfalls.
const PARTS: [(f64, f64); 6] = [
    (22.0 / 64.0, 1.1),
    (8.0 / 64.0, 1.99),
    (17.0 / 64.0, 3.59),
    (17.0 / 64.0, 6.5),
    (11.0 / 16.0, 1.1),
    (5.0 / 16.0, 3.0),
];
const OF_EDGE: usize = 4;

impl Described {
    pub(crate) const fn new(alpha: f64, beta: f64, delta: f64) -> Self {
        Self {
            alpha,
            beta,
            delta,
            clock: 0,
            trades: Vec::new(),
            held: Vec::new(),
            is_shown: false,
            is_rejected: false,
        }
    }

    pub(crate) fn settled(&self) -> u64 {
        self.trades.iter().filter(|trade| matches!(trade.ended, Some((_, Some(_), _)))).count() as u64
    }

    fn part(&self, place: usize) -> f64 {
        let gain = |trade: &Trade| {
            let staked = trade.staked[place];
            let Some((_, trade_return, pays)) = trade.ended else { return -staked };
            let Some(trade_return) = trade_return else { return 0.0 };
            if place < OF_EDGE {
                return staked * trade_return;
            }
            let bound = [1.0, trade.seen, pays].into_iter().fold(0.0, f64::max);
            if staked > 0.0 { staked * (self.delta - trade_return) / (bound - self.delta) } else { 0.0 }
        };
        PARTS[place].0 + self.trades.iter().map(gain).sum::<f64>()
    }

    pub(crate) fn edge(&self) -> f64 {
        (0..OF_EDGE).map(|place| self.part(place)).sum()
    }

    pub(crate) fn least_edge(&self) -> f64 {
        self.held.iter().copied().fold(self.edge(), f64::min)
    }

    pub(crate) fn mirror(&self) -> f64 {
        (OF_EDGE..PARTS.len()).map(|place| self.part(place)).sum()
    }

    /// Returns the divisor for overlap, over all pairs of trades that were or are open at the same time.
    fn divisor(&self) -> f64 {
        let ended: Vec<(usize, usize, f64)> = self
            .trades
            .iter()
            .filter_map(|trade| {
                let (at, trade_return, _) = trade.ended?;
                Some((trade.decided, at, trade_return?))
            })
            .collect();
        let mut pairs = 0.0;
        for (place, (decided, at, trade_return)) in ended.iter().enumerate() {
            for (other_decided, other_at, other_return) in &ended[..place] {
                if decided < other_at && other_decided < at {
                    pairs += trade_return * other_return;
                }
            }
        }
        let squares: f64 = ended.iter().map(|(.., trade_return)| trade_return * trade_return).sum();
        let open = self.trades.iter().filter(|trade| trade.ended.is_none()).count() as f64;
        1.0 + (2.0 * pairs.max(0.0) + 10.0 * open) / (squares + 10.0)
    }

    pub(crate) fn decide(&mut self, seen: f64) -> usize {
        self.clock += 1;
        let mut staked = vec![0.0; PARTS.len()];
        if !self.is_shown && !self.is_rejected {
            self.held.push(self.edge());
            let (delta, divisor) = (self.delta, self.divisor());
            for (place, (_, deltas)) in PARTS.iter().enumerate() {
                let fraction = if place < OF_EDGE {
                    deltas * delta / seen
                } else if seen > delta {
                    deltas * delta / (1.0 + delta) * (seen.max(1.0) - delta) / (seen - delta)
                } else {
                    0.0
                };
                staked[place] = self.part(place) * (fraction / divisor).min(0.35);
            }
            let on_edge: f64 = staked[..OF_EDGE].iter().sum();
            let needed = (1.0 / self.alpha - self.edge()) / seen;
            if on_edge > needed {
                let factor = (needed / on_edge * (1.0 + 1e-9)).clamp(0.0, 1.0);
                staked[..OF_EDGE].iter_mut().for_each(|stake| *stake *= factor);
            }
        }
        self.trades.push(Trade { seen, staked, decided: self.clock, ended: None });
        self.trades.len() - 1
    }

    pub(crate) fn end(&mut self, trade: usize, trade_return: Option<f64>, pays: f64) {
        self.clock += 1;
        self.trades[trade].ended = Some((self.clock, trade_return, pays));
        if trade_return.is_some() && !self.is_shown && !self.is_rejected {
            self.is_shown = self.edge() >= 1.0 / self.alpha;
            self.is_rejected = !self.is_shown && self.mirror() >= 1.0 / self.beta;
        }
    }
}
