//! Check for foreign trades at the venue, which use the same wallet as the bot.

use super::bound::QUESTION;
use super::finding::{Check, Finding};
use super::venue::{Api, Asked, remedy};
use crate::configuration::{Loaded, Mode, journal_url};
use crate::recent::read_recent;
use candlewick_broker::{Account, Broker, Progress, TradeListing, TradeReport};
use candlewick_engine::VenueId;
use candlewick_journal::{JournalError, JournalUrl, Reader};
use std::collections::BTreeSet;

const NAMED: usize = 3;

pub(super) async fn check(asked: &Asked, loaded: &Loaded) -> Finding {
    let Ok(listing) = tokio::time::timeout(QUESTION, asked.venue.trades()).await else {
        let text = format!("not known: the venue's list was not read within {} s", QUESTION.as_secs());
        return Check::OpenTrades.warn(text, "look at the venue whether a trade is open");
    };
    if let (true, Some(error)) = (listing.trades.is_empty(), &listing.ended_early) {
        return Check::OpenTrades.fail(error.to_string(), remedy(error, Api::Trading));
    }
    let account = match loaded.config.account.mode {
        Mode::Demo => Account::Demo,
        Mode::Real => Account::Real,
    };
    let known = match journal_url(loaded) {
        Ok(url) => known_trades(&url).await,
        Err(_) => None,
    };
    judge(&listing, account, known.as_ref())
}

pub(super) fn not_asked() -> Finding {
    Check::OpenTrades.warn("not asked: the trading API comes first", "mend that")
}

async fn known_trades(url: &JournalUrl) -> Option<BTreeSet<String>> {
    let mut reader = match Reader::open(url).await {
        Ok(reader) => reader,
        Err(JournalError::NotFound { .. }) => return Some(BTreeSet::new()),
        Err(_) => return None,
    };
    let book = tokio::time::timeout(QUESTION, read_recent(&mut reader)).await.ok()?.ok()?.book;
    let ids = book.rows().iter().filter_map(|row| book.venue_id(row));
    Some(ids.map(|id| id.as_str().to_owned()).collect())
}

fn judge(listing: &TradeListing, account: Account, known: Option<&BTreeSet<String>>) -> Finding {
    let is_open = |trade: &&TradeReport| {
        trade.progress == Progress::Running && trade.account.is_none_or(|of| of == account)
    };
    let open: Vec<&TradeReport> = listing.trades.iter().filter(is_open).collect();
    let seen = if listing.is_complete { "" } else { ", as far as its list was read" };
    let trades = match open.len() {
        0 => return Check::OpenTrades.ok(format!("none is open at the venue{seen}")),
        1 => format!("1 trade is open at the venue{seen}"),
        count => format!("{count} trades are open at the venue{seen}"),
    };
    let Some(known) = known else {
        return Check::OpenTrades.warn(
            format!("{trades}; the journal cannot say whether it knows them"),
            "mend the journal first",
        );
    };
    let is_strange = |trade: &&&TradeReport| !known.contains(VenueId::truncated(&trade.id).as_str());
    let strange: Vec<&&TradeReport> = open.iter().filter(is_strange).collect();
    if strange.is_empty() {
        return Check::OpenTrades.ok(format!("{trades}, and the journal knows each of them"));
    }
    let name = |trade: &&&TradeReport| match &trade.symbol {
        Some(symbol) => format!("{} ({symbol})", trade.id),
        None => trade.id.clone(),
    };
    let mut names: Vec<String> = strange.iter().take(NAMED).map(name).collect();
    names.extend((strange.len() > NAMED).then(|| format!("and {} more", strange.len() - NAMED)));
    Check::OpenTrades.warn(
        format!("{trades}, and the journal does not know {} of them: {}", strange.len(), names.join(", ")),
        "does a person or another program trade this account? Its trades move the wallet, and no limit of the bots counts them",
    )
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;
    use candlewick_sdk::{Millis, Outcome};

    fn trade(id: &str, account: Account, progress: Progress) -> TradeReport {
        let symbol = Some("EURUSD".to_owned());
        TradeReport { account: Some(account), progress, symbol, ..TradeReport::new(id) }
    }

    #[test]
    fn open_trades_of_the_account_that_no_journal_knows_are_named() {
        use Account::{Demo, Real};
        let over = Progress::Over(Outcome::Won);
        let all = [
            trade("a", Demo, Progress::Running),
            trade("b", Demo, Progress::Running),
            trade("c", Demo, over),
            trade("d", Real, Progress::Running),
        ];
        let many: Vec<TradeReport> =
            (0..5).map(|number| trade(&format!("t{number}"), Demo, Progress::Running)).collect();
        let is_complete = true;
        for (trades, known, is_complete, mark, text) in [
            (&all[2..], Some(&[][..]), is_complete, Mark::Ok, "none is open at the venue"),
            (
                &all[..],
                Some(&["a", "b"]),
                is_complete,
                Mark::Ok,
                "2 trades are open at the venue, and the journal knows each of them",
            ),
            (
                &all[..],
                Some(&["a"]),
                is_complete,
                Mark::Warn,
                "2 trades are open at the venue, and the journal does not know 1 of them: b (EURUSD)",
            ),
            (
                &all[..1],
                None,
                is_complete,
                Mark::Warn,
                "1 trade is open at the venue; the journal cannot say whether it knows them",
            ),
            (
                &many[..],
                Some(&[]),
                false,
                Mark::Warn,
                "5 trades are open at the venue, as far as its list was read, and the journal does not know 5 of them: t0 (EURUSD), t1 (EURUSD), \
                 t2 (EURUSD), and 2 more",
            ),
        ] {
            let (began, ended) = (Millis::ZERO, Millis::ZERO);
            let listing =
                TradeListing { began, ended, is_complete, trades: trades.to_vec(), ended_early: None };
            let known: Option<BTreeSet<String>> =
                known.map(|known| known.iter().map(|id| (*id).to_owned()).collect());
            let found = judge(&listing, Demo, known.as_ref());
            assert_eq!((found.mark, found.text.as_str()), (mark, text));
        }
    }
}
