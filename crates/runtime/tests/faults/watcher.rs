//! Watches a run and checks the invariants after every step.

use crate::alarms::WHILE_HALTED;
use crate::delays::Tally;
use crate::lies::MISSING;
use crate::limits::{self, Refusals};
use crate::money_checks::{WalletCheck, check_day_loss, check_settled_in_time, is_bookable, large_deposit};
use crate::network::WITHHELD_MS;
use crate::prelude::*;
use crate::trade::is_of_pair;
use candlewick_engine::OpenedTrade;
use candlewick_runtime::Notice;

const DOUBT_SLACK: Millis = Millis::from_seconds(240);

const FALSE_WITHOUT_LIES: [&str; 8] = [
    "halted: ",
    "implausible",
    "describes another trade",
    "which belongs to another order",
    "was booked as",
    MISSING,
    "shows no demo wallet",
    "the demo wallet holds -",
];

const DIFFERENCE: &str = "than the trades explain";
const SECOND_TRADE: &str = "was ordered once, but the venue has a second one, ";
const MORE_TRADES: &str = " more unknown trades are in the venue's list";
const REINSTATED: [&str; 2] = ["the order is in doubt again", "the orders are in doubt again"];

pub(crate) const READ_AT_MOST: Millis = Millis::from_seconds(60);

/// Maximum duration of reading only the wallet: three client timeouts plus a margin.
const WALLET_READ_AT_MOST: Millis = Millis::from_seconds(20);

#[derive(Default)]
pub(crate) struct Observations {
    doubts: BTreeMap<u64, Millis>,
    pub(crate) asked: BTreeSet<u64>,
    pub(crate) missing: BTreeSet<u64>,
    pub(crate) settled: BTreeSet<u64>,
    pub(crate) booked: BTreeMap<u64, (Outcome, i64)>,
    pub(crate) reported: BTreeSet<String>,
    pub(crate) unnamed: usize,
    pub(crate) open: BTreeSet<u64>,
    pub(crate) unfinished: usize,
    pub(crate) open_stakes: i64,
    pub(crate) covered: WalletCheck,
    pub(crate) is_halted: bool,
    large_deposit: Option<Money>,
    second_due: Option<DueSecondTrade>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DueSecondTrade {
    AtStake { id: String, stake: i64, is_over: bool },
    Halt,
}

impl Observations {
    pub(crate) fn new(past: &RecoveredState, ledger: &Ledger, world: &World) -> Self {
        let now = world.time.now();
        let of_state = |state| {
            let rows = past.book().rows().iter().filter(move |row| row.state == state);
            rows.map(|row| row.approved.intent().number())
        };
        Self {
            doubts: of_state(IntentState::InDoubt).map(|number| (number, now)).collect(),
            settled: of_state(IntentState::Settled).collect(),
            booked: past.book().rows().iter().filter_map(result_of).collect(),
            open: of_state(IntentState::Open).collect(),
            reported: past.unexplained_trades().iter().cloned().collect(),
            unfinished: 1,
            covered: WalletCheck::new(ledger),
            is_halted: world.disk().is_halted(),
            ..Self::default()
        }
    }

    pub(crate) const fn accounts(&self) -> Accounts<'_> {
        Accounts { settled: &self.settled, open: &self.open, reported: &self.reported }
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.unfinished == 0 && self.open_stakes == 0
    }
}

pub(crate) struct Watcher {
    world: Arc<World>,
    began: Millis,
    seen: Arc<Mutex<Observations>>,
    pub(crate) book: TradeBook,
    handed: crate::stream::DeliveredCandles,
    tally: Tally,
    refusals: Refusals,
}

impl Watcher {
    pub(crate) fn new(world: &Arc<World>, past: &RecoveredState, seen: Arc<Mutex<Observations>>) -> Self {
        let mut book = TradeBook::default();
        book.append(past.book());
        let (world, tally) = (Arc::clone(world), Tally::new(world, &book));
        let (began, handed) = (world.time.now(), crate::stream::DeliveredCandles::default());
        Self { world, began, seen, book, handed, tally, refusals: Refusals::default() }
    }

    pub(crate) fn take(&mut self, notice: Notice) {
        let seen = Arc::clone(&self.seen);
        let mut seen = seen.lock().unwrap();
        match notice {
            Notice::Handled { event, actions, funds, .. } => {
                self.handed.check(&self.world, &event.kind);
                self.book.record_event(&event);
                for action in &actions {
                    self.book.record_action(action);
                }
                if matches!(event.kind, EventKind::Candle { .. }) && actions.is_empty() {
                    return;
                }
                self.world.log(|| format!("{:?} -> {actions:?}", event.kind));
                self.tally.take(&event.kind, &self.book);
                self.refusals.take(&event, &self.book);
                self.check_second(&event, &mut seen);
                self.check_event(&event, &mut seen);
                for action in &actions {
                    if let Action::Open(approved) = action {
                        limits::check_open(&self.world, approved, (&self.book, funds));
                        self.tally.check(&self.world, approved, &self.book);
                        check_day_loss(&self.world, approved, self.began);
                        self.refusals.check(&self.world, approved);
                    }
                }
                seen.unfinished = self.book.rows().iter().filter(|row| is_unfinished(row)).count();
                seen.open_stakes = funds.open_stakes.minor();
                seen.covered.take(&event.kind, funds.free, self.world.time.now());
                if self.book.rows().iter().any(|row| row.state == IntentState::InDoubt) {
                    self.world.notes.unclear_until.fetch_max(self.world.time.now().get(), Relaxed);
                }
            }
            Notice::Warning(text) | Notice::Alarm(text) | Notice::Logged { text, .. } => {
                self.take_warning(&text, &mut seen);
            }
            _ => {}
        }
        self.check_doubts(&seen);
    }

    fn take_warning(&self, text: &str, seen: &mut Observations) {
        let world = &self.world;
        world.log(|| text.to_owned());
        world.note_said(text);
        let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
        // A halted run does not halt again: resuming acknowledges the report.
        let is_money = world.plan.lies.money.is_some() && !text.ends_with("are read again");
        if seen.is_halted && (is_money || has(&[" differs: ", " has a payout of "])) {
            world.note_said(&format!("{WHILE_HALTED}{text}"));
        }
        let is_open = has(&[" is open on the "]);
        let id = text.strip_prefix("unknown trade ").and_then(|rest| rest.split(' ').next());
        if let Some(id) = id.filter(|_| !is_open) {
            self.check_strange(id);
            let second_of = world.truth().find(id).and_then(|trade| trade.second_of).map(IntentId::new);
            let is_known = |of| self.book.row(of).is_some_and(|row| self.book.venue_id(row).is_some());
            let is_second = second_of.is_some_and(is_known) && !world.is_far_off();
            world.require(!is_second, || format!("{id}, a second trade of {second_of:?}, was foreign"));
            seen.reported.insert(id.to_owned());
        }
        if let Some(id) = id.filter(|_| is_open) {
            self.check_strange(id);
        }
        if let Some((more, _)) = text.split_once(MORE_TRADES) {
            seen.unnamed += more.parse::<usize>().unwrap();
        }
        if let Some((_, id)) = text.split_once(SECOND_TRADE).filter(|_| !text.starts_with("halted: ")) {
            self.check_strange(id);
            seen.second_due = world.truth().find(id).map(|trade| {
                let (id, stake, is_over) = (id.to_owned(), trade.stake, trade.is_settled);
                DueSecondTrade::AtStake { id, stake, is_over }
            });
            seen.reported.insert(id.to_owned());
        }
        let is_lying = world.plan.lies.has_any();
        let is_odd = world.plan.habits.odd_prices > 0 || is_lying;
        let is_wronged = !is_odd && has(&[", but stake ", ", but a ", "the price record at"]);
        let halting = text.strip_prefix("halted: ").and_then(|rest| rest.split_once("trade "));
        let named = halting.and_then(|(_, rest)| venue_id_of(rest));
        let named = named.and_then(|id| world.truth().find(id).cloned());
        let is_strangers = named.as_ref().is_some_and(|trade| trade.intent.is_none());
        // With a clock that jumps or is far off, the age of an answer is unknown.
        let is_clock_off = world.plan.habits.clock_jumps > 0 || world.is_far_off();
        let is_of_clock = is_clock_off && has(&["implausible"]);
        let is_beside = |trade: Trade| has_strangers_on(&world.truth(), trade.order.symbol);
        let is_contested = has(&REINSTATED) && named.is_some_and(is_beside);
        let is_excused = has(&["was ordered once"]) || is_strangers || is_of_clock || is_contested;
        let is_of_lies = !is_lying && !is_excused && has(&FALSE_WITHOUT_LIES);
        let is_off = has(&[DIFFERENCE]) && !world.may_be_off();
        world.require(!is_wronged && !is_of_lies && !is_off, || format!("a false alarm: {text}"));
        let named = text.split_once(MISSING).and_then(|(_, rest)| rest.strip_prefix(" #"));
        if let Some(number) = named.and_then(|rest| rest.split(' ').next()?.parse().ok()) {
            world.require(seen.is_halted || text.starts_with("halted: "), || format!("not halted: {text}"));
            seen.missing.insert(number);
        }
        let asked = text.strip_prefix("trade #").filter(|_| text.contains("stays in doubt"));
        if let Some(number) = asked.and_then(|rest| rest.split(' ').next()?.parse().ok()) {
            seen.doubts.remove(&number);
            seen.asked.insert(number);
        }
    }
}

fn venue_id_of(words: &str) -> Option<&str> {
    let id = if words.starts_with('#') { words.split_once(' ')?.1.strip_prefix('(')? } else { words };
    id.split([' ', ')']).next()
}

fn has_strangers_on(truth: &Truth, symbol: Symbol) -> bool {
    truth.trades.iter().any(|trade| trade.intent.is_none() && trade.order.symbol == symbol)
}

pub(crate) fn result_of(row: &IntentRow) -> Option<(u64, (Outcome, i64))> {
    Some((row.approved.intent().number(), (row.outcome?, row.profit.minor())))
}

pub(crate) const fn is_unfinished(row: &IntentRow) -> bool {
    matches!(row.state, IntentState::InFlight | IntentState::InDoubt | IntentState::Open)
}

impl Watcher {
    fn check_event(&self, event: &Event, seen: &mut Observations) {
        if let Some(amount) = seen.large_deposit.take() {
            let is_halt = matches!(event.kind, EventKind::Control { control: Control::Halt });
            self.world.require(seen.is_halted || is_halt, || format!("booked {amount:?} and continued"));
        }
        match &event.kind {
            EventKind::Control { control: Control::Halt } => seen.is_halted = true,
            EventKind::Control { control: Control::Resume } => seen.is_halted = false,
            EventKind::Skew { offset } => self.check_offset(*offset),
            EventKind::Deposit { amount } => seen.large_deposit = large_deposit(&self.world, *amount),
            EventKind::InDoubt { intent } => {
                seen.doubts.insert(intent.number(), self.world.time.now());
            }
            EventKind::Reinstated(terms) => {
                seen.doubts.insert(terms.intent().number(), self.world.time.now());
            }
            EventKind::Opened(opened) => {
                seen.open.insert(opened.intent.number());
                self.check_claim(opened);
            }
            EventKind::Adopted(opened) => {
                seen.open.insert(opened.intent.number());
                Self::end_doubt(opened.intent, seen);
                self.check_claim(opened);
            }
            EventKind::NotOpened { intent, reserved_until } => {
                self.world.notes.unclear_until.fetch_max(reserved_until.get(), Relaxed);
                Self::end_doubt(*intent, seen);
                self.check_absent(*intent, seen);
            }
            EventKind::Settled(TradeSettlement { intent, outcome, profit, .. })
            | EventKind::SettledByPerson { intent, outcome, profit }
            | EventKind::Correction { intent, outcome, profit } => {
                for names in [&mut seen.open, &mut seen.missing] {
                    names.remove(&intent.number());
                }
                seen.settled.insert(intent.number());
                seen.booked.insert(intent.number(), (*outcome, profit.minor()));
                self.check_settled(*intent, (*outcome, profit.minor()));
            }
            _ => {}
        }
    }

    fn check_offset(&self, offset: Millis) {
        // A frozen request time may be mistaken for the venue's clock until a better reading is available.
        let is_frozen = |lies: MoneyLies| lies.has_kind(MoneyLie::RepeatsRequestTime);
        if self.world.plan.lies.money.is_some_and(is_frozen) {
            return;
        }
        let most = self.world.max_visible_offset();
        // Readings from before a clock jump count as later ones unless they contradict each other.
        let most = if self.world.plan.habits.clock_jumps > 0 { most * 3 } else { most };
        let is_right = offset.abs_diff(Millis::ZERO) <= most;
        self.world.require(is_right, || format!("the reported clock offset is {offset} ms of {most} ms"));
    }

    fn check_second(&self, event: &Event, seen: &mut Observations) {
        let is_halted = seen.is_halted || matches!(event.kind, EventKind::Control { control: Control::Halt });
        match (seen.second_due.take(), &event.kind) {
            (None, _) => {}
            (Some(DueSecondTrade::AtStake { id, stake, .. }), EventKind::SecondTrade(trade))
                if trade.venue_id.as_str() == id =>
            {
                let counted = trade.stake.minor();
                self.world.require(counted == stake, || format!("{counted} of {stake} count of {id}"));
                seen.second_due = (!is_halted).then_some(DueSecondTrade::Halt);
            }
            (Some(DueSecondTrade::AtStake { is_over: true, .. } | DueSecondTrade::Halt), _) if is_halted => {}
            (Some(due), _) => self.world.require(false, || format!("{due:?} did not follow")),
        }
    }

    fn end_doubt(intent: IntentId, seen: &mut Observations) {
        seen.doubts.remove(&intent.number());
        seen.asked.remove(&intent.number());
    }

    /// Checks that a claimed trade belongs to the intent, unless a far-off clock makes equal trades indistinguishable.
    fn check_claim(&self, opened: &OpenedTrade) {
        let Some(id) = opened.venue_id else { return };
        let (mut truth, intent) = (self.world.truth(), opened.intent.number());
        let claimed = truth.find(id.as_str()).cloned();
        let owner = claimed.as_ref().map(|trade| trade.intent);
        match (truth.trade_of(intent).and_then(|trade| trade.lie), owner) {
            (Some(Lie::AnswersStrangersId), Some(None)) | (Some(Lie::AnswersUnknownId), None) => return,
            _ => {}
        }
        if owner == Some(None) && self.is_taken_for_ours(intent, id.as_str(), &truth) {
            return truth.take_for_ours(id.as_str());
        }
        let asked = truth.order_of(intent);
        let is_excused = |trade: &Trade| {
            // A trade reported to its own intent under another id may be claimed by any intent of its pair and account.
            let is_anybodys = matches!(trade.lie, Some(Lie::AnswersStrangersId | Lie::AnswersUnknownId))
                && asked.as_ref().is_some_and(|asked| is_of_pair(asked, &trade.order));
            // So may a second trade of a request, by another intent with the same terms at that time.
            let is_second = trade.second_of.is_some() && asked.as_ref() == Some(&trade.order);
            // And so may a foreign trade on a pair with others, by an intent that was rejected and is in doubt again.
            let is_contested = self.has_reinstated() && has_strangers_on(&truth, trade.order.symbol);
            is_anybodys || is_second || is_contested
        };
        let is_right = owner == Some(Some(intent));
        if !is_right && (self.world.is_far_off() || claimed.as_ref().is_some_and(is_excused)) {
            self.world.log(|| "excused from here on".to_owned());
            return self.world.notes.is_excused.store(true, Relaxed);
        }
        self.world.require(is_right, || format!("{intent} claims {id} of {owner:?}"));
    }

    /// Returns whether a foreign trade of that pair can be mistaken for the accepted terms of our request.
    fn is_taken_for_ours(&self, intent: u64, id: &str, truth: &Truth) -> bool {
        let is_late = self.world.plan.lists_late();
        let is_absent =
            truth.trade_of(intent).is_none_or(|ours| is_late || ours.lie.is_some_and(Lie::is_unlike_asked));
        let Some(other) = truth.find(id).filter(|other| is_absent && other.is_by_token) else { return false };
        // If the process ended before its request left, it cannot know that the request was not sent.
        let asked = truth.order_of(intent);
        asked.is_none_or(|asked| is_of_pair(&asked, &other.order) && asked != other.order)
    }

    fn has_reinstated(&self) -> bool {
        let is_recorded = self.world.disk().lines.iter().any(|row| row.line.body.contains("\"reinstated\""));
        is_recorded || self.world.has_said(|text| text.contains("the order is in doubt again"))
    }

    /// Checks that an intent taken as not opened has no trade, unless a late list and the wallet hide it.
    fn check_absent(&self, intent: IntentId, seen: &Observations) {
        let (world, truth) = (&self.world, self.world.truth());
        let habits = &world.plan.habits;
        let Some(trade) = truth.trade_of(intent.number()) else {
            let is_right = !truth.is_underway(intent.number()) || world.is_far_off();
            return world.require(is_right, || format!("intent {intent} was given up while underway"));
        };
        if trade.lie.is_some_and(Lie::is_lost_with_its_answer) || seen.reported.contains(&trade.id) {
            return;
        }
        let is_late = world.plan.lists_late() || habits.withholding == Withholding::List;
        let is_staked = !trade.is_settled || trade.outcome == Outcome::Lost;
        let shown_until = world.time.now() - Millis::new(habits.wallet_lag_ms) - WALLET_READ_AT_MOST;
        let is_known = |other: &Trade| {
            let is_settled = other.intent.is_some_and(|number| seen.settled.contains(&number));
            // A trade that counts as open may be closed and paid back: its payout gives the amount.
            let is_reckoned = other.lie.is_none() && other.intent.is_some_and(|own| seen.open.contains(&own));
            other.intent.is_some()
                && other.order.account == Account::Demo
                && (is_settled || is_reckoned || !other.is_settled)
                && other.request_time.max(other.wallet_from) < shown_until
        };
        let mut others = truth.trades.iter().filter(|other| other.id != trade.id);
        let is_shown = trade.request_time.max(trade.wallet_from) < shown_until;
        let is_clear = is_staked && is_shown && others.all(is_known);
        let is_unlisted = trade.listed_from > world.time.now() - READ_AT_MOST;
        let is_kept_back = is_late && is_unlisted && !is_clear;
        if is_kept_back {
            world.count("kept back and given up", 1);
        }
        world.require(world.is_far_off() || is_kept_back, || format!("{intent} was given up: {trade:?}"));
    }

    fn check_strange(&self, id: &str) {
        let world = &self.world;
        let trade = world.truth().find(id).cloned();
        let is_hidden = trade.as_ref().and_then(|trade| trade.lie).is_some_and(Lie::may_be_unexplained);
        let owner = trade.as_ref().and_then(|trade| trade.intent);
        let has_passed = |ours: &Trade| world.truth().trades.iter().any(|other| other.passes_for(ours));
        let is_hidden = is_hidden || (world.plan.lists_late() && trade.as_ref().is_some_and(has_passed));
        let is_right = owner.is_none() || is_hidden || world.is_far_off();
        world.require(is_right, || format!("{id} of intent {owner:?} was reported as explained by none"));
    }

    fn check_settled(&self, intent: IntentId, booked: (Outcome, i64)) {
        let Some(id) = self.book.row(intent).and_then(|row| self.book.venue_id(row)) else {
            return self.world.require(false, || format!("intent {intent} settled without a trade"));
        };
        let truth = self.world.truth();
        let trade = truth.find(id.as_str());
        if let Some(trade) = trade {
            check_settled_in_time(&self.world, trade, self.began);
        }
        let real = trade.map(|trade| (trade.outcome, trade.profit));
        let is_bookable = trade.is_some_and(|trade| is_bookable(&self.world, trade, booked));
        let is_right = real == Some(booked) || is_bookable;
        self.world.require(is_right, || format!("intent {intent} ended {booked:?}, {id} {real:?}"));
    }

    fn check_doubts(&self, seen: &Observations) {
        let Some((number, since)) = seen.doubts.iter().min_by_key(|(_, since)| **since) else { return };
        let plan = &self.world.plan;
        let promised = i64::from(plan.settings.list_lag_ms);
        let withheld_ms = match plan.habits.withholding {
            Withholding::Nothing => 0,
            Withholding::Both | Withholding::List => 40_000 + promised + WITHHELD_MS,
        };
        let lag = promised.max((plan.habits.list_lag_ms + withheld_ms) * 2);
        // A trade missing in every list counts as a lag of the list within its allowance.
        let lag = if plan.lies.is_halting { lag.max(2 * promised) } else { lag };
        // A clock that was set back repeats moments; one that was set forward looks like a lag of the list.
        let patience = Millis::new(30_000 + 2 * lag) + DOUBT_SLACK + self.world.max_offset() * 6;
        let waited = self.world.time.now() - *since;
        self.world.require(waited <= patience, || format!("intent {number} is in doubt for {waited} ms"));
    }
}
