//! Table of the listed trades that belong to no intent yet, and of the intents in doubt that match them.

use super::OrderAttempt;
use super::candidate::{Match, Window, compare, is_deviating_trade, reported_request_time, states_all_terms};
use candlewick_broker::{TradeListing, TradeReport};
use candlewick_sdk::Millis;
use std::collections::BTreeSet;

#[derive(Debug)]
pub(crate) struct CandidateTable<'a> {
    pub(crate) rows: Vec<&'a TradeReport>,
    pub(crate) possible_rows: Vec<BTreeSet<usize>>,
    /// Pairs of an intent index and a row index for which every field matches.
    certain: BTreeSet<(usize, usize)>,
    /// For each intent, the rows that may be its trade although their terms differ from the order (departures).
    pub(crate) deviating_rows: Vec<BTreeSet<usize>>,
    awaited: BTreeSet<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) intents: BTreeSet<usize>,
    pub(crate) rows: BTreeSet<usize>,
}

pub(crate) type WindowedAttempt<'a> = (&'a OrderAttempt, Window);

impl<'a> CandidateTable<'a> {
    pub(crate) fn new(
        listing: &'a TradeListing,
        is_free: impl Fn(&TradeReport) -> bool,
        (queries, in_flight): (&[WindowedAttempt<'_>], &[WindowedAttempt<'_>]),
    ) -> Self {
        let rows: Vec<&TradeReport> = listing.trades.iter().filter(|trade| is_free(trade)).collect();
        let like = |(doubt, window): &WindowedAttempt<'_>| -> Vec<(usize, Match)> {
            let matches = rows.iter().map(|row| compare(doubt, row, *window)).enumerate();
            matches.filter(|(_, found)| *found != Match::Different).collect()
        };
        let mut certain = BTreeSet::new();
        let mut possible = Vec::with_capacity(queries.len());
        for (intent, matches) in queries.iter().map(like).enumerate() {
            let same = matches.iter().filter(|(_, found)| *found == Match::Same);
            certain.extend(same.map(|(row, _)| (intent, *row)));
            possible.push(matches.into_iter().map(|(row, _)| row).collect());
        }
        let awaited = in_flight.iter().flat_map(like).map(|(row, _)| row).collect();
        let departures = vec![BTreeSet::new(); possible.len()];
        Self { rows, possible_rows: possible, certain, deviating_rows: departures, awaited }
    }

    pub(crate) fn find_deviating_rows(
        &mut self,
        (in_doubt, in_flight): (&[Option<&OrderAttempt>], &[OrderAttempt]),
        uncertainty: Millis,
        is_unknown: impl Fn(&TradeReport) -> bool,
    ) {
        for (row, report) in self.rows.iter().enumerate() {
            if self.is_owned(row) || !is_unknown(report) {
                continue;
            }
            if in_flight.iter().any(|doubt| is_deviating_trade(doubt, report, uncertainty)) {
                self.awaited.insert(row);
                continue;
            }
            let fits = |one: Option<&OrderAttempt>| {
                one.is_some_and(|one| is_deviating_trade(one, report, uncertainty))
            };
            for (intent, _) in in_doubt.iter().enumerate().filter(|(_, doubt)| fits(**doubt)) {
                self.deviating_rows[intent].insert(row);
            }
        }
    }

    /// Returns the only departure of an intent, if it fits no other intent and its report states all terms.
    pub(crate) fn only_deviating_row(&self, intent: usize) -> Option<usize> {
        let [row] = self.deviating_rows[intent].iter().copied().collect::<Vec<_>>()[..] else { return None };
        let owners = self.deviating_rows.iter().filter(|rows| rows.contains(&row)).count();
        (owners == 1 && states_all_terms(self.rows[row])).then_some(row)
    }

    pub(crate) fn unclear_trade_ids(&self, intent: usize) -> BTreeSet<String> {
        let is_unclear = |row: &&usize| !self.certain.contains(&(intent, **row));
        self.ids(self.possible_rows[intent].iter().filter(is_unclear))
    }

    pub(crate) fn ids<'b, C: FromIterator<String>>(&self, rows: impl IntoIterator<Item = &'b usize>) -> C {
        rows.into_iter().map(|row| self.rows[*row].id.clone()).collect()
    }

    pub(crate) fn is_awaited(&self, group: &Group) -> bool {
        !group.rows.is_disjoint(&self.awaited)
    }

    pub(crate) fn is_certain(&self, group: &Group) -> bool {
        let is_owned = |row: &usize| group.intents.iter().any(|one| self.certain.contains(&(*one, *row)));
        group.rows.iter().all(is_owned)
    }

    pub(crate) fn unowned_reports(&self) -> impl Iterator<Item = &'a TradeReport> {
        let is_looked_into = |row: &usize| self.deviating_rows.iter().any(|rows| rows.contains(row));
        let rows = self.rows.iter().enumerate();
        rows.filter(move |(row, _)| !self.is_owned(*row) && !is_looked_into(row)).map(|(_, report)| *report)
    }

    fn is_owned(&self, row: usize) -> bool {
        self.awaited.contains(&row) || self.possible_rows.iter().any(|own| own.contains(&row))
    }

    pub(crate) fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (intent, rows) in self.possible_rows.iter().enumerate() {
            let mut group = Group { intents: BTreeSet::from([intent]), rows: rows.clone() };
            let (related, others): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|other| !other.rows.is_disjoint(rows));
            for other in related {
                group.intents.extend(other.intents);
                group.rows.extend(other.rows);
            }
            groups = others;
            groups.push(group);
        }
        groups
    }

    /// Pairs intents sorted by `sort_key` with rows sorted by request time. `None` unless all match one to one.
    pub(crate) fn pair_in_order<K: Ord>(
        &self,
        group: &Group,
        sort_key: impl Fn(usize) -> K,
    ) -> Option<Vec<(usize, usize)>> {
        let mut intents: Vec<usize> = group.intents.iter().copied().collect();
        let mut rows: Vec<usize> = group.rows.iter().copied().collect();
        intents.sort_by_key(|intent| sort_key(*intent));
        rows.sort_by_key(|row| (reported_request_time(self.rows[*row]), self.rows[*row].id.as_str()));
        let is_sound = intents.len() == rows.len();
        let pairs: Vec<_> = intents.into_iter().zip(rows).collect();
        (is_sound && pairs.iter().all(|pair| self.certain.contains(pair))).then_some(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::testing;

    const UNTIL: Millis = Millis::new(500_000);

    fn check(sent: &[i64], requested: &[i64], expected: &[(&[usize], &[usize], bool)]) {
        let doubts: Vec<OrderAttempt> =
            sent.iter().map(|at| OrderAttempt { sent: Millis::new(*at), ..testing::doubt(1) }).collect();
        let queries: Vec<WindowedAttempt<'_>> =
            doubts.iter().map(|doubt| (doubt, Window { from: doubt.sent, until: UNTIL })).collect();
        let name = |row: usize| char::from(b'a' + row as u8).to_string();
        let trades = requested.iter().enumerate();
        let trades = trades.map(|(row, at)| testing::report(&name(row), Millis::new(*at))).collect();
        let listing = testing::listing(0, trades);
        let table = CandidateTable::new(&listing, |_| true, (&queries, &[]));
        let found: Vec<_> = table
            .groups()
            .into_iter()
            .map(|group| {
                let is_paired = table.pair_in_order(&group, |intent| doubts[intent].sent).is_some();
                (Vec::from_iter(group.intents), Vec::from_iter(group.rows), is_paired)
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(intents, rows, paired)| (intents.to_vec(), rows.to_vec(), *paired))
            .collect();
        assert_eq!(found, expected, "sent {sent:?}, requested {requested:?}");
    }

    #[test]
    fn groups_intents_that_may_own_the_same_trade() {
        check(&[100], &[], &[(&[0], &[], false)]);
        check(&[100], &[150], &[(&[0], &[0], true)]);
        check(&[100], &[50], &[(&[0], &[], false)]);
        check(&[100], &[150, 160], &[(&[0], &[0, 1], false)]);
        check(&[100, 200], &[150], &[(&[0], &[0], true), (&[1], &[], false)]);
        check(&[100, 200], &[250], &[(&[0, 1], &[0], false)]);
        check(&[100, 200], &[250, 150], &[(&[0, 1], &[0, 1], true)]);
        check(&[100, 200, 300], &[350, 250], &[(&[0, 1, 2], &[0, 1], false)]);
        check(&[100, 200], &[150, 160], &[(&[0], &[0, 1], false), (&[1], &[], false)]);
    }

    #[test]
    fn row_is_unowned_if_no_intent_matches() {
        let doubt = testing::doubt(1);
        let (early, late) = (Millis::new(100), Millis::new(200));
        let trades = [("a", 50), ("b", 150), ("c", 250)].map(|(id, at)| testing::report(id, Millis::new(at)));
        let listing = testing::listing(0, trades.to_vec());
        let in_doubt = [(&doubt, Window { from: early, until: late })];
        let in_flight = [(&doubt, Window { from: late, until: UNTIL })];
        for claimed in ["c", ""] {
            let table = CandidateTable::new(&listing, |row| row.id != claimed, (&in_doubt, &in_flight));
            assert_eq!(table.unowned_reports().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["a"]);
        }
    }
}
