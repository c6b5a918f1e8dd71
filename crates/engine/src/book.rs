//! The trade book, which folds events and actions into one row per intent (approved signal).

use crate::reasons::{ReasonKey, Reasons};
use crate::refusal_count::RefusalCount;
use crate::{
    Action, ApprovedTrade, Event, EventKind, IntentId, OpenedTrade, OrderTerms, RecordedEntry, Rejection,
    Rule, TradeSettlement, VenueId, VenueSymbol, VenueTerms,
};
use candlewick_sdk::{Millis, Money, Outcome, Payout, Reason};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::num::NonZeroU32;

/// State of an intent (approved signal), as shown in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// The order was sent, and the venue's reply is pending.
    InFlight,
    /// The reply was lost. Only a lookup at the venue can tell whether a trade exists.
    InDoubt,
    /// The trade is open.
    Open,
    /// The trade is settled.
    Settled,
    /// The venue declined the order.
    Rejected,
    /// The order was never sent.
    NotSent,
    /// The reply was lost, and the venue has no trade for the intent.
    NotOpened,
}

impl IntentState {
    /// Returns the name of the state as shown to users.
    /// `InFlight` and `InDoubt` have the same name: a journal does not show whether a reply is pending or lost.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InFlight | Self::InDoubt => "in_doubt",
            Self::Open => "open",
            Self::Settled => "settled",
            Self::Rejected => "rejected",
            Self::NotSent => "not_sent",
            Self::NotOpened => "not_opened",
        }
    }
}

/// Sequence numbers of the updates to an intent, and the payouts that the venue stated.
/// A book numbers all updates in order of arrival, starting at 1. The number 0 means that there was no such update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdateNumbers {
    pub(crate) decided: u32,
    pub(crate) answered: u32,
    /// Number of the update that excluded the intent from the evidence, such as a declined order or changed terms.
    pub(crate) left_out: u32,
    pub(crate) settled: u32,
    pub(crate) answered_payout: Option<Payout>,
    pub(crate) settled_payout: Option<Payout>,
}

impl UpdateNumbers {
    pub(crate) const fn end_update(self) -> u32 {
        if self.left_out > 0 { self.left_out } else { self.settled }
    }

    pub(crate) const fn shifted_by(self, updates: u32) -> Self {
        const fn shift(number: u32, by: u32) -> u32 {
            if number == 0 { 0 } else { number + by }
        }
        let Self { decided, answered, left_out, settled, .. } = self;
        Self {
            decided: shift(decided, updates),
            answered: shift(answered, updates),
            left_out: shift(left_out, updates),
            settled: shift(settled, updates),
            ..self
        }
    }

    /// Creates the value from recorded update numbers and payouts.
    /// The numbers are in the order of [`Self::update_numbers`], with 0 for a missing update. The first payout is
    /// from the reply, the second from the settlement.
    pub const fn from_recorded(
        [decided, answered, left_out, settled]: [u32; 4],
        [answered_payout, settled_payout]: [Option<Payout>; 2],
    ) -> Self {
        Self { decided, answered, left_out, settled, answered_payout, settled_payout }
    }

    /// Returns the payout stated in the venue's reply.
    pub const fn answered_payout(self) -> Option<Payout> {
        self.answered_payout
    }

    /// Returns the update numbers of the decision, the reply, the exclusion and the settlement. Missing updates are 0.
    pub const fn update_numbers(self) -> [u32; 4] {
        [self.decided, self.answered, self.left_out, self.settled]
    }
}

/// The original order of a trade that the venue opened on different terms.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OriginalOrder {
    /// Terms of the order.
    pub ordered: OrderTerms,
    /// Symbol that the venue traded, `None` if it is the ordered symbol.
    pub symbol: Option<VenueSymbol>,
}

/// The first result of a trade whose result was corrected later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OriginalResult {
    /// Outcome that was booked first.
    pub outcome: Outcome,
    /// Net profit that was booked first.
    pub profit: Money,
    /// Venue time of the last correction.
    pub corrected_at: Millis,
}

/// An intent with the state and the result of its trade.
/// The book stores the rarely used [reason](TradeBook::reason) and [venue id](TradeBook::venue_id) outside the row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntentRow {
    /// Terms of the order, with the direction and stake that the venue accepted.
    /// If these differ from the approved terms, [`TradeBook::original_order`] returns the approved terms.
    pub approved: OrderTerms,
    /// State of the intent.
    pub state: IntentState,
    /// Venue time at which the reply to the order arrived.
    pub answered_at: Option<Millis>,
    /// Time at which the trade opened.
    pub open_time: Option<Millis>,
    /// Open price.
    pub open_price: Option<f64>,
    /// Actual or scheduled close time of the trade.
    pub close_time: Option<Millis>,
    /// Close price.
    pub close_price: Option<f64>,
    /// Payout of a win.
    pub payout: Option<Payout>,
    /// Outcome of the trade, `None` until settled.
    pub outcome: Option<Outcome>,
    /// Net profit, zero until settled.
    pub profit: Money,
    /// Venue time at which the settlement became known.
    pub settled_at: Option<Millis>,
    /// Sequence numbers of the updates to this intent.
    pub sequence: UpdateNumbers,
    #[serde(skip)]
    pub(crate) reason: ReasonKey,
    /// 1-based index into the book's venue ids.
    #[serde(skip)]
    pub(crate) venue_id: Option<NonZeroU32>,
}

/// All intents with their results, in order of decision. Also counts rejected signals and failed orders.
/// The book applies the same updates as the Session: only the first reply counts, and a finished intent changes only
/// if its result is corrected or its order is reinstated.
#[derive(Clone, Debug, Default)]
pub struct TradeBook {
    pub(crate) rows: Vec<IntentRow>,
    pub(crate) reasons: Reasons,
    pub(crate) venue_ids: Vec<VenueId>,
    pub(crate) refused: RefusalCount,
    pub(crate) no_price: u64,
    pub(crate) rejected: u64,
    pub(crate) not_sent: u64,
    /// First intent whose failed order is counted, `None` to count those of all intents.
    pub(crate) counted_from: Option<IntentId>,
    pub(crate) original_orders: BTreeMap<IntentId, OriginalOrder>,
    pub(crate) settled_by_operator: BTreeSet<IntentId>,
    pub(crate) corrections: BTreeMap<IntentId, OriginalResult>,
    pub(crate) update_count: u32,
}

impl IntentRow {
    #[inline]
    pub(crate) fn from_terms(approved: OrderTerms) -> Self {
        Self {
            approved,
            state: IntentState::InFlight,
            answered_at: None,
            open_time: None,
            open_price: None,
            close_time: None,
            close_price: None,
            payout: None,
            outcome: None,
            profit: Money::ZERO,
            settled_at: None,
            sequence: UpdateNumbers::default(),
            reason: ReasonKey::default(),
            venue_id: None,
        }
    }

    /// Returns whether the trade is settled, or the order was declined or never sent.
    pub const fn is_finished(&self) -> bool {
        match self.state {
            IntentState::InFlight | IntentState::InDoubt | IntentState::Open | IntentState::NotOpened => {
                false
            }
            IntentState::Settled | IntentState::Rejected | IntentState::NotSent => true,
        }
    }

    /// Returns whether the venue declined the order, or the order was never sent.
    pub const fn is_refused(&self) -> bool {
        matches!(self.state, IntentState::Rejected | IntentState::NotSent)
    }
}

impl TradeBook {
    /// Creates an empty book with capacity for `intents` intents.
    pub fn with_capacity(intents: usize) -> Self {
        Self {
            rows: Vec::with_capacity(intents),
            reasons: Reasons::with_capacity(intents),
            ..Self::default()
        }
    }

    /// Records an event. Call this method after the Session has handled the event.
    #[inline]
    pub fn record_event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Candle { .. }
            | EventKind::OutsideSignal(_)
            | EventKind::Price { .. }
            | EventKind::Balance { .. }
            | EventKind::Skew { .. }
            | EventKind::SecondTrade(_)
            | EventKind::SecondTradeSettled { .. }
            | EventKind::Deposit { .. }
            | EventKind::WalletDifference { .. } => {}
            EventKind::Control { control } => self.refused.track_suspension(*control),
            EventKind::Opened(opened) => {
                if self.row(opened.intent).is_some_and(|row| row.state != IntentState::NotOpened) {
                    self.record_opened(opened, event.at);
                }
            }
            EventKind::Adopted(opened) => self.record_opened(opened, event.at),
            EventKind::Reinstated(terms) => self.record_reinstated(terms.intent()),
            EventKind::NotOpened { intent, .. } => {
                let number = self.update_count + 1;
                if let Some(row) = self.row_mut(*intent)
                    && row.state == IntentState::InDoubt
                {
                    row.state = IntentState::NotOpened;
                    row.sequence.left_out = number;
                    self.update_count = number;
                }
            }
            EventKind::Settled(settled) => self.record_settled(settled, event.at),
            EventKind::SettledByPerson { intent, outcome, profit } => {
                let number = self.update_count + 1;
                if let Some(row) = self.row_mut(*intent).filter(|row| !row.is_finished()) {
                    if row.sequence.left_out == 0 {
                        row.sequence.left_out = number;
                    }
                    self.settled_by_operator.insert(*intent);
                }
                self.record_settled(&TradeSettlement::from_operator(*intent, *outcome, *profit), event.at);
            }
            EventKind::Correction { intent, outcome, profit } => {
                self.record_correction(*intent, (*outcome, *profit), event.at);
            }
            EventKind::Rejected { intent, rejection } => self.record_rejected(*intent, rejection, event.at),
            EventKind::NotSent { intent } => {
                if self.end_without_trade(*intent, IntentState::NotSent, event.at) {
                    self.not_sent += 1;
                }
            }
            EventKind::InDoubt { intent } => {
                if let Some(row) = self.row_mut(*intent)
                    && row.state == IntentState::InFlight
                {
                    row.state = IntentState::InDoubt;
                }
            }
        }
    }

    /// Records an action.
    #[inline]
    pub fn record_action(&mut self, action: &Action) {
        match action {
            Action::Open(approved) => self.record_approved(approved),
            Action::Refuse(refused) => self.refused.record(refused.rule, self.last_intent()),
            Action::DayOpened { .. } | Action::Verdict(_) => {}
        }
    }

    #[inline]
    fn record_approved(&mut self, approved: &ApprovedTrade) {
        self.update_count += 1;
        let reason = self.reasons.put(approved.reason());
        // The row is constructed in place, because copying a row right after writing its fields stalls the CPU.
        self.rows.extend(iter::once_with(|| IntentRow::from_terms(*approved.terms())));
        if let Some(row) = self.rows.last_mut() {
            (row.reason, row.sequence.decided) = (reason, self.update_count);
        }
    }

    /// Records a journal entry of an earlier run.
    pub fn recall(&mut self, recorded: &RecordedEntry) {
        match recorded {
            RecordedEntry::Event(event) => self.record_event(event),
            RecordedEntry::Open(approved) => self.record_approved(approved),
            RecordedEntry::Refuse | RecordedEntry::DayOpened { .. } | RecordedEntry::Verdict => {}
        }
    }

    /// Appends the intents and [counts](Self::refusal_counts) of a later run, to compute figures over several runs.
    /// The appended intents are renumbered to follow the last intent of this book.
    pub fn append(&mut self, later: &Self) {
        let next = self.rows.last().map_or(1, |row| row.approved.intent().number() + 1);
        let updates = self.update_count;
        for (intent, row) in (next..).map(IntentId::new).zip(&later.rows) {
            let (approved, sequence) = (row.approved.with_intent(intent), row.sequence.shifted_by(updates));
            self.copy_row(later, row.approved.intent(), IntentRow { approved, sequence, ..*row });
        }
        self.update_count += later.update_count;
        self.refused.append(&later.refused, later.last_intent(), self.last_intent());
        self.no_price += later.no_price;
        self.rejected += later.rejected;
        self.not_sent += later.not_sent;
    }

    /// Returns all intents in the order of their decisions.
    pub fn rows(&self) -> &[IntentRow] {
        &self.rows
    }

    /// Returns the row of an intent.
    pub fn row(&self, intent: IntentId) -> Option<&IntentRow> {
        self.rows.get(self.position(intent)?)
    }

    /// Returns the reason for the signal that led to `row`, which must be a row of this book.
    pub fn reason(&self, row: &IntentRow) -> Reason {
        self.reasons.get(row.reason)
    }

    /// Returns the venue's id of the trade in `row`, which must be a row of this book. `None` if unknown.
    pub fn venue_id(&self, row: &IntentRow) -> Option<VenueId> {
        self.venue_ids.get(row.venue_id?.get() as usize - 1).copied()
    }

    /// Returns the number of rejected signals and failed orders, by cause.
    /// A cause is the name of a [`Rule`], or `NoPrice`, `Rejected` or `NotSent` for approved orders that failed.
    pub fn refusal_counts(&self) -> BTreeMap<&'static str, u64> {
        let venue = [("NoPrice", self.no_price), ("Rejected", self.rejected), ("NotSent", self.not_sent)];
        self.refused.counts().chain(venue).filter(|(_, count)| *count > 0).collect()
    }

    pub(crate) fn last_intent(&self) -> Option<IntentId> {
        self.rows.last().map(|row| row.approved.intent())
    }

    fn record_opened(&mut self, opened: &OpenedTrade, at: Millis) {
        let number = self.update_count + 1;
        if self.row(opened.intent).is_none_or(IntentRow::is_finished) {
            return;
        }
        let known = self.row(opened.intent).and_then(|row| self.venue_id(row));
        let new_id = opened.venue_id.filter(|id| Some(*id) != known);
        let venue_id = new_id.and_then(|id| self.push_venue_id(id));
        let Some(row) = self.row_mut(opened.intent) else { return };
        if row.state != IntentState::Open {
            row.state = IntentState::Open;
            row.answered_at = Some(at);
        }
        // The first reply may omit the payout.
        if row.sequence.answered_payout.is_none() && opened.payout.is_some() {
            row.sequence.answered = number;
            row.sequence.answered_payout = opened.payout;
        }
        row.venue_id = venue_id.or(row.venue_id);
        row.open_time = opened.open_time.or(row.open_time);
        row.open_price = opened.open_price.or(row.open_price);
        row.close_time = opened.close_time.or(row.close_time);
        row.payout = opened.payout.or(row.payout);
        if let Some(taken) = &opened.taken {
            self.record_venue_terms(opened.intent, taken, number);
        }
        self.update_count = number;
    }

    fn record_settled(&mut self, settled: &TradeSettlement, at: Millis) {
        let number = self.update_count + 1;
        let Some(row) = self.row_mut(settled.intent).filter(|row| !row.is_finished()) else { return };
        row.state = IntentState::Settled;
        row.sequence.settled = number;
        row.sequence.settled_payout = settled.payout;
        row.outcome = Some(settled.outcome);
        row.profit = settled.profit;
        row.open_time = settled.open_time.or(row.open_time);
        row.open_price = settled.open_price.or(row.open_price);
        row.close_time = settled.close_time.or(row.close_time);
        row.close_price = settled.close_price;
        row.payout = settled.payout.or(row.payout);
        row.settled_at = Some(at);
        self.update_count = number;
    }

    fn record_rejected(&mut self, intent: IntentId, rejection: &Rejection, at: Millis) {
        if !self.end_without_trade(intent, IntentState::Rejected, at) {
            return;
        }
        match rejection {
            Rejection::NoPrice => self.no_price += 1,
            rejection if rejection.is_insufficient_balance() => {
                self.refused.record(Rule::InsufficientBalance, self.last_intent());
            }
            _ => self.rejected += 1,
        }
    }

    /// Marks the intent of a failed order as in doubt. The order still counts as failed and not as evidence.
    fn record_reinstated(&mut self, intent: IntentId) {
        if let Some(row) = self.row_mut(intent).filter(|row| row.is_refused()) {
            (row.state, row.answered_at) = (IntentState::InDoubt, None);
        }
    }

    /// Ends an intent without a trade if its order has no reply yet. Returns whether to count the failed order.
    fn end_without_trade(&mut self, intent: IntentId, state: IntentState, at: Millis) -> bool {
        let unanswered =
            |row: &&mut IntentRow| matches!(row.state, IntentState::InFlight | IntentState::InDoubt);
        let number = self.update_count + 1;
        let Some(row) = self.row_mut(intent).filter(unanswered) else { return false };
        row.state = state;
        row.answered_at = Some(at);
        row.sequence.left_out = number;
        self.update_count = number;
        Some(intent) >= self.counted_from
    }

    pub(crate) fn row_mut(&mut self, intent: IntentId) -> Option<&mut IntentRow> {
        let position = self.position(intent)?;
        self.rows.get_mut(position)
    }

    /// Computes the index of a row from the intent number. If rows were dropped, searches for the row.
    fn position(&self, intent: IntentId) -> Option<usize> {
        let first = self.rows.first()?.approved.intent().number();
        let index = usize::try_from(intent.number().checked_sub(first)?).ok()?;
        let is_at_index = self.rows.get(index).is_some_and(|row| row.approved.intent() == intent);
        if is_at_index { Some(index) } else { self.find_position(intent) }
    }

    #[cold]
    fn find_position(&self, intent: IntentId) -> Option<usize> {
        self.rows.binary_search_by_key(&intent, |row| row.approved.intent()).ok()
    }

    /// Returns the original order of an intent, `None` if the venue accepted the order unchanged.
    /// The row of the intent has the terms that the venue accepted.
    pub fn original_order(&self, intent: IntentId) -> Option<&OriginalOrder> {
        self.original_orders.get(&intent)
    }

    fn record_venue_terms(&mut self, intent: IntentId, taken: &VenueTerms, number: u32) {
        let Some(row) = self.row_mut(intent) else { return };
        let before = row.approved;
        if taken.differs_from_order(before.direction()) && row.sequence.left_out == 0 {
            row.sequence.left_out = number;
        }
        row.approved = before.with_venue_terms(taken);
        let original = OriginalOrder { ordered: before, symbol: taken.symbol };
        self.original_orders.entry(intent).or_insert(original).symbol = taken.symbol;
    }

    /// Returns whether the operator, and not the venue, reported the result of an intent.
    pub fn is_settled_by_operator(&self, intent: IntentId) -> bool {
        self.settled_by_operator.contains(&intent)
    }

    /// Returns the first result of a trade, `None` if the result was never corrected.
    pub fn original_result(&self, intent: IntentId) -> Option<OriginalResult> {
        self.corrections.get(&intent).copied()
    }

    fn record_correction(&mut self, intent: IntentId, (outcome, profit): (Outcome, Money), at: Millis) {
        let Some(row) = self.row_mut(intent).filter(|row| row.state == IntentState::Settled) else { return };
        let booked = (row.outcome.unwrap_or(outcome), row.profit);
        (row.outcome, row.profit) = (Some(outcome), profit);
        let is_excluded_by_operator = row.sequence.left_out == row.sequence.settled;
        if self.settled_by_operator.remove(&intent)
            && is_excluded_by_operator
            && let Some(row) = self.row_mut(intent)
        {
            // Unlike a result reported by an operator, a result from the venue is evidence.
            row.sequence.left_out = 0;
        }
        let first = self.corrections.get(&intent).map_or(booked, |first| (first.outcome, first.profit));
        let corrected = OriginalResult { outcome: first.0, profit: first.1, corrected_at: at };
        self.corrections.insert(intent, corrected);
    }
}
