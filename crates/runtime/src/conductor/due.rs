//! Begins what is due: one task per question.

use super::Conductor;
use crate::agenda::Job;
use crate::request::{self, Asked, Report, Wanted};
use candlewick_engine::{IntentId, SeriesId, SymbolId};
use candlewick_sdk::Millis;
use std::sync::Arc;

impl Conductor {
    /// Asks everything that is due by now.
    pub(super) fn begin_due(&mut self) {
        let now = self.clock.now();
        while let Some((due, job)) = self.agenda.pop_due(now) {
            match job {
                Job::Candles(series) => self.ask_candles(series, now),
                Job::Price(symbol) => self.ask_price(symbol, due),
                Job::Trade(intent) => self.ask_trade(intent, due),
                Job::List => self.ask_list(),
                Job::Audit => self.ask_audit(),
                Job::Wallets => self.ask(Asked::Job(job), request::ask_wallets(Arc::clone(&self.venue))),
            }
        }
    }

    /// Begins a request, and remembers what it is about.
    pub(super) fn ask(&mut self, asked: Asked, request: impl Future<Output = Report> + Send + 'static) {
        let id = self.requests.spawn(request).id();
        self.asked.insert(id, asked);
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
        let (series, watch) = (self.session.series()[id.index()], &self.candles[id.index()]);
        // The candles of one close wait for each other, however often one has to be asked for.
        self.gate.await_job(watch.due_close(), watch.ask_at(), Job::Candles(id));
        let wanted = Wanted {
            symbol: series.symbol,
            asset_type: self.asset_types[id.index()].clone(),
            interval: series.interval,
            start: watch.window_start(),
            now,
        };
        let venue = Arc::clone(&self.venue);
        self.ask(Asked::Job(Job::Candles(id)), request::ask_candles(venue, id, wanted));
    }

    fn ask_price(&mut self, id: SymbolId, due: Millis) {
        self.gate.await_job(due, due, Job::Price(id));
        let (venue, symbol) = (Arc::clone(&self.venue), self.session.symbols()[id.index()]);
        self.ask(Asked::Job(Job::Price(id)), request::ask_price(venue, id, symbol, due));
    }

    fn ask_trade(&mut self, intent: IntentId, due: Millis) {
        let Some(trade) = self.trades.find(intent) else { return };
        let (venue, id) = (Arc::clone(&self.venue), trade.venue_id.clone());
        self.gate.await_job(due, due, Job::Trade(intent));
        self.ask(Asked::Job(Job::Trade(intent)), request::ask_trade(venue, intent, id));
    }

    /// The first moment of the price grid after `now`.
    pub(super) fn next_grid(&self, now: Millis) -> Millis {
        let every = Millis::new(i64::from(self.settings.price_every_ms.max(100)));
        now.floor_to(every) + every
    }
}
