//! The Session, which combines bots, risk rules, ledger and intents, and handles all events.

mod booking;
mod earlier;
mod history;
mod limits;
mod next_stake;
mod obstacles;
mod snapshot;
mod stretch;
mod tournament;
mod trial;
mod verdicts;

pub use obstacles::{LadderLevel, Obstacle, StakeBound, StakeViolation};
pub use snapshot::{RestoreError, SessionSnapshot, SnapshotOrigin};
pub use stretch::{BatchEnd, StoredCandles};
pub use trial::{BookedTrade, PrecomputedOutcome, TrialBatch, TrialSession};

use crate::bot::Bot;
use crate::intent::{Intent, Intents};
use crate::nominal::nominal_close;
use crate::outside_signal::KnownSignals;
use crate::risk::{self, Limits, PayoutProbe, Proposal, RiskState, RiskView};
use crate::stake::Stake;
use crate::{
    Action, ApprovedTrade, BotId, Control, EngineError, Event, EventKind, IntentId, Ledger, OrderTerms,
    Origin, OutsideSignal, RefusedSignal, Rule, SecondTrade, SeriesId, SessionSettings, SymbolId,
    TradeSettlement, VenueId,
};
use candlewick_sdk::{
    Candle, CoverageRule, Expiry, Interval, LongerCandles, Millis, Money, MoneyScale, Price, Series, Signal,
    Staleness, Strategy, Symbol,
};
use candlewick_statistics::AlphaBudget;
use earlier::position_or_push;
use history::History;
use std::iter;
use verdicts::SharedVerdicts;

const TYPICAL_OPEN_TRADES: usize = 64;

/// The trading logic, which turns events into actions.
/// A Session is deterministic and synchronous, and uses neither I/O nor a clock.
pub struct Session {
    bots: Vec<Bot>,
    names: Vec<String>,
    symbols: Vec<Symbol>,
    series: Vec<Series>,
    listeners: Vec<Vec<BotId>>,
    shared: SharedVerdicts,
    limits: Limits,
    /// Limits that apply from the next [`Control::Reload`].
    prepared: Option<Box<Limits>>,
    state: RiskState,
    ledger: Ledger,
    intents: Intents,
    second_trades: Vec<SecondTrade>,
    outside: Option<Box<KnownSignals>>,
    next_release: Millis,
    money_scale: MoneyScale,
    max_open_trades: u32,
    history: Option<Box<History>>,
}

impl Session {
    /// Creates a Session. `strategies` are in the order of the bots in `settings`.
    pub fn new(settings: &SessionSettings, strategies: Vec<Box<dyn Strategy>>) -> Result<Self, EngineError> {
        let scale = settings.money_scale;
        let balance = settings.exact_balance()?;
        let mut limits = Limits::new(&settings.risk, scale)?;
        let plan = settings.risk.verdict.to_plan()?;
        settings.check_longer_share()?;
        settings.check_bots(strategies.len())?;
        let budget = AlphaBudget::for_first_run(settings.bots.iter().map(|bot| bot.name.as_str()));
        let (mut symbols, mut series) = (Vec::new(), Vec::new());
        let mut listeners: Vec<Vec<BotId>> = Vec::new();
        let mut bots = Vec::with_capacity(strategies.len());
        for (index, (bot, strategy)) in settings.bots.iter().zip(strategies).enumerate() {
            let too_many = || EngineError::setting("bots", "too many bots; at most 65,535 are possible");
            let id = BotId::new(index).ok_or_else(too_many)?;
            let symbol = SymbolId::new(position_or_push(&mut symbols, bot.symbol)).ok_or_else(too_many)?;
            let place = position_or_push(&mut series, bot.series());
            listeners.resize(series.len(), Vec::new());
            listeners[place].push(id);
            SeriesId::new(place).ok_or_else(too_many)?;
            let stake = Stake::new(&bot.stake, scale, &format!("bots[{index}].stake"))?;
            let rule = CoverageRule::for_symbol(bot.symbol, settings.longer_share_percent);
            let longer =
                LongerCandles::new_with_coverage_rule(bot.interval, strategy.longer_intervals(), rule);
            let longer = longer.map_err(|error| {
                let problem = format!("strategy \"{}\" needs longer candles: {error}", bot.strategy);
                EngineError::setting(format!("bots[{index}].interval"), problem)
            })?;
            let judged = (stake, verdicts::new_verdict(plan, &budget, &bot.name));
            let delay = bot
                .entry_delay()
                .map_err(|problem| EngineError::setting(format!("bots[{index}].entry_delay_s"), problem))?;
            let mut made = Bot::new(symbol, bot.interval.length(), bot.expiry(), judged, (strategy, longer));
            (made.entry_delay, made.if_refused) = (delay, bot.stake.if_refused());
            made.reentry = bot.stake.enters_without_signal().then(Box::default);
            bots.push(made);
        }
        let names: Vec<String> = settings.bots.iter().map(|bot| bot.name.clone()).collect();
        limits.bind_ids(&names, &symbols);
        let mut session = Self {
            state: RiskState::new(&limits, symbols.len()).with_bots(names.len()),
            max_open_trades: limits.open_trade_cap(symbols.len()),
            intents: Intents::with_capacity(TYPICAL_OPEN_TRADES, symbols.len()),
            names,
            bots,
            symbols,
            series,
            listeners,
            shared: SharedVerdicts::default(),
            limits,
            prepared: None,
            ledger: Ledger::new(balance),
            second_trades: Vec::new(),
            outside: None,
            next_release: Millis::MAX,
            money_scale: scale,
            history: None,
        };
        session.begin_run_session();
        session.next_release = session.next_due_time();
        Ok(session)
    }

    /// Handles an event and appends the resulting actions.
    #[inline]
    pub fn handle(&mut self, event: &Event, actions: &mut Vec<Action>) {
        self.advance_to(event.at, actions);
        if let EventKind::Candle { series, candle, origin } = &event.kind {
            let moment = Moment::from_event(event, *origin);
            self.on_candle(*series, candle, moment, actions);
        } else {
            self.on_other_event(event, actions);
        }
    }

    #[inline]
    fn is_time_due(&self, now: Millis) -> bool {
        self.ledger.is_day_over(now) || now >= self.next_release
    }

    #[inline]
    fn advance_to(&mut self, now: Millis, actions: &mut Vec<Action>) {
        if self.ledger.is_day_over(now) {
            self.begin_day_with_action(now, actions);
        }
        if now >= self.next_release {
            self.handle_due_time(now);
        }
    }

    /// Handles all events except candles. A separate function keeps the code path of candles short.
    #[inline(never)]
    fn on_other_event(&mut self, event: &Event, actions: &mut Vec<Action>) {
        match &event.kind {
            EventKind::Candle { .. } => {}
            EventKind::Price { symbol, price } => {
                self.on_price(*symbol, price, Moment::from_event(event, Origin::Live), actions);
            }
            EventKind::OutsideSignal(signal) => self.on_outside_signal(signal, event, actions),
            EventKind::Opened(opened) => self.on_opened(opened, event.at),
            EventKind::Rejected { intent, rejection } => self.on_rejected(*intent, rejection, event.at),
            EventKind::NotSent { intent } => self.on_refused(*intent),
            EventKind::InDoubt { intent } => self.intents.mark_in_doubt(*intent),
            EventKind::Adopted(opened) => self.on_adopted(opened, event.at),
            EventKind::Reinstated(terms) => self.on_reinstated(terms),
            EventKind::NotOpened { intent, reserved_until } => self.on_not_opened(*intent, *reserved_until),
            EventKind::Deposit { amount } => self.deposit(*amount),
            EventKind::Settled(settled) => self.end_trade(settled, event.at, actions),
            EventKind::SettledByPerson { intent, outcome, profit } => {
                self.exclude_by_id(*intent);
                self.end_trade(
                    &TradeSettlement::from_operator(*intent, *outcome, *profit),
                    event.at,
                    actions,
                );
            }
            EventKind::Correction { intent, outcome, profit } => {
                self.on_correction(*intent, (*outcome, *profit), event.at, actions);
            }
            EventKind::SecondTrade(trade) => self.on_second_trade(trade),
            EventKind::SecondTradeSettled { venue_id, profit, .. } => {
                self.end_second_trade(venue_id, *profit);
            }
            EventKind::WalletDifference { amount } => self.record_wallet_difference(*amount),
            EventKind::Balance { amount } => self.ledger.record_wallet_balance(*amount),
            EventKind::Skew { offset } => self.state.skew = *offset,
            EventKind::Control { control: Control::Halt } => self.state.halted = true,
            EventKind::Control { control: Control::Suspend } => self.state.suspended = true,
            EventKind::Control { control: Control::Continue } => self.state.suspended = false,
            EventKind::Control { control: Control::Resume } => {
                self.state.resume();
                self.ledger.reset_peak_and_streak();
                self.resume_session();
            }
            EventKind::Control { control: Control::Reload } => self.reload(),
        }
    }

    /// Returns the id that the next intent will get.
    pub const fn next_intent(&self) -> IntentId {
        self.intents.next
    }

    /// Returns the intents that still have a reserved stake but no known trade.
    /// Each of these intents is in doubt or marked as not opened.
    pub fn reserved_intents(&self) -> impl Iterator<Item = IntentId> {
        self.intents.reserved_intents()
    }

    /// Returns the Session's ledger.
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns the number of decimals of money amounts.
    pub const fn money_scale(&self) -> MoneyScale {
        self.money_scale
    }

    /// Returns the symbols of the bots, in the order of their first appearance.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Returns the candle series of the bots, in the order of their first appearance.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// Returns the names of the bots, in bot order.
    pub fn bot_names(&self) -> &[String] {
        &self.names
    }

    /// Returns the id of a symbol, `None` if the Session does not know the symbol.
    pub fn symbol_id(&self, symbol: Symbol) -> Option<SymbolId> {
        self.symbols.iter().position(|known| *known == symbol).and_then(SymbolId::new)
    }

    #[inline]
    fn on_candle(&mut self, series: SeriesId, candle: &Candle, moment: Moment, actions: &mut Vec<Action>) {
        let count = self.listeners.get(series.index()).map_or(0, Vec::len);
        for position in 0..count {
            let bot = self.listeners[series.index()][position];
            let listener = &mut self.bots[bot.index()];
            let mut signal = None;
            listener.on_candles(std::slice::from_ref(candle), &mut signal);
            if let Some(signal) = &signal
                && listener.is_warm()
            {
                let moment = moment.for_bot(listener);
                self.decide(bot, signal, moment, actions);
            }
        }
    }

    fn on_price(&mut self, symbol: SymbolId, price: &Price, moment: Moment, actions: &mut Vec<Action>) {
        for index in 0..self.bots.len() {
            let bot = &mut self.bots[index];
            if bot.symbol != symbol {
                continue;
            }
            if let (Some(signal), Some(id)) = (bot.strategy.on_price(price), BotId::new(index))
                && bot.is_warm()
            {
                let moment = moment.for_bot(bot);
                self.decide(id, &signal, moment, actions);
            }
        }
    }

    fn decide(&mut self, id: BotId, signal: &Signal, moment: Moment, actions: &mut Vec<Action>) -> bool {
        match self.propose(id, signal, moment, actions) {
            Ok(()) => true,
            Err(rule) => {
                let refused = || RefusedSignal {
                    bot: id,
                    decision_time: moment.at,
                    direction: signal.direction,
                    rule,
                    reason: signal.reason.clone(),
                };
                // Constructs the action in place.
                actions.extend(iter::once_with(|| Action::Refuse(refused())));
                false
            }
        }
    }

    #[inline]
    fn propose(
        &mut self,
        id: BotId,
        signal: &Signal,
        moment: Moment,
        actions: &mut Vec<Action>,
    ) -> Result<(), Rule> {
        let (proposal, probe) = self.proposal(id, signal, moment);
        risk::approve(&proposal, self.risk_view(proposal.symbol), actions)?;
        self.begin_trade(&proposal, probe);
        Ok(())
    }

    #[inline]
    fn proposal<'a>(&self, id: BotId, signal: &'a Signal, moment: Moment) -> (Proposal<'a>, PayoutProbe) {
        let bot = &self.bots[id.index()];
        let probe = PayoutProbe::for_symbol(&self.limits, &self.state, bot.symbol, moment.at);
        let expiry = signal.expiry.unwrap_or(bot.expiry);
        let proposal = Proposal {
            bot: id,
            symbol: bot.symbol,
            direction: signal.direction,
            expiry,
            stake: self.stake(bot, probe, moment.at),
            at: moment.at,
            received: moment.received,
            origin: moment.origin,
            last_close: moment.last_close,
            interval: bot.interval,
            nominal_close: nominal_close(expiry, moment.at + bot.entry_delay),
            edge: bot.verdict.edge(),
            reason: &signal.reason,
            is_virtual: signal.is_virtual,
        };
        (proposal, probe)
    }

    #[inline]
    fn risk_view(&self, symbol: SymbolId) -> RiskView<'_> {
        let Self { limits, state, ledger, intents, .. } = self;
        RiskView { limits, state, ledger, intents, counts: intents.counts(symbol) }
    }

    #[inline]
    fn begin_trade(&mut self, proposal: &Proposal<'_>, probe: PayoutProbe) {
        let id = self.intents.next;
        let Proposal { bot, symbol, direction, stake, at: decision_time, nominal_close, .. } = *proposal;
        let times = (decision_time, nominal_close);
        self.intents.push(Intent::new((id, bot, symbol), (direction, stake), times));
        // Precedes the reservation of the stake, because ladder rounding uses the free balance at the decision.
        self.count_trade(proposal, id, probe);
        self.ledger.reserve(stake);
    }

    #[inline]
    fn count_trade(&mut self, proposal: &Proposal<'_>, id: IntentId, probe: PayoutProbe) {
        let Proposal { bot, symbol, expiry, at, .. } = *proposal;
        let own = &mut self.bots[bot.index()];
        own.verdict.on_decided(id, symbol, at);
        own.give_up_missed_level(at);
        own.stake.on_decided(id);
        own.on_decided(expiry);
        self.state.count_trade(&self.limits, at);
        self.state.count_bot_trade(bot);
        if probe == PayoutProbe::Needed {
            self.begin_probe((bot, symbol, id), proposal.stake);
        } else {
            self.round_ladder(bot);
        }
    }

    /// Returns the bot's `entry_delay_s`, the delay from a decision to its order.
    #[inline]
    pub fn entry_delay(&self, bot: BotId) -> Millis {
        self.bots.get(bot.index()).map_or(Millis::ZERO, |bot| bot.entry_delay)
    }

    /// Returns the time to send the order of an approved trade: decision time plus entry delay.
    #[inline]
    pub fn order_time(&self, terms: &OrderTerms) -> Millis {
        terms.decision_time() + self.entry_delay(terms.bot())
    }

    /// Returns the latest time to send the order of an approved trade.
    /// After this time, the signal counts as late, whatever the cause of the delay.
    pub fn send_deadline(&self, approved: &ApprovedTrade) -> Millis {
        let bot = self.bots.get(approved.bot().index());
        bot.map_or(Millis::MAX, |bot| {
            risk::send_deadline(&self.limits, bot.interval, self.order_time(approved.terms()))
        })
    }

    /// Returns the order in which series with candles of the same time are processed.
    /// Shorter intervals come first. Series with equal intervals are in order of first appearance.
    pub fn series_order(&self) -> Vec<SeriesId> {
        let mut order: Vec<SeriesId> = (0..self.series.len()).filter_map(SeriesId::new).collect();
        order.sort_by_key(|id| (self.series[id.index()].interval, *id));
        order
    }

    /// Returns the number of longer candles that were not built because shorter candles were missing.
    pub fn unbuilt_longer_candles(&self) -> u64 {
        self.bots.iter().map(|bot| bot.longer_candles.unbuilt_count()).sum()
    }

    /// Returns the worst staleness of each bot's longer candles, in bot order.
    pub fn worst_staleness(&self) -> Vec<WorstStaleness> {
        self.bots.iter().map(|bot| bot.longer_candles.worst_staleness()).collect()
    }

    /// Returns the longest warm-up of any bot on the series, in candles.
    pub fn warmup(&self, series: SeriesId) -> usize {
        let bots = self.listeners.get(series.index()).into_iter().flatten();
        bots.map(|bot| self.bots[bot.index()].strategy.warmup()).max().unwrap_or(0)
    }

    /// Returns how many of the latest `candles` the bots of a series need to warm up, `None` if there are too few.
    /// Exceeds [`Self::warmup`] if gaps in `candles` reduce the number of longer candles.
    pub fn required_history(&self, series: SeriesId, candles: &[Candle]) -> Option<usize> {
        let mut bots = self.listeners.get(series.index()).into_iter().flatten();
        bots.try_fold(0, |most, bot| Some(self.bots[bot.index()].required_history(candles)?.max(most)))
    }

    /// Returns the unsettled duplicate trades: second trades that the venue opened for a single order.
    pub fn second_trades(&self) -> &[SecondTrade] {
        &self.second_trades
    }

    fn on_second_trade(&mut self, trade: &SecondTrade) {
        if self.second_trades.iter().all(|known| known.venue_id != trade.venue_id) {
            self.second_trades.push(*trade);
            self.ledger.reserve(trade.stake);
            self.intents.add_duplicate(trade.intent);
        }
    }

    fn end_second_trade(&mut self, venue_id: &VenueId, profit: Money) {
        if let Some(place) = self.second_trades.iter().position(|known| known.venue_id == *venue_id) {
            let trade = self.second_trades.remove(place);
            self.ledger.settle(trade.stake, profit);
            let bot = self.intents.remove_duplicate(trade.intent);
            self.add_session_profit(bot.unwrap_or(BotId::RETIRED), profit);
            if let Some(bot) = bot {
                self.state.add_bot_profit(bot, profit);
            }
        }
    }

    /// Returns whether a signal with the same bot, source and id was received before. Such a duplicate is dropped.
    pub fn knows_signal(&self, signal: &OutsideSignal) -> bool {
        self.outside.as_ref().is_some_and(|known| known.contains(signal))
    }

    /// Returns the symbol of a bot.
    pub fn symbol_of(&self, bot: BotId) -> Option<Symbol> {
        let bot = self.bots.get(bot.index())?;
        self.symbols.get(bot.symbol.index()).copied()
    }

    /// Returns the expiry of a bot's trades.
    pub fn expiry_of(&self, bot: BotId) -> Option<Expiry> {
        self.bots.get(bot.index()).map(|bot| bot.expiry)
    }

    fn on_outside_signal(&mut self, signal: &OutsideSignal, event: &Event, actions: &mut Vec<Action>) {
        if !self.remember_signal(signal) {
            return;
        }
        let Some(bot) = self.bots.get(signal.bot.index()) else { return };
        // An expired signal counts as late, like a signal on a backfilled candle.
        let is_expired = signal.expires.is_some_and(|expires| event.received > expires);
        let origin = if is_expired { Origin::Backfill } else { Origin::Live };
        let moment = Moment::from_event(event, origin).for_bot(bot);
        let (id, is_virtual) = (signal.bot, bot.strategy.is_gate_closed());
        let reason = self.outside.get_or_insert_default().build_reason(signal);
        let signal = Signal { direction: signal.direction, expiry: signal.expiry, reason, is_virtual };
        self.decide(id, &signal, moment, actions);
    }

    fn remember_signal(&mut self, signal: &OutsideSignal) -> bool {
        self.outside.get_or_insert_default().remember(signal)
    }

    fn known_signals(&self) -> Option<Box<KnownSignals>> {
        self.outside.clone().filter(|known| !known.is_empty())
    }
}

#[derive(Clone, Copy)]
struct Moment {
    at: Millis,
    received: Millis,
    last_close: Millis,
    origin: Origin,
}

impl Moment {
    #[inline]
    const fn from_event(event: &Event, origin: Origin) -> Self {
        Self { at: event.at, received: event.received, last_close: Millis::new(i64::MIN), origin }
    }

    #[inline]
    const fn for_bot(self, bot: &Bot) -> Self {
        Self { last_close: bot.last_close, ..self }
    }
}

/// Interval whose longer candles were stale most often, with their staleness. `None` if no candle was stale.
pub type WorstStaleness = Option<(Interval, Staleness)>;
