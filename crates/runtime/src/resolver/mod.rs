//! Resolves doubt: finds out which intents became trades although no answer said so.
//!
//! There is no key by which the venue would know a request again, so an intent whose answer was lost is never sent
//! again; its trade is looked for in the venue's list instead. The [`Resolver`] takes each [`Doubt`], says when
//! a look at the list is useful, takes the [`TradeListing`]s, and answers with [`Resolution`]s. It asks for nothing
//! itself: no I/O, no clock. The rules are those of opening without an idempotency key; where they leave a choice,
//! it is made towards asking a person.

mod candidate;
mod candidate_table;
mod case;
mod claimed;
mod conclusion;
mod doubt;
mod lag;
mod refused;
mod resolution;
mod wallet;

#[cfg(test)]
mod model;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod scenarios;
#[cfg(test)]
mod testing;

pub(crate) use doubt::Doubt;
pub(crate) use doubt::earliest_close;
pub use doubt::latest_close;
pub(crate) use lag::Accepted;
pub(crate) use lag::{LONGEST as LONGEST_LIST_LAG, LagMeter};
pub(crate) use resolution::{Decided, Decision, Resolution, Undecidable, Why};
pub(crate) use wallet::{WalletView, sums_of};

#[cfg(test)]
pub(crate) use testing::{order as order_of_tests, report as report_of_tests};

pub(crate) use claimed::{Claimed, hash_of};

pub(crate) use candidate::{Match, compare_terms, is_departure, request_time_of};
use candidate_table::{CandidateTable, Group, Query};
use candlewick_broker::{Account, TradeListing, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{Millis, Symbol};
use case::{Case, Stage};
use conclusion::{Conclusion, Evidence};
use refused::may_be_of_refused;
use std::collections::BTreeSet;

/// How long before a request that is in doubt another may have been answered whose second trade passes for its own.
const ANSWERED_BEFORE: Millis = Millis::MINUTE;

/// How far our clock may be wrong at least, whatever the venue's answers prove now: it was another time then.
pub(crate) const UNCERTAINTY: Millis = Millis::from_seconds(2);

/// Whether a request may have made this trade, as far as its report says.
pub(crate) fn may_have_made(doubt: &Doubt, report: &TradeReport, uncertainty: Millis) -> bool {
    let window = doubt.window(uncertainty, doubt.latest_arrival());
    candidate::compare(doubt, report, window) != Match::Different
}

/// What is known beside a listing when it is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    /// The venue's identifiers of all trades that intents own, settled ones too.
    pub(crate) claimed: &'a Claimed,
    /// The requests that are in flight: a trade may be listed before its answer arrives.
    pub(crate) in_flight: &'a [Doubt],
    /// Requests that were answered: a second trade of theirs is no other intent's.
    pub(crate) answered: &'a [Doubt],
    /// Requests that the venue rejected or that were not sent: it may have made a trade of one all the same.
    pub(crate) refused: &'a [Doubt],
    /// Intents without a known trade whose stakes are taken off the ledger's free balance all the same.
    pub(crate) reserved: &'a BTreeSet<IntentId>,
    /// Whether the venue may have paid for a known trade whose end is not booked: nobody knows how much, so that the wallet
    /// proves nothing.
    pub(crate) has_unknown_pay: bool,
    /// Whether the ledger has stood for as long as the wallet may lag.
    pub(crate) has_stood: bool,
    /// The wallet, read after the listing began; none when it could not be read.
    pub(crate) wallet: Option<WalletView>,
    /// How far our clock may be wrong.
    pub(crate) uncertainty: Millis,
}

/// Finds the trades of intents in doubt.
#[derive(Debug)]
pub(crate) struct Resolver {
    account: Account,
    since: Millis,
    lag: LagMeter,
    cases: Vec<Case>,
    /// Trades that were given to intents, so that none is given twice however late it is claimed.
    given: BTreeSet<String>,
    /// Trades that were reported as unexplained.
    reported: BTreeSet<String>,
}

impl Resolver {
    /// For an account, whose trades since a moment are to be explained.
    pub(crate) fn new(account: Account, since: Millis, lag: LagMeter) -> Self {
        let (given, reported) = (BTreeSet::new(), BTreeSet::new());
        Self { account, since, lag, cases: Vec::new(), given, reported }
    }

    /// An intent is in doubt since `now`. Requested again, it changes nothing.
    pub(crate) fn begin(&mut self, doubt: Doubt, now: Millis) {
        if self.find(doubt.intent).is_none() {
            self.cases.push(Case::new(doubt, now));
        }
    }

    /// An intent was taken as not opened in an earlier run; its trade may yet be found.
    pub(crate) fn recall_not_opened(&mut self, doubt: Doubt, now: Millis) {
        if self.find(doubt.intent).is_none() {
            self.cases.push(Case::not_opened(doubt, self.lag.allowance(), now));
        }
    }

    /// Whether the venue may have made this trade of the request of an intent that is looked for: the list says so, and its
    /// own record does.
    pub(crate) fn may_have_taken(&self, intent: IntentId, report: &TradeReport, uncertainty: Millis) -> bool {
        let is_it = |case: &Case| {
            case.departed.contains(&report.id) && candidate::is_departure(&case.doubt, report, uncertainty)
        };
        self.find(intent).is_some_and(|place| is_it(&self.cases[place]))
    }

    /// Returns the intent in doubt, taken as not opened or refused whose request may have made this trade of another account
    /// than was asked for.
    pub(crate) fn asked_for_elsewhere(
        &self,
        report: &TradeReport,
        (refused, uncertainty): (&[Doubt], Millis),
    ) -> Option<IntentId> {
        let anywhere = TradeReport { account: None, ..report.clone() };
        let is_it = |doubt: &Doubt| {
            let is_it = candidate::compare(doubt, &anywhere, doubt.span(uncertainty)) != Match::Different;
            is_it || candidate::is_departure(doubt, &anywhere, uncertainty)
        };
        let mut doubts = self.cases.iter().map(|case| &case.doubt);
        let mut refused = refused.iter();
        let found = doubts.find(|doubt| is_it(doubt));
        let found = found.or_else(|| refused.find(|doubt| may_be_of_refused(doubt, &anywhere, uncertainty)));
        found.map(|doubt| doubt.intent)
    }

    /// Trades that were reported as unexplained in an earlier run.
    pub(crate) fn recall_unexplained(&mut self, venue_ids: impl IntoIterator<Item = String>) {
        self.reported.extend(venue_ids);
    }

    /// Whether a trade was reported as unexplained, in this run or before.
    pub(crate) fn is_reported(&self, venue_id: &str) -> bool {
        self.reported.contains(venue_id)
    }

    /// Measures the list's lag by trades that were accepted at these moments.
    pub(crate) fn measure_lag<'a>(
        &mut self,
        listing: &TradeListing,
        accepted: impl IntoIterator<Item = Accepted<'a>>,
    ) {
        self.lag.take(listing, accepted);
    }

    /// How long a trade may be missing from the list.
    pub(crate) fn list_lag(&self) -> Millis {
        self.lag.allowance()
    }

    /// When the next listing is useful; none when nothing is in doubt.
    pub(crate) fn next_look(&self) -> Option<Millis> {
        self.cases.iter().map(Case::next_look).min()
    }

    /// From when on a request may have to do with one that is in doubt; none when nothing is.
    pub(crate) fn looks_since(&self) -> Option<Millis> {
        let in_doubt = self.cases.iter().filter(|case| case.stage == Stage::InDoubt);
        in_doubt.map(|case| case.doubt.sent - ANSWERED_BEFORE).min()
    }

    /// Whether the trade of a request that is looked for, or may yet be found, may be on one of these symbols and of a time between these
    /// moments.
    pub(crate) fn has_beside(&self, symbols: [Symbol; 2], (from, until): (Millis, Millis)) -> bool {
        let list_lag = self.lag.allowance();
        let is_beside = |case: &Case| {
            let is_then = case.doubt.sent <= until && from <= case.deadline(list_lag);
            is_then && symbols.contains(&case.doubt.order.symbol)
        };
        self.cases.iter().any(is_beside)
    }

    /// Whether an intent is in doubt of which no person was asked yet.
    pub(crate) fn is_searching(&self) -> bool {
        self.cases.iter().any(Case::is_searched)
    }

    /// A listing is begun at `now`. Whatever comes of it is to be handed in, also when it failed: an incomplete
    /// one lets time pass.
    pub(crate) fn begin_look(&mut self, now: Millis) {
        for case in &mut self.cases {
            case.begin_look(now);
        }
    }

    /// Takes what was listed.
    pub(crate) fn take_listing(
        &mut self,
        listing: &TradeListing,
        known: &Known<'_>,
        now: Millis,
    ) -> Vec<Resolution> {
        self.cases.retain(|case| !case.is_forgotten(now));
        let list_lag = self.lag.allowance();
        let table = self.compare(listing, known, list_lag);
        for (intent, case) in self.cases.iter_mut().enumerate() {
            let deadline = case.deadline(list_lag);
            case.observe(listing, (table.ids_of(intent), table.departures_of(intent)), deadline);
            case.departed.extend(table.unclear_of(intent));
        }
        let is_alone = self.reported.is_empty();
        let evidence =
            Evidence { cases: &self.cases, table: &table, listing, known, list_lag, is_alone, now };
        let conclusions: Vec<_> =
            table.groups().into_iter().map(|group| (evidence.conclude(&group), group)).collect();
        let taken: Vec<usize> =
            (0..self.cases.len()).filter(|intent| evidence.shows_stake_taken(*intent)).collect();
        for intent in taken {
            self.cases[intent].note_stake_taken();
        }
        let mut resolutions = Vec::new();
        for (conclusion, group) in conclusions {
            self.carry_out(conclusion, &group, &table, &mut resolutions);
        }
        self.report_unexplained(&table, known, &mut resolutions);
        self.cases.retain(|case| !is_adopted(case.doubt.intent, &resolutions));
        for case in &mut self.cases {
            case.hasten_look(case.deadline(list_lag), now);
        }
        resolutions
    }

    /// A person ends a doubt. It is the way to restore an intent that was taken as not opened, too.
    ///
    /// # Errors
    /// [`Undecidable`] when there is no such doubt, or the trade is another intent's.
    pub(crate) fn resolve_by_person(
        &mut self,
        intent: IntentId,
        decision: Decision,
        claimed: &Claimed,
    ) -> Result<Decided, Undecidable> {
        let list_lag = self.lag.allowance();
        let place = self.find(intent).ok_or(Undecidable::NotInDoubt)?;
        let stage = self.cases[place].stage;
        match (decision, stage) {
            (Decision::NotOpened, Stage::InDoubt) => {
                Ok(Decided::NotOpened { reserved_until: self.cases[place].give_up(list_lag) })
            }
            (Decision::NotOpened, Stage::NotOpened { .. }) => Err(Undecidable::NotInDoubt),
            (Decision::Adopt { venue_id }, _) if claimed.contains(&venue_id) => Err(Undecidable::TradeTaken),
            (Decision::Adopt { venue_id }, stage) => {
                if !self.given.insert(venue_id.clone()) {
                    return Err(Undecidable::TradeTaken);
                }
                self.cases.remove(place);
                Ok(match stage {
                    Stage::InDoubt => Decided::Adopt { venue_id },
                    Stage::NotOpened { .. } => Decided::AdoptLate { venue_id },
                })
            }
        }
    }

    fn find(&self, intent: IntentId) -> Option<usize> {
        self.cases.iter().position(|case| case.doubt.intent == intent)
    }

    fn compare<'a>(
        &self,
        listing: &'a TradeListing,
        known: &Known<'_>,
        list_lag: Millis,
    ) -> CandidateTable<'a> {
        let in_doubt: Vec<Query<'_>> = self
            .cases
            .iter()
            .map(|case| (&case.doubt, case.doubt.window(known.uncertainty, case.deadline(list_lag))))
            .collect();
        let in_flight: Vec<Query<'_>> = known
            .in_flight
            .iter()
            .map(|doubt| (doubt, doubt.window(known.uncertainty, Millis::MAX)))
            .collect();
        let is_free = |row: &TradeReport| !known.claimed.contains(&row.id) && !self.given.contains(&row.id);
        let mut table = CandidateTable::new(listing, is_free, (&in_doubt, &in_flight));
        // What was reported is known as a stranger's, and what an answered request made twice as that request's.
        let is_unknown = |row: &TradeReport| {
            let is_second = |doubt: &Doubt| may_have_made(doubt, row, known.uncertainty);
            let is_refused = |doubt: &Doubt| may_be_of_refused(doubt, row, known.uncertainty);
            !self.reported.contains(&row.id)
                && !known.answered.iter().any(is_second)
                && !known.refused.iter().any(is_refused)
        };
        let doubts: Vec<Option<&Doubt>> =
            self.cases.iter().map(|case| (case.stage == Stage::InDoubt).then_some(&case.doubt)).collect();
        table.find_departures((&doubts, known.in_flight), known.uncertainty, is_unknown);
        table
    }

    fn carry_out(
        &mut self,
        conclusion: Conclusion,
        group: &Group,
        table: &CandidateTable<'_>,
        resolutions: &mut Vec<Resolution>,
    ) {
        match conclusion {
            Conclusion::Wait => {}
            Conclusion::Adopt(pairs) => {
                for (intent, row) in pairs {
                    resolutions.push(self.adopt(intent, table.rows[row]));
                }
            }
            Conclusion::NotOpened(intent) => {
                let case = &mut self.cases[intent];
                let reserved_until = case.give_up(self.lag.allowance());
                resolutions.push(Resolution::NotOpened { intent: case.doubt.intent, reserved_until });
            }
            Conclusion::Ask(why) => self.ask(&why, group, resolutions),
            Conclusion::Reinstate(intents, row) => {
                let report = Box::new(table.rows[row].clone());
                resolutions.push(Resolution::Reinstate { intents, report });
            }
            Conclusion::WaitForEnds { is_late } => {
                for intent in &group.intents {
                    self.cases[*intent].wait_for_ends();
                }
                if is_late {
                    self.ask(&Why::WalletUnsettled, group, resolutions);
                }
            }
        }
    }

    fn ask(&mut self, why: &Why, group: &Group, resolutions: &mut Vec<Resolution>) {
        for intent in &group.intents {
            let case = &mut self.cases[*intent];
            if case.ask(why) {
                let (intent, why) = (case.doubt.intent, why.clone());
                resolutions.push(Resolution::AskPerson { intent, why });
            }
        }
    }

    fn adopt(&mut self, intent: usize, report: &TradeReport) -> Resolution {
        let case = &self.cases[intent];
        self.given.insert(report.id.clone());
        if let Some(missing) = case.last_missing {
            self.lag.note_found(report, missing);
        }
        let (intent, report) = (case.doubt.intent, Box::new(report.clone()));
        match case.stage {
            Stage::InDoubt => Resolution::Adopt { intent, report },
            Stage::NotOpened { .. } => Resolution::AdoptLate { intent, report },
        }
    }

    /// Reports trades from a token on this account that nobody can have asked for. What a person opened by hand is
    /// the person's own, and what says no time is taken for old.
    fn report_unexplained(
        &mut self,
        table: &CandidateTable<'_>,
        known: &Known<'_>,
        resolutions: &mut Vec<Resolution>,
    ) {
        // What is older may be an intent's that nothing is known of any more: it was looked at while it was young.
        let unknown_until = known.claimed.unknown_until();
        let since = unknown_until.map_or(self.since, |until| self.since.max(until + UNCERTAINTY));
        for report in table.unowned() {
            let is_ours = report.account.is_none_or(|account| account == self.account);
            let is_young = request_time_of(report).is_some_and(|at| at >= since);
            let is_foreign = report.from_token == Some(false) || report.other_user.is_some();
            if is_foreign || !is_ours || !is_young {
                continue;
            }
            let intents = self.refused_owners(report, (known.refused, known.uncertainty));
            if !intents.is_empty() {
                resolutions.push(Resolution::Reinstate { intents, report: Box::new(report.clone()) });
            } else if self.reported.insert(report.id.clone()) {
                resolutions.push(Resolution::Unexplained { report: Box::new(report.clone()) });
            }
        }
    }
}

fn is_adopted(intent: IntentId, resolutions: &[Resolution]) -> bool {
    resolutions.iter().any(|resolution| match resolution {
        Resolution::Adopt { intent: adopted, .. } | Resolution::AdoptLate { intent: adopted, .. } => {
            *adopted == intent
        }
        Resolution::NotOpened { .. }
        | Resolution::AskPerson { .. }
        | Resolution::Reinstate { .. }
        | Resolution::Unexplained { .. } => false,
    })
}
