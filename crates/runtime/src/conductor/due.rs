//! Begins what is due: one task per question.

use super::Conductor;
use crate::agenda::Job;
use crate::request::{self, Wanted};
use candlewick_engine::{IntentId, SeriesId, SymbolId};
use candlewick_sdk::Millis;
use std::sync::Arc;

impl Conductor {
    /// Asks everything that is due by now.
    pub(super) fn begin_due(&mut self) {
        let now = self.clock.now();
        while let Some((due, job)) = self.agenda.pop_due(now) {
            if job.is_awaited() {
                self.gate.await_job(due, now, job);
            }
            match job {
                Job::Candles(series) => self.ask_candles(series, now),
                Job::Price(symbol) => self.ask_price(symbol, due, now),
                Job::Trade(intent) => self.ask_trade(intent),
                Job::Wallets => {
                    self.requests.spawn(request::ask_wallets(Arc::clone(&self.venue)));
                    self.agenda.add(now + self.wallet_pace(), Job::Wallets);
                }
            }
        }
    }

    /// Puts every symbol's next grid moment on the agenda.
    pub(super) fn begin_prices(&mut self, now: Millis) {
        for id in self.symbol_ids() {
            if self.priced[id.index()] || self.settings.watch_prices {
                self.agenda.add(self.next_grid(now), Job::Price(id));
            }
        }
    }

    fn ask_candles(&mut self, id: SeriesId, now: Millis) {
        let series = self.session.series()[id.index()];
        let wanted = Wanted {
            symbol: series.symbol,
            asset_type: self.asset_types[id.index()].clone(),
            interval: series.interval,
            start: self.candles[id.index()].window_start(),
            now,
        };
        self.requests.spawn(request::ask_candles(Arc::clone(&self.venue), Job::Candles(id), wanted));
    }

    fn ask_price(&mut self, id: SymbolId, due: Millis, now: Millis) {
        let symbol = self.session.symbols()[id.index()];
        self.requests.spawn(request::ask_price(Arc::clone(&self.venue), Job::Price(id), symbol, due));
        self.agenda.add(self.next_grid(now), Job::Price(id));
    }

    fn ask_trade(&mut self, intent: IntentId) {
        match self.trades.find(intent) {
            Some(trade) => {
                let (venue, id) = (Arc::clone(&self.venue), trade.venue_id.clone());
                self.requests.spawn(request::ask_trade(venue, Job::Trade(intent), intent, id));
            }
            None => self.gate.settle_job(Job::Trade(intent)),
        }
    }

    fn next_grid(&self, now: Millis) -> Millis {
        let every = Millis::new(i64::from(self.settings.price_every_ms.max(100)));
        now.floor_to(every) + every
    }
}
