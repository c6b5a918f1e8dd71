//! Evicts old intents: a starting run loads only summaries of them. The intents themselves remain in the journal.

use super::snapshot::StoredIntent;
use crate::error::Result;
use crate::min_retention_override;
use crate::overview::{BotTallies, MAX_SETTLED_TRADES};
use crate::resolver::{ClaimedTrades, hash_id, latest_close};
use candlewick_engine::{BotId, EdgeRow, IntentId, IntentRow, IntentState, SymbolId};
use candlewick_journal::Reader;
use candlewick_sdk::{Millis, Money, Outcome, Payout, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum age of an evicted intent. Results of younger intents are still compared with the venue's trade list.
const MIN_EVICTION_AGE: Millis = Millis::DAY;
const MAX_RESERVED_CAPACITY: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OldTrade {
    pub intent: IntentId,
    pub bot: BotId,
    /// Time of the settlement event, outcome and profit. `None` if the trade is not settled.
    pub settled: Option<(Millis, Outcome, Money)>,
    pub edge: EdgeRow,
    pub is_settled_by_operator: bool,
    venue: Option<u64>,
}

impl OldTrade {
    pub fn has_venue_id(&self, venue_id: &str) -> bool {
        self.venue == Some(hash_id(venue_id))
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct EvictedIntents {
    pub(crate) count: u64,
    pub(crate) tallies: BotTallies,
    pub(crate) claimed: ClaimedTrades,
    pub(crate) payouts: BTreeMap<SymbolId, Payout>,
    /// Rows of the evicted intents, newest first, without reasons and venue ids. Empty unless the caller requests them.
    pub(crate) rows: Vec<IntentRow>,
    pub(crate) trades: Vec<OldTrade>,
    pub(crate) bots: BTreeSet<(u64, usize)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetainedDetail {
    Nothing,
    Rows,
    Trades,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct EvictionPolicy {
    held_to: u64,
    remember: Millis,
    bots: usize,
    kept: RetainedDetail,
}

pub(super) struct EvictionFilter {
    held_to: u64,
    until: Millis,
    /// Periods around requests whose trades have not been identified. Intents in these periods are not evicted.
    windows: Vec<UnresolvedWindow>,
    shown: usize,
    has_last: bool,
    /// Whether each intent of the previously read part was evicted. The next part may repeat an intent's older state.
    last_part: BTreeMap<IntentId, bool>,
    /// Whether each intent that may occur in non-adjacent parts was evicted.
    repeated: BTreeMap<IntentId, bool>,
    kept: RetainedDetail,
    old: EvictedIntents,
}

struct UnresolvedWindow {
    symbol: SymbolId,
    from: Millis,
    until: Millis,
}

impl EvictedIntents {
    pub(crate) fn payouts_by_symbol(&self, symbols: &[Symbol]) -> Vec<(Symbol, Payout)> {
        let known = self.payouts.iter();
        known.filter_map(|(id, payout)| Some((*symbols.get(id.index())?, *payout))).collect()
    }
}

impl EvictionPolicy {
    /// Loads the eviction policy. Returns `None` if the journal's tables do not contain the old intents.
    pub(super) async fn load(reader: &mut Reader, remember: Millis, bots: usize) -> Result<Option<Self>> {
        let held_to = reader.last_entry_in_tables().await?;
        Ok(held_to.map(|held_to| Self { held_to, remember, bots, kept: RetainedDetail::Nothing }))
    }

    pub(super) fn with_detail(self, kept: RetainedDetail) -> Self {
        Self { kept, ..self }
    }
}

impl UnresolvedWindow {
    fn new(intent: &StoredIntent, at: Millis, slack: Millis) -> Option<Self> {
        let row = intent.row();
        let (sent, expiry) = (row.approved.decision_time(), row.approved.expiry());
        let may_be_trade = match row.state {
            IntentState::InFlight | IntentState::InDoubt => true,
            IntentState::Open => intent.kept.venue_id().is_none(),
            IntentState::NotOpened => at - sent < Millis::DAY,
            IntentState::Settled | IntentState::Rejected | IntentState::NotSent => false,
        };
        let ended = intent.doubted.unwrap_or(at);
        let until = latest_close(ended, expiry.close_type) + slack;
        may_be_trade.then(|| Self { symbol: row.approved.symbol(), from: sent - slack, until })
    }

    fn is_near(&self, intent: &StoredIntent, ended: Millis) -> bool {
        let terms = &intent.row().approved;
        let may_be_of_symbol = terms.symbol() == self.symbol || intent.kept.has_changed_terms();
        may_be_of_symbol && terms.decision_time() <= self.until && ended >= self.from
    }
}

impl EvictionFilter {
    pub(super) fn new(policy: EvictionPolicy, at: Millis, last: &[StoredIntent]) -> Self {
        let EvictionPolicy { held_to, remember, bots, kept } = policy;
        let remembered = remember.max(min_retention_override().unwrap_or(MIN_EVICTION_AGE));
        Self {
            held_to,
            until: at - remembered,
            windows: last.iter().filter_map(|intent| UnresolvedWindow::new(intent, at, remembered)).collect(),
            shown: last.iter().filter(|intent| intent.row().settled_at.is_some()).count(),
            has_last: false,
            last_part: BTreeMap::new(),
            repeated: last.iter().map(|intent| (intent.row().approved.intent(), false)).collect(),
            kept,
            old: EvictedIntents { tallies: BotTallies::zeroed(bots), ..EvictedIntents::default() },
        }
    }

    pub(super) fn retain(&mut self, seq: u64, intents: Vec<StoredIntent>) -> Vec<StoredIntent> {
        let mut taken = BTreeMap::new();
        let mut kept: Vec<StoredIntent> = Vec::new();
        // The new intents of a part are at its end and have consecutive numbers.
        let (mut next, mut is_new) = (None, true);
        for intent in intents.into_iter().rev() {
            let row = *intent.row();
            let (id, is_corrected) = (row.approved.intent(), intent.kept.is_corrected());
            is_new &= next.is_none_or(|next: IntentId| id.number() + 1 == next.number());
            next = Some(id);
            let known = self.repeated.get(&id).or_else(|| self.last_part.get(&id)).copied();
            let is_evicted =
                known.unwrap_or_else(|| self.has_last && seq <= self.held_to && self.is_old(&intent));
            if known.is_none() && is_evicted {
                self.evict(&intent, &row);
            }
            if !is_evicted {
                self.has_last = true;
                self.shown += usize::from(known.is_none() && row.settled_at.is_some());
                kept.push(intent);
            }
            taken.insert(id, is_evicted);
            if !is_new || is_corrected {
                self.repeated.insert(id, is_evicted);
            }
        }
        self.last_part = taken;
        kept.reverse();
        kept
    }

    fn is_old(&self, intent: &StoredIntent) -> bool {
        let row = intent.row();
        let ended = row.settled_at.or(row.answered_at).filter(|_| row.is_finished());
        let is_shown = row.settled_at.is_some() && self.shown < MAX_SETTLED_TRADES;
        let is_near = |ended| self.windows.iter().any(|window| window.is_near(intent, ended));
        ended.is_some_and(|ended| ended < self.until && !is_near(ended)) && !is_shown
    }

    fn evict(&mut self, intent: &StoredIntent, row: &IntentRow) {
        self.old.count += 1;
        self.old.tallies.add_trade(row);
        self.retain_details(intent, row);
        if let Some(payout) = row.payout {
            self.old.payouts.entry(row.approved.symbol()).or_insert(payout);
        }
        if let (Some(id), Some(ended)) = (intent.kept.venue_id(), row.settled_at.or(row.answered_at)) {
            self.old.claimed.prepend_old_trade(id.as_str(), ended);
        }
    }

    /// Retains the requested details of an evicted intent. The caller must pass the intents in descending order.
    fn retain_details(&mut self, intent: &StoredIntent, row: &IntentRow) {
        let most = usize::try_from(row.approved.intent().number()).unwrap_or(0);
        match self.kept {
            RetainedDetail::Nothing => {}
            RetainedDetail::Rows => push_with_capacity(&mut self.old.rows, *row, most),
            RetainedDetail::Trades => {
                let ended = row.settled_at.zip(row.outcome).filter(|_| row.state == IntentState::Settled);
                let trade = OldTrade {
                    intent: row.approved.intent(),
                    bot: row.approved.bot(),
                    settled: ended.map(|(at, outcome)| (at, outcome, row.profit)),
                    edge: EdgeRow::from_row(row),
                    is_settled_by_operator: intent.kept.is_settled_by_operator(),
                    venue: intent.kept.venue_id().map(|id| hash_id(id.as_str())),
                };
                push_with_capacity(&mut self.old.trades, trade, most);
                self.old.bots.extend(intent.decided.map(|decided| (decided.run, decided.bot)));
            }
        }
    }

    pub(super) fn finish(mut self) -> EvictedIntents {
        // Corrected intents are in a later part than their neighbors, so the rows have to be sorted.
        self.old.rows.sort_by_key(|row| std::cmp::Reverse(row.approved.intent()));
        self.old.trades.sort_by_key(|trade| std::cmp::Reverse(trade.intent));
        self.old
    }
}

fn push_with_capacity<T>(list: &mut Vec<T>, one: T, most: usize) {
    if list.is_empty() {
        list.reserve_exact(most.min(MAX_RESERVED_CAPACITY));
    }
    list.push(one);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const AT: Millis = Millis::new(10 * Millis::DAY.get());
    const POLICY: EvictionPolicy =
        EvictionPolicy { held_to: 100, remember: Millis::HOUR, bots: 2, kept: RetainedDetail::Nothing };

    /// Creates an intent of the second bot, decided on `day`. The intent settles immediately, or is in doubt.
    fn intent(number: u64, day: i64, is_settled: bool) -> StoredIntent {
        let at = Millis::DAY * day;
        let (state, settled_at) = if is_settled { ("settled", json!(at)) } else { ("in_doubt", Value::Null) };
        let outcome = if is_settled { json!("WON") } else { Value::Null };
        let payout = 80 + number.min(20);
        let expiry = json!({ "close_type": "01:00", "expiration_type": "TIME_FIXED" });
        let approved = json!({
            "intent": number, "bot": 1, "symbol": 0, "direction": "BUY", "expiry": expiry, "stake": 1_000,
            "decision_time": at,
        });
        let sequence = json!({
            "decided": 1, "answered": 0, "left_out": 0, "settled": 0, "answered_payout": null, "settled_payout": null,
        });
        let row = json!({
            "approved": approved, "state": state, "answered_at": null, "open_time": null, "open_price": null,
            "close_time": null, "close_price": null, "payout": payout, "outcome": outcome, "profit": 800,
            "settled_at": settled_at, "sequence": sequence,
        });
        let kept = json!({
            "row": row, "text": "", "numbers": [], "venue_id": format!("trade-{number}"), "ordered": null,
            "by_person": false,
        });
        serde_json::from_value(json!({ "kept": kept, "sent": null, "doubted": null, "decided": null }))
            .unwrap()
    }

    fn shown() -> Vec<StoredIntent> {
        (1_000..1_050).map(|number| intent(number, 9, true)).collect()
    }

    fn numbers(kept: &[StoredIntent]) -> Vec<u64> {
        kept.iter().map(|intent| intent.row().approved.intent().number()).collect()
    }

    #[test]
    fn evicts_day_old_intents_that_the_tables_contain() {
        for (doubt, seq, expected) in
            [(10, 100, vec![9]), (6, 100, vec![5, 6, 7, 8, 9]), (10, 101, vec![2, 3, 4, 5, 6, 7, 8, 9])]
        {
            let mut last = shown();
            last.push(intent(2_000, doubt, false));
            let mut filter = EvictionFilter::new(POLICY, AT, &last);
            assert_eq!(numbers(&filter.retain(200, vec![intent(20, 9, true)])), [20]);
            let part = (2..=9).map(|number| intent(number, number as i64, true)).collect();
            assert_eq!(numbers(&filter.retain(seq, part)), expected, "a doubt of day {doubt}, entry {seq}");
            let old = filter.finish();
            let left = 8 - expected.len() as u64;
            assert_eq!((old.count, old.tallies.won(1)), (left, left));
            assert_eq!(old.claimed.contains("trade-2"), left > 0);
            assert!(!old.claimed.contains("trade-9"));
            let payout = Payout::from_percent(88.into()).ok().filter(|_| left == 7);
            let known =
                old.payouts_by_symbol(&["BTCUSDT".parse().unwrap()]).first().map(|(_, payout)| *payout);
            assert!(payout.is_none() || known == payout, "the last evicted intent: {known:?}");
        }
    }

    /// All intents of a part settled on days 2 to 9. The test varies one intent's state since the end of day 4,
    /// its terms, or its symbol.
    #[test]
    fn retains_intents_near_an_unresolved_request_on_its_symbol() {
        let changed = |intent: StoredIntent, changes: &[(&str, Value)]| -> StoredIntent {
            let mut text = serde_json::to_value(intent).unwrap();
            for (pointer, value) in changes {
                *text.pointer_mut(pointer).unwrap() = value.clone();
            }
            serde_json::from_value(text).unwrap()
        };
        let state = |state: &str| ("/kept/row/state", json!(state));
        let all = || (2..=9).map(|number| intent(number, number as i64, true)).collect::<Vec<_>>();
        let kept = |unclear: StoredIntent, part: Vec<StoredIntent>| {
            let mut last = shown();
            last.push(unclear);
            let mut filter = EvictionFilter::new(POLICY, AT, &last);
            assert_eq!(numbers(&filter.retain(90, vec![intent(20, 9, true)])), [20]);
            numbers(&filter.retain(80, part))
        };
        let doubted = ("/doubted", json!(Millis::DAY * 4));
        let of_day = |state| changed(intent(2_000, 4, false), &[doubted.clone(), state]);
        for name in ["in_doubt", "in_flight"] {
            assert_eq!(kept(of_day(state(name)), all()), [3, 4, 5, 9], "{name}");
        }
        // The cases are a known trade, and an intent without a trade that is no longer searched for.
        let open = changed(intent(2_000, 4, false), &[state("open")]);
        assert_eq!(kept(open, all()), [9]);
        assert_eq!(kept(of_day(state("not_opened")), all()), [9]);
        let unnamed = [doubted.clone(), state("open"), ("/kept/venue_id", Value::Null)];
        assert_eq!(kept(changed(intent(2_000, 4, false), &unnamed), all()), [3, 4, 5, 9]);
        let elsewhere = ("/kept/row/approved/symbol", json!(1));
        let others = || all().into_iter().map(|intent| changed(intent, std::slice::from_ref(&elsewhere)));
        assert_eq!(kept(of_day(state("in_doubt")), others().collect()), [9]);
        let terms = serde_json::to_value(intent(1, 1, true)).unwrap().pointer("/kept/row/approved").cloned();
        let otherwise = ("/kept/ordered", json!({ "ordered": terms.unwrap(), "symbol": null }));
        let taken = others().map(|intent| changed(intent, std::slice::from_ref(&otherwise))).collect();
        assert_eq!(kept(of_day(state("in_doubt")), taken), [3, 4, 5, 9]);
    }

    #[test]
    fn evicted_intent_is_not_restored_from_earlier_parts() {
        let mut filter = EvictionFilter::new(POLICY, AT, &shown());
        assert_eq!(numbers(&filter.retain(90, vec![intent(3, 2, true), intent(9, 9, true)])), [9]);
        assert_eq!(numbers(&filter.retain(80, vec![intent(2, 2, true), intent(3, 2, false)])), [0; 0]);
        assert_eq!(numbers(&filter.retain(70, vec![intent(1, 1, true), intent(3, 2, false)])), [0; 0]);
        assert_eq!(filter.finish().count, 3);
    }

    #[test]
    fn retains_the_last_intent_and_the_fifty_last_settled() {
        let mut filter = EvictionFilter::new(POLICY, AT, &shown()[..48]);
        let part = (1..=4).map(|number| intent(number, 1, true)).collect();
        // The last intent of the part is displayed as the 49th, and the intent before it as the 50th.
        assert_eq!(numbers(&filter.retain(90, part)), [3, 4]);
        let mut filter = EvictionFilter::new(POLICY, AT, &shown());
        let part = (1..=4).map(|number| intent(number, 1, true)).collect();
        assert_eq!(numbers(&filter.retain(90, part)), [4]);
    }
}
