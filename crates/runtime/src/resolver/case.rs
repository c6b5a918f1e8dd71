//! What is known of one intent in doubt: what the last listings showed, and when to look next.

use super::{Doubt, Why};
use candlewick_broker::TradeListing;
use candlewick_sdk::Millis;
use std::collections::BTreeSet;

/// A trade must be there in a second listing at least so much later.
const SEEN_AGAIN_AFTER: Millis = Millis::from_seconds(5);
/// No trade must be there in a second listing at least so much later.
const ABSENT_AGAIN_AFTER: Millis = Millis::from_seconds(10);
/// The pauses between looks; the last one repeats.
const PAUSES_S: [i64; 6] = [2, 5, 5, 10, 20, 30];
/// The pause between looks that hardly bring anything.
const SLOW_PAUSE: Millis = Millis::from_seconds(180);
/// The pause before the next look where only the ends of other trades are missing, and where a person was asked about that too: no
/// parts of a minute, at the same seconds of which trades may end.
const PAUSE_FOR_ENDS: Millis = Millis::from_seconds(17);
const SLOW_PAUSE_FOR_ENDS: Millis = Millis::from_seconds(97);
/// For how long after its sending a trade of an intent that was taken as not opened is looked for.
const FOUND_WITHIN: Millis = Millis::DAY;

/// How an intent counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It may be a trade.
    InDoubt,
    /// It is taken as not opened. The window of its trade no longer grows with the list's lag, so that it cannot
    /// come to overlap that of a later intent.
    NotOpened { deadline: Millis },
}

/// Whether a person has been asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Open,
    Asked,
}

/// The same picture in consecutive complete listings.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sighting {
    /// The trades that may be the one; none means that it was absent.
    ids: BTreeSet<String>,
    /// Those that the venue may have made of its request, unlike what was asked for.
    departures: BTreeSet<String>,
    first_began: Millis,
    first_ended: Millis,
    last_began: Millis,
}

/// One intent in doubt.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) doubt: Doubt,
    pub(crate) stage: Stage,
    /// The beginning of the latest complete listing that showed nothing.
    pub(crate) last_missing: Option<Millis>,
    begun: Millis,
    /// Since when some trade may be the one.
    first_seen: Option<Millis>,
    sighting: Option<Sighting>,
    question: Question,
    /// Trades that may be its own, in any listing so far.
    pub(crate) seen: BTreeSet<String>,
    /// Those that a list has shown as what the venue may have made of its request, unlike what was asked for, or without
    /// saying whether they are.
    pub(crate) departed: BTreeSet<String>,
    /// Those that a person was told of.
    named: BTreeSet<String>,
    /// Whether only the ends of other trades are missing.
    waits_for_ends: bool,
    looks: usize,
    next_look: Millis,
}

impl Case {
    pub(crate) fn new(doubt: Doubt, now: Millis) -> Self {
        Self {
            doubt,
            stage: Stage::InDoubt,
            last_missing: None,
            begun: now,
            first_seen: None,
            sighting: None,
            question: Question::Open,
            seen: BTreeSet::new(),
            departed: BTreeSet::new(),
            named: BTreeSet::new(),
            waits_for_ends: false,
            looks: 0,
            next_look: now + Millis::from_seconds(PAUSES_S[0]),
        }
    }

    /// One that was taken as not opened in an earlier run.
    pub(crate) fn not_opened(doubt: Doubt, list_lag: Millis, now: Millis) -> Self {
        let mut case = Self::new(doubt, now);
        case.give_up(list_lag);
        case
    }

    /// From when on its absence means something; the end of its trade's window.
    pub(crate) fn deadline(&self, list_lag: Millis) -> Millis {
        match self.stage {
            Stage::InDoubt => self.doubt.deadline(list_lag),
            Stage::NotOpened { deadline } => deadline,
        }
    }

    /// Takes it as not opened; answers until when its stake stays reserved.
    pub(crate) fn give_up(&mut self, list_lag: Millis) -> Millis {
        let reserved_until = self.doubt.reserved_until(list_lag);
        self.stage = Stage::NotOpened { deadline: self.deadline(list_lag) };
        self.sighting = None;
        self.question = Question::Open;
        reserved_until
    }

    /// Whether a person is to be asked now: once, and again where a trade may be meant that was not named before.
    pub(crate) fn ask(&mut self, why: &Why) -> bool {
        let known = self.named.len();
        self.named.extend(why.venue_ids().iter().cloned());
        let asked = std::mem::replace(&mut self.question, Question::Asked);
        asked == Question::Open || self.named.len() > known
    }

    /// Whether it may be a trade, and no person was asked about it.
    pub(crate) fn is_searched(&self) -> bool {
        self.stage == Stage::InDoubt && self.question == Question::Open
    }

    /// Whether nothing more is expected of it.
    pub(crate) fn is_forgotten(&self, now: Millis) -> bool {
        match self.stage {
            Stage::InDoubt => false,
            Stage::NotOpened { .. } => now - self.doubt.sent >= FOUND_WITHIN,
        }
    }

    /// Takes the trades of a listing that may be its own.
    pub(crate) fn observe(
        &mut self,
        listing: &TradeListing,
        (ids, departures): (BTreeSet<String>, BTreeSet<String>),
        deadline: Millis,
    ) {
        self.waits_for_ends = false;
        self.seen.extend(ids.iter().chain(&departures).cloned());
        self.departed.extend(departures.iter().cloned());
        if !ids.is_empty() {
            self.first_seen = self.first_seen.or(Some(listing.began));
        }
        if !listing.is_complete {
            // What it shows is there; what it does not show may be there.
            if self.sighting.as_ref().is_some_and(|sighting| !ids.is_subset(&sighting.ids)) {
                self.sighting = None;
            }
            return;
        }
        if ids.is_empty() {
            self.first_seen = None;
        }
        if ids.is_empty() && departures.is_empty() {
            self.last_missing = Some(listing.began);
        }
        match &mut self.sighting {
            // Absence counts from the deadline on, which may have moved.
            Some(seen)
                if seen.ids == ids
                    && (!ids.is_empty()
                        || (seen.first_began >= deadline && seen.departures == departures)) =>
            {
                seen.last_began = listing.began;
            }
            _ => {
                let TradeListing { began, ended, .. } = *listing;
                let (first_began, last_began) = (began, began);
                self.sighting =
                    Some(Sighting { ids, departures, first_began, first_ended: ended, last_began });
            }
        }
    }

    /// Whether two complete listings, far enough apart, showed the same trades.
    pub(crate) fn is_seen_twice(&self) -> bool {
        self.sighting.as_ref().is_some_and(|seen| !seen.ids.is_empty() && seen.spans(SEEN_AGAIN_AFTER))
    }

    /// Whether two complete listings after the deadline, far enough apart, showed no trade.
    pub(crate) fn is_absent_twice(&self, deadline: Millis) -> bool {
        let is_absent = |seen: &Sighting| {
            seen.ids.is_empty() && seen.first_began >= deadline && seen.spans(ABSENT_AGAIN_AFTER)
        };
        self.sighting.as_ref().is_some_and(is_absent)
    }

    /// Whether the list and the wallet, which may lag alike, have had their time to show it: after the deadline, after
    /// the doubt was begun, and after a trade was seen first.
    pub(crate) fn is_late(&self, list_lag: Millis, now: Millis) -> bool {
        let known = self.deadline(list_lag).max(self.begun).max(self.first_seen.unwrap_or(self.begun));
        known + list_lag <= now
    }

    /// Only the ends of other trades are missing.
    pub(crate) const fn wait_for_ends(&mut self) {
        self.waits_for_ends = true;
    }

    /// When the next look is useful.
    pub(crate) const fn next_look(&self) -> Millis {
        self.next_look
    }

    /// A look begins at `now`.
    pub(crate) fn begin_look(&mut self, now: Millis) {
        if self.next_look <= now {
            self.looks += 1;
            self.next_look = now + self.pause();
        }
    }

    /// After a listing: not later than what may now be decided, if that is to come. A trade that only an incomplete
    /// listing showed is not left for a slow pause.
    pub(crate) fn hasten_look(&mut self, deadline: Millis, now: Millis) {
        let decided_at = match (&self.sighting, self.stage) {
            (Some(seen), _) if !seen.ids.is_empty() => Some(seen.first_ended + SEEN_AGAIN_AFTER),
            (Some(_), Stage::NotOpened { .. }) => None,
            (Some(seen), Stage::InDoubt) if seen.first_began >= deadline => {
                Some(seen.first_ended + ABSENT_AGAIN_AFTER)
            }
            (Some(_), Stage::InDoubt) => Some(deadline),
            (None, _) => self.first_seen.map(|_| now + self.pause()),
        };
        let ended_by = self.waits_for_ends.then(|| match self.question {
            Question::Open => now + PAUSE_FOR_ENDS,
            Question::Asked => now + SLOW_PAUSE_FOR_ENDS,
        });
        for at in decided_at.into_iter().chain(ended_by).filter(|at| *at > now) {
            self.next_look = self.next_look.min(at);
        }
    }

    fn pause(&self) -> Millis {
        let is_slow = match (self.stage, self.question) {
            (Stage::InDoubt, Question::Open) => false,
            (Stage::NotOpened { .. }, Question::Open) => self.first_seen.is_none(),
            (Stage::InDoubt | Stage::NotOpened { .. }, Question::Asked) => true,
        };
        if is_slow { SLOW_PAUSE } else { Millis::from_seconds(PAUSES_S[self.looks.min(PAUSES_S.len() - 1)]) }
    }
}

impl Sighting {
    fn spans(&self, time: Millis) -> bool {
        self.last_began - self.first_ended >= time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::testing;

    const DEADLINE: Millis = Millis::new(100_000);

    /// Listings as (beginning, end, trades), incomplete where the end is before the beginning.
    fn observed(listings: &[(i64, i64, &[&str])]) -> Case {
        let mut case = Case::new(testing::doubt(1), Millis::ZERO);
        for (began, ended, ids) in listings {
            let (began, ended) = (Millis::new(*began), Millis::new(*ended));
            let listing =
                TradeListing { began, ended, is_complete: ended >= began, ..TradeListing::default() };
            let ids = ids.iter().map(ToString::to_string).collect();
            case.observe(&listing, (ids, BTreeSet::new()), DEADLINE);
        }
        case
    }

    fn check(listings: &[(i64, i64, &[&str])], (seen_twice, absent_twice): (bool, bool)) {
        let case = observed(listings);
        let found = (case.is_seen_twice(), case.is_absent_twice(DEADLINE));
        assert_eq!(found, (seen_twice, absent_twice), "{listings:?}");
    }

    #[test]
    fn a_trade_is_seen_twice_five_seconds_apart() {
        check(&[(0, 0, &["a"])], (false, false));
        check(&[(0, 0, &["a"]), (4_999, 5_000, &["a"])], (false, false));
        check(&[(0, 0, &["a"]), (5_000, 5_000, &["a"])], (true, false));
        // From the end of the first listing to the beginning of the second.
        check(&[(0, 3_000, &["a"]), (7_999, 9_000, &["a"])], (false, false));
        check(&[(0, 0, &["a"]), (3_000, 3_000, &["a"]), (6_000, 6_000, &["a"])], (true, false));
        // Another one came, or it went.
        check(&[(0, 0, &["a"]), (5_000, 5_000, &["a", "b"])], (false, false));
        check(&[(0, 0, &["a"]), (5_000, 5_000, &[]), (9_000, 9_000, &["a"])], (false, false));
    }

    #[test]
    fn absence_counts_from_the_deadline_and_ten_seconds_apart() {
        check(&[(90_000, 91_000, &[]), (101_500, 101_500, &[])], (false, false));
        check(&[(100_000, 100_000, &[]), (109_999, 109_999, &[])], (false, false));
        check(&[(100_000, 100_000, &[]), (110_000, 110_000, &[])], (false, true));
        check(&[(90_000, 90_000, &[]), (101_000, 101_000, &[]), (111_000, 111_000, &[])], (false, true));
        check(
            &[(100_000, 100_000, &[]), (105_000, 105_000, &["a"]), (110_000, 110_000, &[])],
            (false, false),
        );
    }

    #[test]
    fn an_incomplete_listing_shows_what_is_there_and_hides_nothing() {
        check(&[(0, 0, &["a"]), (3_000, 0, &[]), (5_000, 5_000, &["a"])], (true, false));
        check(&[(0, 0, &["a"]), (5_000, 0, &["a"])], (false, false));
        check(&[(0, 0, &["a"]), (3_000, 0, &["b"]), (5_000, 5_000, &["a"])], (false, false));
        check(&[(100_000, 100_000, &[]), (105_000, 0, &["a"]), (110_000, 110_000, &[])], (false, false));
        check(&[(100_000, 100_000, &[]), (110_000, 0, &[])], (false, false));
    }

    #[test]
    fn patience_begins_with_the_deadline_the_doubt_and_the_trade() {
        let lag = Millis::from_seconds(120);
        let check = |begun: i64, seen: &[(i64, &[&str])], late_at: i64| {
            let mut case = Case::new(testing::doubt(1), Millis::new(begun));
            for (at, ids) in seen {
                let ids = ids.iter().map(ToString::to_string).collect();
                case.observe(&testing::listing(*at, Vec::new()), (ids, BTreeSet::new()), DEADLINE);
            }
            let found = [late_at - 1, late_at].map(|now| case.is_late(lag, Millis::new(now)));
            assert_eq!(found, [false, true], "begun at {begun}, seen {seen:?}");
        };
        check(110_000, &[], 380_999);
        check(500_000, &[], 620_000);
        check(110_000, &[(300_000, &["a"]), (305_000, &["b"])], 420_000);
        check(110_000, &[(300_000, &["a"]), (305_000, &[])], 380_999);
    }

    #[test]
    fn a_deadline_that_moves_makes_earlier_absence_worthless() {
        let mut case = observed(&[(100_000, 100_000, &[])]);
        let later = DEADLINE + Millis::SECOND;
        case.observe(&testing::listing(110_000, Vec::new()), Default::default(), later);
        assert!(!case.is_absent_twice(later));
        case.observe(&testing::listing(120_000, Vec::new()), Default::default(), later);
        assert!(case.is_absent_twice(later));
    }

    #[test]
    fn looks_come_at_growing_pauses_and_slowly_once_a_person_is_asked() {
        let mut case = Case::new(testing::doubt(1), Millis::ZERO);
        let mut pauses = Vec::new();
        for round in 0..9 {
            if round == 7 {
                assert!(case.ask(&Why::WalletUnknown));
                assert!(!case.ask(&Why::WalletUnknown));
            }
            let now = case.next_look();
            case.begin_look(now);
            pauses.push((case.next_look() - now).get() / 1_000);
        }
        assert_eq!(pauses, [5, 5, 10, 20, 30, 30, 30, 180, 180]);
    }

    #[test]
    fn a_look_is_hastened_to_when_it_can_decide() {
        let check = |listings: &[(i64, i64, &[&str])], now: i64, expected: i64| {
            let mut case = observed(listings);
            case.next_look = Millis::new(900_000);
            case.hasten_look(DEADLINE, Millis::new(now));
            assert_eq!(case.next_look(), Millis::new(expected), "{listings:?}");
        };
        check(&[(1_000, 1_500, &["a"])], 1_500, 6_500);
        check(&[(1_000, 1_500, &[])], 1_500, 100_000);
        check(&[(101_000, 101_500, &[])], 101_500, 111_500);
        // The moment has passed and nothing was decided: the pauses decide.
        check(&[(1_000, 1_500, &["a"])], 6_500, 900_000);
        check(&[], 0, 900_000);
    }

    #[test]
    fn what_was_not_opened_is_looked_for_slowly_until_it_shows() {
        let mut case = Case::new(testing::doubt(1), Millis::ZERO);
        case.looks = 10;
        case.give_up(Millis::ZERO);
        assert_eq!(case.pause(), SLOW_PAUSE);
        let trade = BTreeSet::from(["a".to_owned()]);
        case.observe(&testing::listing(300_000, Vec::new()), (trade, BTreeSet::new()), DEADLINE);
        assert_eq!(case.pause(), Millis::from_seconds(30));
        // Only an incomplete listing showed it: its slow pause is cut short.
        let mut case = Case { looks: 10, next_look: Millis::new(480_000), ..case };
        let incomplete = TradeListing { is_complete: false, ..testing::listing(300_000, Vec::new()) };
        case.observe(&incomplete, (BTreeSet::from(["b".to_owned()]), BTreeSet::new()), DEADLINE);
        case.hasten_look(DEADLINE, Millis::new(300_000));
        assert_eq!(case.next_look(), Millis::new(330_000));
    }

    #[test]
    fn what_was_not_opened_is_forgotten_after_a_day() {
        let mut case = Case::new(testing::doubt(1), Millis::ZERO);
        let day_later = case.doubt.sent + Millis::DAY;
        assert!(!case.is_forgotten(day_later));
        assert_eq!(case.give_up(Millis::from_seconds(120)), Millis::from_seconds(321));
        assert!(!case.is_forgotten(day_later - Millis::new(1)));
        assert!(case.is_forgotten(day_later));
        // The window of its trade stays as it was.
        assert_eq!(case.deadline(Millis::DAY), Millis::new(260_999));
    }
}
