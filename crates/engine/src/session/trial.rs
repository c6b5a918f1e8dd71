//! Trial sessions for parameter searches. An approved trade is booked at once, including its result.
//!
//! A search runs a strategy thousands of times over past candles and never sends an order. All rules apply, and the
//! books are the same as if each event had arrived at its own time.

use super::{Moment, Session};
use crate::risk::{self, OrderTerms, PayoutProbe, Proposal};
use crate::{Action, BotId, EngineError, Event, Origin, Rule};
use candlewick_sdk::{Candle, Millis, Money, Outcome, Payout, Settlement, Signal};

/// A Session with a single bot, for parameter searches. No trade of a trial becomes an
/// [`ApprovedTrade`](crate::ApprovedTrade), so no driver can open it. A trial cannot be turned back into a [`Session`].
pub struct TrialSession {
    session: Session,
    actions: Vec<Action>,
}

/// The outcome of a trade, known when the trade is approved. No other event may occur before the settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrecomputedOutcome {
    /// Time of the venue's reply.
    pub answered_at: Millis,
    /// Payout of a win, as stated in the venue's reply.
    pub payout: Payout,
    /// Time at which the settlement becomes known.
    pub settled_at: Millis,
    /// Outcome of the trade.
    pub outcome: Outcome,
    /// Net profit of the trade.
    pub profit: Money,
}

/// The result of passing candles to a strategy.
#[derive(Debug)]
pub struct TrialBatch {
    /// Number of candles passed to the strategy.
    pub candle_count: usize,
    /// Number of signals that were suppressed because they would certainly be rejected.
    pub suppressed: u64,
    /// Result of the signal on the last candle, `None` without a signal.
    pub result: Option<Result<BookedTrade, Rule>>,
}

/// A trade that passed every rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BookedTrade {
    /// A trade whose precomputed outcome was booked at once.
    Settled {
        /// Settlement to pass to the strategy.
        settlement: Settlement,
        /// Time of the settlement.
        settled_at: Millis,
    },
    /// A pending trade. The reply and the settlement follow as events.
    Pending(OrderTerms),
}

impl TrialSession {
    /// Creates a trial from a Session that has not handled any event. Fails unless the Session has exactly one bot.
    pub fn new(session: Session) -> Result<Self, EngineError> {
        if session.bots.len() != 1 {
            return Err(EngineError::setting("bots", "a trial needs exactly one bot"));
        }
        Ok(Self { session, actions: Vec::with_capacity(16) })
    }

    /// Disables the verdicts, unless a risk rule or a stake rule uses verdicts.
    pub fn disable_verdicts(&mut self) {
        if !self.session.limits.enforce_verdict {
            let unused = self.session.bots.iter_mut().filter(|bot| !bot.stake.depends_on_win_rate());
            unused.for_each(|bot| bot.verdict.disable());
        }
    }

    /// Returns the Session for inspection.
    #[inline]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Handles a reply or settlement from the venue. Such an event never leads to a new trade.
    #[inline(never)]
    pub fn handle(&mut self, event: &Event) {
        self.session.handle(event, &mut self.actions);
        self.actions.clear();
    }

    /// Handles a signal that was computed in advance, on the candle that closed at `close`.
    ///
    /// Equivalent to [`Session::handle_candles`] up to `close`, except that the strategy sees no candles. Pass all
    /// signals in order, without omissions. If the signal passes every rule, `outcome` is called. If it returns an
    /// outcome, the trade is booked at once, as if [`Session::handle`] had handled its reply and settlement.
    /// No other event may occur before the settlement.
    #[inline]
    pub fn handle_signal(
        &mut self,
        close: Millis,
        signal: &Signal,
        outcome: impl FnOnce(&OrderTerms) -> Option<PrecomputedOutcome>,
    ) -> Result<BookedTrade, Rule> {
        self.advance_to(close);
        self.session.bots[BotId::FIRST.index()].last_close = close;
        self.book_signal(signal, close, outcome)
    }

    /// Passes candles to the bot up to the first signal, like [`Session::handle_candles`].
    /// `outcome` receives the index of the signal's candle and the terms of the order. `after` is the number of candles
    /// before the settlement of the previous trade, and that settlement. Signals on these candles are suppressed.
    #[inline]
    pub fn feed_candles(
        &mut self,
        after: Option<(usize, &Settlement)>,
        candles: &[Candle],
        outcome: impl FnOnce(usize, &OrderTerms) -> Option<PrecomputedOutcome>,
    ) -> TrialBatch {
        let bot = &mut self.session.bots[BotId::FIRST.index()];
        let mut signal = None;
        let (count, suppressed) = match after {
            Some(after) => bot.on_candles_after_trade(after, candles, &mut signal),
            None => (bot.on_candles(candles, &mut signal), 0),
        };
        let Some(signal) = signal.as_ref().filter(|_| bot.is_warm()) else {
            return TrialBatch { candle_count: count, suppressed, result: None };
        };
        let close = bot.last_close;
        self.advance_to(close);
        let answer = self.book_signal(signal, close, |terms| outcome(count - 1, terms));
        TrialBatch { candle_count: count, suppressed, result: Some(answer) }
    }

    /// Passes candles to the bot and returns the number of signals. Call this only while all signals would be rejected.
    pub fn suppress_signals(&mut self, candles: &[Candle]) -> u64 {
        self.session.bots[BotId::FIRST.index()].on_candles_without_signals(candles)
    }

    /// Returns whether the maximum number of open trades is reached for the bot's symbol.
    /// Every signal is then rejected until a trade ends.
    #[inline]
    pub fn is_at_trade_limit(&self) -> bool {
        let Session { bots, limits, intents, .. } = &self.session;
        limits.is_open_trade_cap_reached(intents, intents.counts(bots[BotId::FIRST.index()].symbol))
    }

    /// Returns the earliest time at which a signal may be approved, unless an event occurs first.
    /// `now` is the time of the last candle or event. Returns `now` if the next signal may be approved.
    pub fn refused_until(&self, now: Millis) -> Millis {
        let session = &self.session;
        let proposal = session.sample_proposal(BotId::FIRST, now);
        // Giving up a ladder lowers the stake, which may then pass the limits.
        let gives_up = session.bots[BotId::FIRST.index()].level_deadline().filter(|from| *from > now);
        let until =
            risk::refused_until(&proposal, session.risk_view(proposal.symbol)).min(session.next_release);
        gives_up.map_or(until, |from| until.min(from))
    }

    #[inline]
    fn book_signal(
        &mut self,
        signal: &Signal,
        close: Millis,
        outcome: impl FnOnce(&OrderTerms) -> Option<PrecomputedOutcome>,
    ) -> Result<BookedTrade, Rule> {
        let moment = Moment { at: close, received: close, last_close: close, origin: Origin::Live };
        let session = &mut self.session;
        let (proposal, probe) = session.proposal(BotId::FIRST, signal, moment);
        let terms = risk::order_terms(&proposal, session.risk_view(proposal.symbol))?;
        let Some(precomputed) = outcome(&terms) else {
            session.begin_trade(&proposal, probe);
            return Ok(BookedTrade::Pending(terms));
        };
        self.book_settled_trade(&proposal, probe, &precomputed);
        let (direction, decision_time) = (proposal.direction, proposal.at);
        let PrecomputedOutcome { outcome, profit, settled_at, .. } = precomputed;
        let settlement = Settlement { direction, decision_time, outcome, profit };
        Ok(BookedTrade::Settled { settlement, settled_at })
    }

    /// Books a trade and its result. The stake is not reserved, because nothing would read the reservation.
    #[allow(clippy::inline_always, reason = "its arguments stay out of memory: see docs/performance.md")]
    #[inline(always)]
    fn book_settled_trade(
        &mut self,
        proposal: &Proposal<'_>,
        probe: PayoutProbe,
        known: &PrecomputedOutcome,
    ) {
        let (bot, symbol) = (proposal.bot, proposal.symbol);
        let PrecomputedOutcome { answered_at, payout, settled_at, outcome, profit } = *known;
        let id = self.session.intents.take_next_id();
        self.session.count_trade(proposal, id, probe);
        self.advance_to(answered_at);
        self.session.state.record_payout(symbol, payout, answered_at);
        self.session.bots[bot.index()].verdict.on_answered(id, symbol, payout);
        self.advance_to(settled_at);
        self.session.ledger.add_profit(profit);
        if probe == PayoutProbe::Needed {
            self.session.state.end_probe(symbol, id);
        }
        self.session.count_settlement(
            (bot, id),
            (symbol, proposal.direction),
            (outcome, profit, Some(payout)),
            settled_at,
        );
        // A verdict updates the rules but does not create an action.
        self.session.bots[bot.index()].verdict.on_settled((bot, id), (outcome, Some(payout)), settled_at);
    }

    #[inline]
    fn advance_to(&mut self, now: Millis) {
        if self.session.is_time_due(now) {
            self.begin_day_or_release_stakes(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_day_or_release_stakes(&mut self, now: Millis) {
        if self.session.ledger.is_day_over(now) {
            self.session.begin_day(now);
        }
        if now >= self.session.next_release {
            self.session.handle_due_time(now);
        }
    }
}
