//! Trades whose end is known when they are approved, brought to it at once.
//!
//! For a search that runs one strategy a thousand times over what is past: nothing is sent anywhere. Every rule is asked, and the
//! books are kept as if each event had come in its time.

use super::{Moment, Session};
use crate::risk::{self, OrderTerms, Probe, Proposal};
use crate::{BotId, Origin, Rule, SeriesId};
use candlewick_sdk::{Candle, Millis, Money, Outcome, Payout, Settlement, Signal};

/// What becomes of a trade, where nothing else happens before its end is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foretold {
    /// When the venue's answer arrives.
    pub answered_at: Millis,
    /// What a win pays, as the answer tells.
    pub payout: Payout,
    /// When its settlement becomes known.
    pub settled_at: Millis,
    /// How it ends.
    pub outcome: Outcome,
    /// Net profit.
    pub profit: Money,
}

/// Candles that were shown, and what came of them.
#[derive(Debug)]
pub struct Shown {
    /// How many.
    pub count: usize,
    /// Answers that nobody heard.
    pub unheard: u64,
    /// What became of the answer to the last.
    pub answer: Option<Result<Traded, Rule>>,
}

/// A signal that every rule let pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traded {
    /// Its end was known: it is over, and booked.
    Ended {
        /// What its strategy would be told,
        settlement: Settlement,
        /// and when.
        settled_at: Millis,
    },
    /// It is under way, as after [`Session::handle`].
    UnderWay(OrderTerms),
}

impl Session {
    /// Takes a candle of a bot's series that closed at `close`, and that its strategy is known to answer with this signal.
    /// The same as [`handle_candles`](Self::handle_candles) of this candle, when no candle since the last one that was
    /// handed in has been answered; neither it nor they are shown to the strategy.
    ///
    /// When every rule lets it pass, `fate` is asked what becomes of the trade. Where it knows, that is booked at once, as by
    /// [`handle`](Self::handle) of the answer and of the settlement; nothing else may happen before that.
    ///
    /// # Errors
    /// The rule that refuses it.
    #[inline]
    pub fn answer_foretold(
        &mut self,
        bot: BotId,
        close: Millis,
        signal: &Signal,
        fate: impl FnOnce(&OrderTerms) -> Option<Foretold>,
    ) -> Result<Traded, Rule> {
        self.pass_time_unseen(close);
        self.bots[bot.index()].last_close = close;
        self.trade(bot, signal, close, fate)
    }

    /// Shows candles to the only bot of a series, as [`handle_candles`](Self::handle_candles), up to the first that it answers.
    /// `fate` is told the place of the candle among these.
    ///
    /// After a trade, nobody hears the answers to so many of them, which are certain to be refused, and the strategy is told of its
    /// settlement behind those.
    #[inline]
    pub fn show_foretold(
        &mut self,
        series: SeriesId,
        after: Option<(usize, &Settlement)>,
        candles: &[Candle],
        fate: impl FnOnce(usize, &OrderTerms) -> Option<Foretold>,
    ) -> Shown {
        let Some([id]) = self.listeners.get(series.index()).map(Vec::as_slice) else {
            return Shown { count: candles.len(), unheard: 0, answer: None };
        };
        let id = *id;
        let bot = &mut self.bots[id.index()];
        let mut signal = None;
        let (count, unheard) = match after {
            Some(after) => bot.on_candles_after(after, candles, &mut signal),
            None => (bot.on_candles(candles, &mut signal), 0),
        };
        let Some(signal) = signal.as_ref().filter(|_| bot.is_warm()) else {
            return Shown { count, unheard, answer: None };
        };
        let close = bot.last_close;
        self.pass_time_unseen(close);
        let answer = self.trade(id, signal, close, |terms| fate(count - 1, terms));
        Shown { count, unheard, answer: Some(answer) }
    }

    #[inline]
    fn trade(
        &mut self,
        bot: BotId,
        signal: &Signal,
        close: Millis,
        fate: impl FnOnce(&OrderTerms) -> Option<Foretold>,
    ) -> Result<Traded, Rule> {
        let moment = Moment { at: close, received: close, origin: Origin::Live };
        let (proposal, probe) = self.proposal(bot, signal, moment);
        let terms = risk::order_terms(&proposal, self.view())?;
        let Some(foretold) = fate(&terms) else {
            self.begin(&proposal, probe);
            return Ok(Traded::UnderWay(terms));
        };
        self.pass_through(&proposal, probe, &foretold);
        let (direction, decision_time) = (proposal.direction, proposal.at);
        let Foretold { outcome, profit, settled_at, .. } = foretold;
        let settlement = Settlement { direction, decision_time, outcome, profit };
        Ok(Traded::Ended { settlement, settled_at })
    }

    /// Books an approved trade from its stake to its end.
    #[allow(clippy::inline_always, reason = "what is handed over in memory is waited for")]
    #[inline(always)]
    fn pass_through(&mut self, proposal: &Proposal<'_>, probe: Probe, foretold: &Foretold) {
        let (bot, symbol) = (proposal.bot, proposal.symbol);
        let Foretold { answered_at, payout, settled_at, outcome, profit } = *foretold;
        let id = self.intents.pass();
        self.stake_on(proposal, id, probe);
        self.pass_time_unseen(answered_at);
        self.state.record_payout(symbol, payout, answered_at);
        self.bots[bot.index()].verdict.on_answered(symbol, payout);
        self.pass_time_unseen(settled_at);
        self.book_end((bot, symbol, id), proposal.stake, (outcome, profit, Some(payout)), settled_at);
        // What falls is followed by the rules, and noted nowhere.
        self.bots[bot.index()].verdict.on_settled((bot, id), (outcome, Some(payout)), settled_at);
    }

    /// What time alone brings about, where nobody notes it.
    #[inline]
    fn pass_time_unseen(&mut self, now: Millis) {
        if self.is_time_due(now) {
            self.pass_time_forgotten(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn pass_time_forgotten(&mut self, now: Millis) {
        if self.ledger.is_day_over(now) {
            self.begin_day(now);
        }
        if now >= self.next_release {
            self.release(now);
        }
    }
}
