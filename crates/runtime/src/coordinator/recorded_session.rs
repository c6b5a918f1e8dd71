//! Wraps the session of a run, and records the inputs and outputs of the session.

use super::Coordinator;
use super::command::{Command, Step};
use super::doubts::Doubts;
use super::journal_state::JournalState;
use super::wallet_watch::has_changed_since;
use crate::audit::BookedResult;
use crate::notice::{Evidence, Funds};
use crate::overview::{BotTallies, MAX_SETTLED_TRADES};
use crate::past::EvictedIntents;
use crate::resolver::MAX_LIST_LAG;
use crate::{Notice, RuntimeSettings};
use candlewick_broker::{Account, TradeOrder};
use candlewick_engine::{
    Action, ApprovedTrade, BotId, Entry, Event, EventKind, Halt, Header, IntentId, IntentRow, IntentState,
    Ledger, OrderTerms, Origin, OutsideSignal, ReloadNote, Rule, Session, TradeBook, VenueId,
};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Millis, Money, MoneyScale, Symbol};
use std::collections::BTreeMap;

/// Session that records and publishes all events. Approved trades wait until their intents are durable.
pub(crate) struct RecordedSession {
    session: Session,
    book: TradeBook,
    pub(crate) journal: JournalState,
    pub(crate) account: Account,
    pub(crate) first_intent: IntentId,
    pub(crate) halt: Option<Halt>,
    actions: Vec<Action>,
    began: Option<Millis>,
    pub(crate) candle_count: u64,
    pub(crate) non_candle_events: u64,
    pub(crate) tallies: BotTallies,
    expiring: BTreeMap<IntentId, Millis>,
    pub(crate) forgotten: EvictionCounts,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EvictionCounts {
    pub(crate) total: u64,
    pub(crate) this_run: u64,
    next_rows: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForgottenIntent {
    pub(crate) intent: IntentId,
    pub(crate) venue_id: Option<VenueId>,
    pub(crate) ended: Millis,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventEffects {
    /// Rule that rejected a signal, and that will reject all later signals until the operator intervenes.
    pub(crate) blocking_rule: Option<Rule>,
    pub(crate) free: Money,
    /// Total stake that this event returned to the free balance, because its intents opened no trade.
    pub(crate) released: Money,
    pub(crate) decision: Option<Result<IntentId, Rule>>,
}

impl RecordedSession {
    pub(crate) fn new(
        session: Session,
        (mut book, old): (TradeBook, EvictedIntents),
        account: Account,
        halt: Option<Halt>,
        is_virtual: bool,
    ) -> Self {
        book.restart_counts_at(session.next_intent());
        Self {
            first_intent: session.next_intent(),
            tallies: BotTallies::from_book(session.bot_names().len(), old.tallies, &book),
            session,
            book,
            journal: JournalState::new(is_virtual),
            account,
            halt,
            actions: Vec::with_capacity(64),
            began: None,
            candle_count: 0,
            non_candle_events: 0,
            expiring: BTreeMap::new(),
            forgotten: EvictionCounts { total: old.count, ..EvictionCounts::default() },
        }
    }

    pub(crate) fn begin(&mut self, header: &Header, step: &mut Step<'_>) {
        self.began = None;
        self.journal.record(Entry::Header(header), step);
        self.session.begin_run(header);
        for bot in (0..self.session.bot_names().len()).filter_map(BotId::new) {
            self.publish_evidence(bot, step);
        }
    }

    fn is_warm_up(&self, at: Millis, kind: &EventKind) -> bool {
        matches!(kind, EventKind::Candle { origin: Origin::Backfill, .. })
            && self.began.is_none_or(|began| at <= began)
    }

    fn publish_evidence(&self, bot: BotId, step: &mut Step<'_>) {
        if let Some(verdict) = self.session.verdicts().nth(bot.index()) {
            step.commands.push(Command::Notify(Notice::Evidence(Evidence::from_verdict(bot, verdict))));
        }
    }

    pub(crate) fn handle(&mut self, at: Millis, kind: EventKind, step: &mut Step<'_>) -> EventEffects {
        let event = Event { at, received: step.now, kind };
        self.began = self.began.or(Some(step.now));
        let is_candle = matches!(kind, EventKind::Candle { .. });
        self.candle_count += u64::from(is_candle && !self.is_warm_up(at, &kind));
        self.non_candle_events += u64::from(!is_candle);
        self.journal.record(Entry::Event(&event), step);
        let mut actions = std::mem::take(&mut self.actions);
        let about = kind.intent();
        let before = about.and_then(|id| self.book.row(id)).copied();
        let reservations = Reservations::new(&self.session);
        self.session.handle_recorded(&event, &mut actions);
        self.book.record_event(&event);
        let released = reservations.released_stake(&self.session, &self.book);
        for action in &actions {
            self.journal.record(Entry::Action(action), step);
            self.book.record_action(action);
        }
        let ledger = self.session.ledger();
        let (funds, intent) = (Funds::from_ledger(ledger), about.and_then(|id| self.book.row(id)).copied());
        let mut handled =
            EventEffects { blocking_rule: None, free: ledger.free_balance(), released, decision: None };
        let notice = Notice::Handled { event, actions: actions.clone(), funds, intent, before };
        step.commands.push(Command::Notify(notice));
        if let (EventKind::Settled(_) | EventKind::SettledByPerson { .. }, Some(row)) = (&kind, intent) {
            if before.is_none_or(|before| before.state != IntentState::Settled) {
                self.tallies.add_trade(&row);
            }
            self.publish_evidence(row.approved.bot(), step);
        }
        for action in actions.drain(..) {
            match action {
                Action::Open(approved) => {
                    handled.decision = Some(Ok(approved.intent()));
                    if let EventKind::OutsideSignal(OutsideSignal { expires: Some(expires), .. }) = kind {
                        self.expiring.insert(approved.intent(), expires);
                    }
                    self.journal.outbox.push(approved);
                }
                Action::Refuse(refused) => {
                    handled.decision = Some(Err(refused.rule));
                    // An abandoned ladder restarts at its first level, and that stake may fit the drawdown limit.
                    let may_pass =
                        refused.rule == Rule::MaxDrawdown && self.session.gives_up_ladder(refused.bot);
                    if refused.rule.ends_run() && !may_pass && !funds.open_stakes.is_positive() {
                        handled.blocking_rule = handled.blocking_rule.or(Some(refused.rule));
                    }
                }
                Action::DayOpened { .. } | Action::Verdict(_) => {}
            }
        }
        self.actions = actions;
        handled
    }

    pub(crate) fn apply_correction(&mut self, old: &BookedResult, new: &BookedResult, step: &mut Step<'_>) {
        self.tallies.correct(old, new);
        self.publish_evidence(old.bot, step);
    }

    pub(crate) fn send_deadline(&mut self, approved: &ApprovedTrade) -> Millis {
        let by_rule = self.session.send_deadline(approved);
        // The entry delay is configured for the bot, so it does not make a signal late.
        let delay = self.session.entry_delay(approved.bot());
        self.expiring.remove(&approved.intent()).map_or(by_rule, |expires| by_rule.min(expires + delay))
    }

    pub(crate) fn prepare_reload(&mut self, note: &ReloadNote, step: &mut Step<'_>) -> Result<(), String> {
        let body = serde_json::to_string(note).map_err(|error| error.to_string())?;
        self.session.prepare_reload(&note.risk).map_err(|error| error.to_string())?;
        self.journal.note(body, step);
        Ok(())
    }

    pub(crate) fn alarm(&mut self, text: String, step: &mut Step<'_>) {
        self.note_alarm(&text, step);
        step.alarm(text);
    }

    /// Records the reason before the run halts, so that the journal contains the reason even after a crash.
    pub(crate) fn begin_halt(&mut self, reason: String, step: &mut Step<'_>) {
        let halt = Halt { at: Some(step.now), reason };
        let text = halt.to_alarm();
        self.note_alarm(&text, step);
        step.log_alarm(text);
        self.halt = Some(halt);
    }

    fn note_alarm(&mut self, text: &str, step: &mut Step<'_>) {
        self.journal.note(serde_json::json!({ "alarm": text }).to_string(), step);
    }

    pub(crate) fn log_rejection(&self, intent: IntentId, answer: &str, step: &mut Step<'_>) {
        let bot =
            self.book.row(intent).and_then(|row| self.session.bot_names().get(row.approved.bot().index()));
        let bot = bot.map_or(String::new(), |name| format!(" of bot {name}"));
        step.log_warning(format!("the venue declined trade #{intent}{bot}: {answer}"));
    }

    pub(crate) fn to_trade_order(&self, terms: &OrderTerms) -> TradeOrder {
        TradeOrder {
            symbol: self.traded_symbol(terms),
            direction: terms.direction(),
            amount: self.session.money_scale().to_decimal(terms.stake()).normalize(),
            close_type: terms.expiry().close_type,
            expiration_type: terms.expiry().expiration_type,
            account: self.account,
        }
    }

    pub(crate) fn terms(&self, intent: IntentId) -> Option<OrderTerms> {
        self.book.row(intent).map(|row| row.approved)
    }

    pub(crate) fn ordered_symbol(&self, terms: &OrderTerms) -> Symbol {
        self.session.symbols()[terms.symbol().index()]
    }

    pub(crate) fn traded_symbol(&self, terms: &OrderTerms) -> Symbol {
        let taken = self.book.original_order(terms.intent()).and_then(|departure| departure.symbol);
        taken.and_then(|taken| Symbol::new(taken.as_str()).ok()).unwrap_or(self.ordered_symbol(terms))
    }

    pub(crate) fn has_unresolved_intent(&self) -> bool {
        let is_unclear = |state| matches!(state, IntentState::InDoubt | IntentState::InFlight);
        self.book.rows().iter().any(|row| is_unclear(row.state))
    }

    pub(crate) fn intents_in_state(&self, state: IntentState) -> impl Iterator<Item = IntentId> {
        let rows = self.book.rows().iter().filter(move |row| row.state == state);
        rows.map(|row| row.approved.intent())
    }

    pub(crate) fn row(&self, intent: IntentId) -> Option<&IntentRow> {
        self.book.row(intent)
    }

    pub(crate) const fn book(&self) -> &TradeBook {
        &self.book
    }

    /// Forgets intents that ended before `until`. Exceptions: the last intent, intents that `is_kept` accepts,
    /// intents with an open duplicate trade, and the most recently settled intents, because they are displayed.
    pub(crate) fn forget(
        &mut self,
        until: Millis,
        is_kept: impl Fn(&Self, &IntentRow) -> bool,
    ) -> Vec<ForgottenIntent> {
        if self.book.rows().len() < self.forgotten.next_rows {
            return Vec::new();
        }
        let (book, seconds) = (&self.book, self.session.second_trades());
        let shown = book.rows().iter().rev().filter(|row| row.settled_at.is_some()).take(MAX_SETTLED_TRADES);
        let first_shown = shown.last().map(|row| row.approved.intent());
        let last = book.rows().last().map(|row| row.approved.intent());
        let old_of = |row: &IntentRow| {
            let (intent, ended) = (row.approved.intent(), row.settled_at.or(row.answered_at)?);
            let is_shown = row.settled_at.is_some() && first_shown.is_some_and(|first| intent >= first);
            let has_second = || seconds.iter().any(|second| second.intent == intent);
            let is_over = row.is_finished() && ended < until && Some(intent) != last;
            let is_old = is_over && !is_shown && !has_second() && !is_kept(self, row);
            is_old.then(|| ForgottenIntent { intent, venue_id: book.venue_id(row), ended })
        };
        let old: Vec<ForgottenIntent> = book.rows().iter().filter_map(old_of).collect();
        if !old.is_empty() {
            let mut gone = old.iter().map(|old| old.intent).peekable();
            self.book.retain_rows(|row| gone.next_if_eq(&row.approved.intent()).is_none());
        }
        for ForgottenIntent { intent, .. } in &old {
            self.expiring.remove(intent);
            self.forgotten.this_run += u64::from(*intent >= self.first_intent);
        }
        self.forgotten.total += old.len() as u64;
        // The next scan is due when the number of rows has grown by a quarter.
        let rows = self.book.rows().len();
        self.forgotten.next_rows = rows + rows / 4 + 1;
        old
    }

    pub(crate) fn take_book(&mut self) -> TradeBook {
        std::mem::take(&mut self.book).starting_at_intent(self.first_intent)
    }

    pub(crate) const fn session(&self) -> &Session {
        &self.session
    }

    pub(crate) const fn ledger(&self) -> &Ledger {
        self.session.ledger()
    }

    pub(crate) fn money(&self, balance: Decimal) -> Option<Money> {
        self.scale().convert_rounded(balance).ok()
    }

    pub(crate) const fn scale(&self) -> MoneyScale {
        self.session.money_scale()
    }

    pub(crate) fn halt_reason(&self) -> Option<&String> {
        self.halt.as_ref().map(|halt| &halt.reason)
    }
}

pub(crate) struct Reservations(Vec<IntentId>);

impl Reservations {
    pub(crate) fn new(session: &Session) -> Self {
        Self(session.reserved_intents().collect())
    }

    /// Returns the total stake of reservations that ended without a trade. These stakes never left the wallet.
    pub(crate) fn released_stake(&self, session: &Session, book: &TradeBook) -> Money {
        if self.0.is_empty() {
            return Money::ZERO;
        }
        let reserved: Vec<IntentId> = session.reserved_intents().collect();
        let ended = self.0.iter().filter(|intent| !reserved.contains(intent));
        let rows = ended.filter_map(|intent| book.row(*intent));
        rows.filter(|row| row.state == IntentState::NotOpened).map(|row| row.approved.stake()).sum()
    }
}

/// Time added to the trade list's lag to get the minimum retention. Covers late answers and clock differences.
const RETENTION_SLACK: Millis = Millis::from_seconds(120);

impl Coordinator {
    /// Removes intents whose retention expired before `requested`, unless they may explain a trade or the balance.
    pub(super) fn forget_old_intents(&mut self, requested: Millis) {
        let Some(remembered) = retention(&self.settings, &self.doubts) else { return };
        let least = min_retention(&self.settings, &self.doubts);
        let (trades, doubts, slack) = (&self.trades, &self.doubts, least);
        // Trades since the last matching wallet reading may explain a difference, so they are retained.
        let explained_until = self.audits.wallet.shown_until;
        let may_explain = |row: &IntentRow| explained_until.is_some_and(|at| has_changed_since(row, at));
        let is_kept = |session: &RecordedSession, row: &IntentRow| {
            let is_searched =
                trades.find(row.approved.intent()).is_some() || doubts.is_near_doubt(session, row, slack);
            is_searched || may_explain(row)
        };
        for old in self.session.forget(requested - remembered, is_kept) {
            self.doubts.forget(&old);
        }
    }
}

/// Returns the retention time of finished intents. `None` if they are retained for the whole run.
fn retention(settings: &RuntimeSettings, doubts: &Doubts) -> Option<Millis> {
    let set = Some(settings.remember_s).filter(|seconds| *seconds > 0)?;
    Some(Millis::from_seconds(i64::from(set)).max(min_retention(settings, doubts)))
}

fn min_retention(settings: &RuntimeSettings, doubts: &Doubts) -> Millis {
    settings
        .min_retention_override
        .unwrap_or(doubts.resolver.lag.allowance().max(MAX_LIST_LAG) + RETENTION_SLACK)
}
