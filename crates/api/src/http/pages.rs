//! Merges the pages of the trade list. The venue may shuffle, repeat and shift rows (see `observed: results`).
//!
//! A listing is complete if it was read to the end, every row was readable, and one of these conditions is true:
//! - The list has a single page, and this page does not announce more rows.
//! - Page one announces a length (`total` or `count`) above its row count. All pages repeat it, and all rows were read.
//! - Page one announces no such length, and no row was repeated. A shift between pages would repeat and hide rows.

use crate::Settings;
use crate::model::{TradePage, TradeQuery, TradeRecord};
use candlewick_broker::{BrokerError, TradeReport};
use std::collections::BTreeMap;

/// Number of trades requested per page (see `observed: results`).
pub(super) const PAGE_SIZE: u64 = 100;
/// Maximum number of pages to read: half a million trades. A list with more pages is treated as incomplete.
pub(super) const MAX_PAGES: u64 = 5_000;
const MAX_PAGES_WITHOUT_NEW_TRADE: u64 = 20;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MergedList {
    pub(super) is_complete: bool,
    pub(super) trades: Vec<TradeReport>,
}

/// Reader of a page field that may contain the list length (contract 2.5 does not say which field does).
type LengthReader = fn(&TradePage) -> Option<u64>;
const LENGTH_FIELDS: [LengthReader; 2] = [|page| page.total, |page| page.count];

#[derive(Debug, Default)]
pub(super) struct PageMerger {
    next: Option<TradeQuery>,
    read: u64,
    limits: ListLimits,
    bytes: usize,
    stopped: Option<String>,
    reached_end: bool,
    unreadable: usize,
    repeats: usize,
    without_new: u64,
    length: Option<(LengthReader, u64)>,
    keeps_length: bool,
    /// Distinct trades in order of arrival. `places` maps trade ids to indices in this list.
    trades: Vec<TradeReport>,
    places: BTreeMap<String, usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct ListLimits {
    pages: u64,
    rows: usize,
    bytes: usize,
}

impl PageMerger {
    pub(super) fn for_user(user_id: String, settings: &Settings) -> Self {
        let (rows, bytes) = (settings.list_rows_limit, settings.list_bytes_limit);
        Self::with_limits(user_id, PAGE_SIZE, ListLimits { pages: MAX_PAGES, rows, bytes })
    }

    fn with_limits(user_id: String, page_size: u64, limits: ListLimits) -> Self {
        let next = Some(TradeQuery { page: 1, page_size, user_id: Some(user_id) });
        Self { next, limits, keeps_length: true, ..Self::default() }
    }

    pub(super) fn query(&self) -> Option<&TradeQuery> {
        self.next.as_ref()
    }

    pub(super) fn add_page(&mut self, page: TradePage, read: impl Fn(TradeRecord) -> TradeReport) {
        let Some(query) = self.next.take() else { return };
        self.read += 1;
        self.bytes += page.bytes;
        self.check_list_length(&page);
        if let (1, Some((_, length))) = (self.read, self.length) {
            self.trades.reserve_exact(usize::try_from(length).unwrap_or(usize::MAX).min(self.limits.rows));
        }
        // The venue may cap the page size. A full page is then shorter than requested.
        let page_size = page.per_page.unwrap_or(u64::MAX).clamp(1, query.page_size);
        let following = page.next_query(&TradeQuery { page_size, ..query.clone() });
        self.reached_end = following.is_none();
        self.unreadable += page.unreadable_rows;
        let seen_before = self.trades.len();
        for trade in page.data {
            self.add_trade(read(trade));
        }
        self.without_new = if self.trades.len() > seen_before { 0 } else { self.without_new + 1 };
        if self.has_all_trades() {
            self.reached_end = true;
            return;
        }
        self.stopped = following.as_ref().and_then(|_| self.describe_reached_limit());
        self.next = following
            .filter(|_| self.stopped.is_none())
            .map(|following| TradeQuery { page_size: query.page_size, ..following });
    }

    fn add_trade(&mut self, trade: TradeReport) {
        if let Some(place) = self.places.get(&trade.id) {
            self.trades[*place] = trade;
            self.repeats += 1;
        } else {
            self.places.insert(trade.id.clone(), self.trades.len());
            self.trades.push(trade);
        }
    }

    fn has_all_trades(&self) -> bool {
        self.length.is_some_and(|(_, length)| self.keeps_length && self.trades.len() as u64 == length)
    }

    fn describe_reached_limit(&self) -> Option<String> {
        let ListLimits { pages, rows, bytes } = self.limits;
        if self.trades.len() >= rows {
            Some(format!("the trade list is longer than broker.list_rows_limit = {rows}"))
        } else if self.bytes >= bytes {
            Some(format!("the trade list is longer than broker.list_bytes_limit = {bytes} bytes"))
        } else if self.read >= pages {
            Some(format!("the trade list has more than {pages} pages"))
        } else if self.without_new >= MAX_PAGES_WITHOUT_NEW_TRADE {
            Some(format!("{MAX_PAGES_WITHOUT_NEW_TRADE} pages of the trade list contained no new trade"))
        } else {
            None
        }
    }

    pub(super) fn limit_error(&self) -> Option<BrokerError> {
        self.stopped.clone().map(|text| BrokerError::LimitReached { text })
    }

    pub(super) fn into_list(mut self) -> MergedList {
        self.places.clear();
        self.trades.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        let is_whole = match self.length {
            Some(_) => self.has_all_trades(),
            None => self.read == 1 || self.repeats == 0,
        };
        MergedList { is_complete: self.reached_end && self.unreadable == 0 && is_whole, trades: self.trades }
    }

    fn check_list_length(&mut self, page: &TradePage) {
        if self.read == 1 {
            let rows = (page.data.len() + page.unreadable_rows) as u64;
            let lengths = LENGTH_FIELDS.into_iter().filter_map(|field| Some((field, field(page)?)));
            self.length = lengths.into_iter().find(|(_, length)| *length > rows);
        } else if let Some((field, length)) = self.length {
            self.keeps_length &= field(page) == Some(length);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: ListLimits = ListLimits { pages: 5_000, rows: 100_000, bytes: usize::MAX };

    fn take(pages: &mut PageMerger, page: TradePage) {
        pages.add_page(page, |record| TradeReport::new(record.id));
    }

    fn user_pages() -> PageMerger {
        PageMerger::for_user("user".to_owned(), &Settings::default())
    }

    fn trade(id: &str) -> TradeRecord {
        TradeRecord { id: id.to_owned(), ..TradeRecord::default() }
    }

    fn rows(ids: &[&str], total: Option<u64>, count: Option<u64>) -> TradePage {
        TradePage { total, count, data: ids.iter().map(|id| trade(id)).collect(), ..TradePage::default() }
    }

    fn check<const PAGES: usize>(of: [TradePage; PAGES], (is_complete, ids): (bool, &str)) {
        let mut pages = PageMerger::with_limits("user".to_owned(), 3, ListLimits { pages: 5, ..LIMITS });
        for (number, page) in (1..).zip(of) {
            assert_eq!(pages.query().map(|query| query.page), Some(number));
            take(&mut pages, page);
        }
        assert_eq!(pages.query(), None);
        let listing = pages.into_list();
        let found: Vec<_> = listing.trades.iter().map(|trade| trade.id.as_str()).collect();
        assert_eq!((listing.is_complete, found.concat()), (is_complete, ids.to_owned()));
    }

    #[test]
    fn single_page_is_complete_unless_it_claims_more() {
        check([rows(&[], None, None)], (true, ""));
        check([rows(&["b", "a"], Some(2), Some(2))], (true, "ab"));
        check([rows(&["b", "a", "b"], Some(2), Some(3)), rows(&[], Some(2), Some(0))], (false, "ab"));
        check([rows(&["b", "b"], None, None)], (true, "b"));
        check([rows(&["b", "a"], Some(3), Some(2))], (false, "ab"));
        check([rows(&["b", "a"], None, Some(3))], (false, "ab"));
        check([TradePage { unreadable_rows: 1, ..rows(&["a"], None, None) }], (false, "a"));
    }

    #[test]
    fn pages_are_complete_at_the_stated_length() {
        let (first, second) = (&["f", "e", "d"], &["c", "b"]);
        check([rows(first, Some(5), Some(3)), rows(second, Some(5), Some(2))], (true, "bcdef"));
        check([rows(first, Some(3), Some(5)), rows(second, Some(2), Some(5))], (true, "bcdef"));
        check([rows(first, Some(5), None), rows(second, Some(5), None)], (true, "bcdef"));
        check([rows(first, Some(5), Some(3)), rows(&["d", "c", "b"], Some(5), Some(3))], (true, "bcdef"));
        check([rows(first, Some(5), Some(3)), rows(&["d", "c"], Some(6), Some(2))], (false, "cdef"));
        check([rows(first, Some(6), Some(3)), rows(second, Some(6), Some(2))], (false, "bcdef"));
        check([rows(first, Some(5), Some(3)), rows(second, None, Some(2))], (false, "bcdef"));
    }

    #[test]
    fn repeated_row_without_length_is_incomplete() {
        let first = &["f", "e", "d"];
        check([rows(first, None, None), rows(&["c", "b"], None, None)], (true, "bcdef"));
        check([rows(first, Some(3), Some(3)), rows(&["c"], Some(1), Some(1))], (true, "cdef"));
        check([rows(first, None, None), rows(&["d", "c"], None, None)], (false, "cdef"));
        check([rows(first, Some(3), Some(3)), rows(&["d"], Some(1), Some(1))], (false, "def"));
    }

    #[test]
    fn list_not_read_to_its_end_is_incomplete() {
        let pages = user_pages();
        assert!(!pages.into_list().is_complete);
        let mut pages = PageMerger::with_limits("user".to_owned(), 2, ListLimits { pages: 2, ..LIMITS });
        take(&mut pages, rows(&["a", "b"], None, None));
        take(&mut pages, rows(&["c", "d"], None, None));
        assert_eq!(pages.query(), None);
        assert!(!pages.into_list().is_complete);
    }

    fn numbered(page: u64, last: u64) -> TradePage {
        let first = (page - 1) * PAGE_SIZE;
        let ids = (first..first + PAGE_SIZE).map(|number| format!("trade-{number}"));
        let data = ids.map(|id| trade(&id)).collect();
        TradePage { total: Some(last * PAGE_SIZE), last_page: Some(last), data, ..TradePage::default() }
    }

    #[test]
    fn gives_up_an_endless_list() {
        let mut pages = user_pages();
        let mut asked = 0;
        while pages.query().is_some() {
            asked += 1;
            take(&mut pages, numbered(asked.min(3), 1_000_000));
        }
        assert_eq!(asked, 3 + MAX_PAGES_WITHOUT_NEW_TRADE);
        assert!(pages.limit_error().unwrap().to_string().contains("no new trade"));
        assert!(!pages.into_list().is_complete);
    }

    #[test]
    fn accepts_smaller_pages_than_requested() {
        let mut pages = user_pages();
        take(&mut pages, TradePage { per_page: Some(2), ..rows(&["a", "b"], Some(3), None) });
        let asked = pages.query().cloned().unwrap();
        assert_eq!((asked.page, asked.page_size), (2, PAGE_SIZE));
        take(&mut pages, TradePage { per_page: Some(2), ..rows(&["c"], Some(3), None) });
        assert!(pages.into_list().is_complete);
    }

    #[test]
    fn stops_at_the_exceeded_bound() {
        for (limits, bound, most) in [
            (ListLimits { rows: 250, ..LIMITS }, "broker.list_rows_limit = 250", 3),
            (ListLimits { bytes: 5_000, ..LIMITS }, "broker.list_bytes_limit = 5000", 5),
            (ListLimits { pages: 7, ..LIMITS }, "7 pages", 7),
        ] {
            let mut pages = PageMerger::with_limits("user".to_owned(), PAGE_SIZE, limits);
            let mut asked = 0;
            while let Some(page) = pages.query().map(|query| query.page) {
                asked += 1;
                take(&mut pages, TradePage { bytes: 1_000, ..numbered(page, 1_000_000) });
            }
            let stopped = pages.limit_error().unwrap().to_string();
            assert!(stopped.contains(bound) && asked == most, "{stopped} after {asked} pages");
            assert!(!pages.into_list().is_complete);
        }
    }

    #[test]
    fn stops_once_all_trades_were_seen() {
        let mut pages = user_pages();
        for page in 1..=3 {
            assert_eq!(pages.query().map(|query| query.page), Some(page));
            // Every page claims 300 trades and claims that a next page exists.
            take(&mut pages, TradePage { total: Some(300), ..numbered(page, 1_000_000) });
        }
        assert_eq!((pages.query(), pages.limit_error()), (None, None));
        assert!(pages.into_list().is_complete);
    }
}
