//! A trial of a search: a Session whose trades are booked to their ends when they are approved.
//!
//! A search runs one strategy a thousand times over past candles, where nothing is sent anywhere. Every rule is asked, and the
//! books are kept as if each event had come in its time.

use super::{Moment, Session};
use crate::risk::{self, OrderTerms, Probe, Proposal};
use crate::{Action, BotId, EngineError, Event, Origin, Rule};
use candlewick_sdk::{Candle, Millis, Money, Outcome, Payout, Settlement, Signal};

/// A Session of one bot that only a search can use. It is made by consuming a [`Session`] and never becomes one again, and
/// what it books never becomes an [`Approved`](crate::Approved) trade: no driver can open any of it.
pub struct TrialSession {
    session: Session,
    /// Where the Session puts its actions; nobody reads them.
    actions: Vec<Action>,
}

/// The outcome of a trade that is known when the trade is approved. Nothing else happens before the trade has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrecomputedOutcome {
    /// When the venue's answer arrives.
    pub answered_at: Millis,
    /// What a win pays, as the answer says.
    pub payout: Payout,
    /// When its settlement becomes known.
    pub settled_at: Millis,
    /// How it ends.
    pub outcome: Outcome,
    /// Net profit.
    pub profit: Money,
}

/// A stretch of candles that was shown to a strategy, and what came of it.
#[derive(Debug)]
pub struct TrialStretch {
    /// How many were shown.
    pub count: usize,
    /// How many signals were suppressed.
    pub suppressed: u64,
    /// What became of the signal on the last candle.
    pub answer: Option<Result<BookedTrade, Rule>>,
}

/// A trade that every rule let pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BookedTrade {
    /// Its outcome was precomputed: it is booked to its end.
    Settled {
        /// What its strategy is shown.
        settlement: Settlement,
        /// When.
        settled_at: Millis,
    },
    /// It is under way: the venue's answer and its settlement come as events.
    UnderWay(OrderTerms),
}

impl TrialSession {
    /// Takes over a Session that has not been handed anything.
    ///
    /// # Errors
    /// [`EngineError`] when it does not have exactly one bot.
    pub fn new(session: Session) -> Result<Self, EngineError> {
        if session.bots.len() != 1 {
            return Err(EngineError::setting("bots", "a trial has exactly one bot"));
        }
        Ok(Self { session, actions: Vec::with_capacity(16) })
    }

    /// Disables verdicts that neither a risk rule nor a stake depends on.
    pub fn disable_verdicts(&mut self) {
        if !self.session.limits.enforce_verdict {
            let unused = self.session.bots.iter_mut().filter(|bot| !bot.stake.is_by_edge());
            unused.for_each(|bot| bot.verdict.disable());
        }
    }

    /// The Session, to be looked at.
    #[inline]
    pub const fn session(&self) -> &Session {
        &self.session
    }

    /// Takes what the venue says: an answer or a settlement. No trade follows from either.
    #[inline(never)]
    pub fn handle(&mut self, event: &Event) {
        self.session.handle(event, &mut self.actions);
        self.actions.clear();
    }

    /// Takes a candle that closed at `close`, and that the bot's strategy is known to answer with this signal.
    /// The same as [`Session::handle_candles`] of this candle, when no candle since the last one that was
    /// handed in has been answered; neither it nor they are shown to the strategy.
    ///
    /// When every rule lets it pass, `outcome` is asked for the trade's outcome. Where there is one it is booked at once, as by
    /// [`Session::handle`] of the answer and of the settlement; nothing else may happen before that.
    ///
    /// # Errors
    /// The rule that refuses it.
    #[inline]
    pub fn handle_signal(
        &mut self,
        close: Millis,
        signal: &Signal,
        outcome: impl FnOnce(&OrderTerms) -> Option<PrecomputedOutcome>,
    ) -> Result<BookedTrade, Rule> {
        self.pass_time(close);
        self.session.bots[BotId::FIRST.index()].last_close = close;
        self.book(signal, close, outcome)
    }

    /// Shows candles to the bot, as [`Session::handle_candles`], up to the first that it answers.
    /// `outcome` is also given the place of that candle among these.
    ///
    /// `after` is a trade: signals on so many candles are certain to be refused and are suppressed, and the strategy is shown
    /// the settlement behind those.
    #[inline]
    pub fn show_candles(
        &mut self,
        after: Option<(usize, &Settlement)>,
        candles: &[Candle],
        outcome: impl FnOnce(usize, &OrderTerms) -> Option<PrecomputedOutcome>,
    ) -> TrialStretch {
        let bot = &mut self.session.bots[BotId::FIRST.index()];
        let mut signal = None;
        let (count, suppressed) = match after {
            Some(after) => bot.on_candles_after(after, candles, &mut signal),
            None => (bot.on_candles(candles, &mut signal), 0),
        };
        let Some(signal) = signal.as_ref().filter(|_| bot.is_warm()) else {
            return TrialStretch { count, suppressed, answer: None };
        };
        let close = bot.last_close;
        self.pass_time(close);
        let answer = self.book(signal, close, |terms| outcome(count - 1, terms));
        TrialStretch { count, suppressed, answer: Some(answer) }
    }

    /// Shows candles to the bot while every signal of it is certain to be refused; how many it gave.
    pub fn show_suppressed(&mut self, candles: &[Candle]) -> u64 {
        self.session.bots[BotId::FIRST.index()].on_candles_suppressed(candles)
    }

    /// Whether as many trades are under way as may be on the bot's symbol: whatever it signals before one of them has ended is
    /// refused.
    #[inline]
    pub fn is_full(&self) -> bool {
        let Session { bots, limits, intents, .. } = &self.session;
        limits.is_full(intents, intents.counts(bots[BotId::FIRST.index()].symbol))
    }

    /// Before when every signal of the bot is certain to be refused, if no event comes first; `now` is the moment of the
    /// last candle or event, and the answer when the next signal may be approved.
    pub fn refuses_until(&self, now: Millis) -> Millis {
        let session = &self.session;
        let proposal = session.any_proposal(BotId::FIRST, now);
        // A ladder that is given up stakes less, which a limit may let pass.
        let gives_up = session.bots[BotId::FIRST.index()].gives_up_from().filter(|from| *from > now);
        let until = risk::refuses_until(&proposal, session.view(proposal.symbol)).min(session.next_release);
        gives_up.map_or(until, |from| until.min(from))
    }

    #[inline]
    fn book(
        &mut self,
        signal: &Signal,
        close: Millis,
        outcome: impl FnOnce(&OrderTerms) -> Option<PrecomputedOutcome>,
    ) -> Result<BookedTrade, Rule> {
        let moment = Moment { at: close, received: close, last_close: close, origin: Origin::Live };
        let session = &mut self.session;
        let (proposal, probe) = session.proposal(BotId::FIRST, signal, moment);
        let terms = risk::order_terms(&proposal, session.view(proposal.symbol))?;
        let Some(precomputed) = outcome(&terms) else {
            session.begin(&proposal, probe);
            return Ok(BookedTrade::UnderWay(terms));
        };
        self.book_to_end(&proposal, probe, &precomputed);
        let (direction, decision_time) = (proposal.direction, proposal.at);
        let PrecomputedOutcome { outcome, profit, settled_at, .. } = precomputed;
        let settlement = Settlement { direction, decision_time, outcome, profit };
        Ok(BookedTrade::Settled { settlement, settled_at })
    }

    /// Books a trade from its stake to its end. Between the two nothing looks at its stake, which is therefore not reserved.
    #[allow(clippy::inline_always, reason = "its arguments stay out of memory: see docs/performance.md")]
    #[inline(always)]
    fn book_to_end(&mut self, proposal: &Proposal<'_>, probe: Probe, precomputed: &PrecomputedOutcome) {
        let (bot, symbol) = (proposal.bot, proposal.symbol);
        let PrecomputedOutcome { answered_at, payout, settled_at, outcome, profit } = *precomputed;
        let id = self.session.intents.pass();
        self.session.count_trade(proposal, id, probe);
        self.pass_time(answered_at);
        self.session.state.record_payout(symbol, payout, answered_at);
        self.session.bots[bot.index()].verdict.on_answered(id, symbol, payout);
        self.pass_time(settled_at);
        self.session.ledger.earn(profit);
        if probe == Probe::Needed {
            self.session.state.end_probe(symbol, id);
        }
        self.session.count_end(
            (bot, id),
            (symbol, proposal.direction),
            (outcome, profit, Some(payout)),
            settled_at,
        );
        // A verdict updates the rules; no action is made of it.
        self.session.bots[bot.index()].verdict.on_settled((bot, id), (outcome, Some(payout)), settled_at);
    }

    /// What time alone brings about, without actions.
    #[inline]
    fn pass_time(&mut self, now: Millis) {
        if self.session.is_time_due(now) {
            self.begin_day_or_release(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_day_or_release(&mut self, now: Millis) {
        if self.session.ledger.is_day_over(now) {
            self.session.begin_day(now);
        }
        if now >= self.session.next_release {
            self.session.release(now);
        }
    }
}
