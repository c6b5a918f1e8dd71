//! Venue client, and checks of the venue's clock, token, wallets and open trades.

use super::finding::{Check, Finding, REQUEST_TIMEOUT};
use crate::configuration::{Config, LoadedConfig, asset_types, credentials, journal_url};
use crate::recent::read_recent;
use candlewick_api::HttpBroker;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_broker::{
    Account, Balances, Broker, BrokerError, ClockSkew, Identity, Reply, TradeListing, TradeProgress,
    TradeReport,
};
use candlewick_engine::VenueId;
use candlewick_journal::{JournalError, JournalUrl, Reader};
use candlewick_runtime::rounded_balance;
use candlewick_sdk::Millis;
use candlewick_sdk::rust_decimal::Decimal;
use std::collections::BTreeSet;
use std::sync::Arc;

const REQUEST_TIMEOUT_MS: u64 = 10_000;

pub(super) struct VenueProbe {
    pub(super) venue: HttpBroker,
    pub(super) base_url: String,
    pub(super) price_url: String,
    pub(super) has_token: bool,
    pub(super) has_key: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiKind {
    Trading,
    Price,
}

impl VenueProbe {
    pub(super) fn new(loaded: &LoadedConfig) -> Option<Self> {
        let mut settings = loaded.config.broker.client.clone();
        settings.read_deadline_ms = settings.read_deadline_ms.min(REQUEST_TIMEOUT_MS);
        settings.timeout_ms = settings.timeout_ms.min(REQUEST_TIMEOUT_MS);
        let (base_url, price_url) = (settings.base_url.clone(), settings.price_url.clone());
        // Unreadable credentials have already been reported. The venue is checked without credentials.
        let credentials = credentials(loaded).unwrap_or_default();
        let (has_token, has_key) = (credentials.api_token.is_some(), credentials.api_key.is_some());
        let asset_types = asset_types(&loaded.config.bots);
        let venue = HttpBroker::new(settings, credentials, Arc::new(SystemClock::new())).ok()?;
        let venue = venue.with_asset_types(asset_types);
        Some(Self { venue, base_url, price_url, has_token, has_key })
    }
}

pub(super) async fn send_request<T>(
    question: impl Future<Output = Result<Reply<T>, BrokerError>>,
    samples: &mut ClockSamples,
) -> Result<T, BrokerError> {
    match tokio::time::timeout(REQUEST_TIMEOUT, question).await {
        Ok(Ok(reply)) => {
            samples.record(&reply);
            Ok(reply.value)
        }
        Ok(Err(error)) => Err(error),
        Err(_) => Err(BrokerError::Unavailable {
            text: format!("no answer within {} s", REQUEST_TIMEOUT.as_secs()),
        }),
    }
}

pub fn suggest_fix(error: &BrokerError, api: ApiKind) -> String {
    let (key, variable) = match api {
        ApiKind::Trading => ("broker.base_url", "CANDLEWICK_BROKER__API_TOKEN or broker.api_token_file"),
        ApiKind::Price => ("broker.price_url", "CANDLEWICK_BROKER__API_KEY or broker.api_key_file"),
    };
    match error {
        BrokerError::Credentials { .. } => {
            format!("check {variable}, or create a new credential at the venue")
        }
        BrokerError::Unavailable { .. } => {
            format!("check {key} and the network; `candlewick sandbox` serves a local venue")
        }
        BrokerError::RateLimited { .. } => "wait, and lower broker.requests_per_second".to_owned(),
        BrokerError::NotFound { .. } | BrokerError::Malformed { .. } | BrokerError::Rejected { .. } => {
            format!("check {key}, including the venue's path prefix")
        }
        BrokerError::LimitReached { .. } => "raise the limit that the error names, if necessary".to_owned(),
        BrokerError::Settings { .. } => "run `candlewick config check`".to_owned(),
    }
}

const CLOCK_HINT: &str = "synchronise this machine's clock, for example with `timedatectl set-ntp true`";

pub(super) struct ClockSamples {
    clock: SystemClock,
    common: Option<ClockSkew>,
    answers: usize,
    undated: usize,
}

impl ClockSamples {
    pub(super) fn new() -> Self {
        Self { clock: SystemClock::new(), common: None, answers: 0, undated: 0 }
    }

    pub(super) fn record<T>(&mut self, reply: &Reply<T>) {
        match reply.skew() {
            Some(skew) => self.add(skew),
            None => self.undated += 1,
        }
    }

    pub(super) fn venue_now(&self) -> Millis {
        let ahead = self.common.filter(|common| common.low <= common.high).map(ClockSkew::min_abs_skew);
        self.clock.now() + ahead.unwrap_or_default()
    }

    fn add(&mut self, skew: ClockSkew) {
        self.answers += 1;
        self.common = Some(match self.common {
            Some(common) => ClockSkew { low: common.low.max(skew.low), high: common.high.min(skew.high) },
            None => skew,
        });
    }
}

/// Compares the clock skew with the maximum for opening trades. A maximum of 0 allows any skew.
pub(super) fn check_clock_skew(samples: &ClockSamples, max_clock_skew_ms: u32) -> Finding {
    let allowed = Millis::new(i64::from(max_clock_skew_ms));
    let ClockSamples { common, answers, undated, .. } = samples;
    let Some(common) = common else {
        return match undated {
            0 => Check::ClockSkew.warn("skew not measured: the venue did not answer", "fix the connection"),
            _ => Check::ClockSkew.warn(
                format!("skew unknown: {undated} answers from the venue have no Date header"),
                "synchronise this machine's clock with NTP",
            ),
        };
    };
    let seconds = |span: Millis| format!("{:+.2} s", span.get() as f64 / 1_000.0);
    let ClockSkew { low, high } = *common;
    if low > high {
        let text = format!("timestamps of {answers} answers contradict each other; a clock may have changed");
        return Check::ClockSkew.warn(text, "try again; the clocks of the venue's servers may differ");
    }
    let skew = format!("the venue's clock is {} to {} ahead of this machine", seconds(low), seconds(high));
    let limit = format!("risk.max_clock_skew_ms allows {} ms", allowed.get());
    if allowed > Millis::ZERO && common.min_abs_skew().abs_diff(Millis::ZERO) > allowed {
        return Check::ClockSkew.fail(format!("{skew}; {limit}"), CLOCK_HINT);
    }
    if common.min_abs_skew() != Millis::ZERO {
        return Check::ClockSkew.warn(format!("{skew}; {limit}"), CLOCK_HINT);
    }
    Check::ClockSkew.ok(format!("{skew}, within the margin of error; {limit}"))
}

pub(super) async fn check_user(asked: &VenueProbe, samples: &mut ClockSamples) -> Finding {
    let url = &asked.base_url;
    if !asked.has_token {
        return Check::TradingApi.warn("skipped: no api-token is set", "set the api-token first");
    }
    match send_request(asked.venue.identity(), samples).await {
        Ok(user) => judge_user(&user, url),
        Err(e) => Check::TradingApi.fail(format!("{url}: {e}"), suggest_fix(&e, ApiKind::Trading)),
    }
}

fn judge_user(identity: &Identity, url: &str) -> Finding {
    let accepted = format!("{url} accepts the token of user {}", identity.user);
    if identity.restrictions.is_empty() {
        Check::TradingApi.ok(accepted)
    } else {
        let text = format!("{accepted}, but the account is {}", identity.restrictions.join(", "));
        Check::TradingApi.fail(text, "ask the venue to lift the restriction, or use another account's token")
    }
}

pub(super) async fn check_wallets(
    asked: &VenueProbe,
    config: &Config,
    samples: &mut ClockSamples,
) -> Finding {
    match send_request(asked.venue.balances(), samples).await {
        Ok(balances) => judge_balances(&balances, config),
        Err(error) => Check::Wallets.fail(error.to_string(), suggest_fix(&error, ApiKind::Trading)),
    }
}

fn judge_balances(balances: &Balances, config: &Config) -> Finding {
    let account = config.account.mode.account();
    let name = if account == Account::Real { "REAL" } else { "DEMO" };
    let Some(balance) = balances.balance(account) else {
        let types: BTreeSet<&str> = balances.wallets.iter().map(|wallet| wallet.type_name.as_str()).collect();
        let types = types.into_iter().collect::<Vec<_>>().join(", ");
        let listed = if types.is_empty() { String::new() } else { format!("; the venue listed: {types}") };
        let text = format!("the account has no {name} wallet{listed}");
        return Check::Wallets
            .fail(text, format!("open a {name} wallet at the venue or change account.mode"));
    };
    let text = format!("the {name} wallet holds {}{}", balance.normalize(), describe_bonus(balances));
    if balance < config.risk.min_stake.max(Decimal::new(1, config.account.money_scale.decimals())) {
        let remedy = "fund the wallet at the venue: the balance is below the smallest stake (risk.min_stake)";
        return Check::Wallets.warn(text, remedy);
    }
    if rounded_balance(balance, config.account.money_scale).is_err() {
        let decimals = balance.normalize().scale();
        return Check::Wallets.warn(text, format!("set account.money_scale = {decimals} to avoid rounding"));
    }
    Check::Wallets.ok(text)
}

fn describe_bonus(balances: &Balances) -> String {
    let bonus = balances.bonus.map(|bonus| bonus.normalize());
    bonus.map_or(String::new(), |bonus| {
        format!("; a BONUS wallet holds {bonus}, not counted here; the venue may pay part of a stake from it")
    })
}

const MAX_LISTED_TRADES: usize = 3;

pub(super) async fn check_open_trades(asked: &VenueProbe, loaded: &LoadedConfig) -> Finding {
    let Ok(listing) = tokio::time::timeout(REQUEST_TIMEOUT, asked.venue.trades()).await else {
        let text = format!("unknown: the venue did not list trades within {} s", REQUEST_TIMEOUT.as_secs());
        return Check::OpenTrades.warn(text, "check for open trades at the venue");
    };
    if let (true, Some(error)) = (listing.trades.is_empty(), &listing.end_error) {
        return Check::OpenTrades.fail(error.to_string(), suggest_fix(error, ApiKind::Trading));
    }
    let known = match journal_url(loaded) {
        Ok(url) => known_trades(&url).await,
        Err(_) => None,
    };
    judge_trades(&listing, loaded.config.account.mode.account(), known.as_ref())
}

async fn known_trades(url: &JournalUrl) -> Option<BTreeSet<String>> {
    let mut reader = match Reader::open(url).await {
        Ok(reader) => reader,
        Err(JournalError::NotFound { .. }) => return Some(BTreeSet::new()),
        Err(_) => return None,
    };
    let book = tokio::time::timeout(REQUEST_TIMEOUT, read_recent(&mut reader)).await.ok()?.ok()?.book;
    let ids = book.rows().iter().filter_map(|row| book.venue_id(row));
    Some(ids.map(|id| id.as_str().to_owned()).collect())
}

fn judge_trades(listing: &TradeListing, account: Account, known: Option<&BTreeSet<String>>) -> Finding {
    let is_open = |trade: &&TradeReport| {
        trade.progress == TradeProgress::Running && trade.account.is_none_or(|of| of == account)
    };
    let open: Vec<&TradeReport> = listing.trades.iter().filter(is_open).collect();
    let note = if listing.is_complete { "" } else { " (incomplete list)" };
    let summary = match open.len() {
        0 => return Check::OpenTrades.ok(format!("no trades are open at the venue{note}")),
        1 => format!("1 trade is open at the venue{note}"),
        count => format!("{count} trades are open at the venue{note}"),
    };
    let Some(known) = known else {
        let text = format!("{summary}; the journal is unreadable, so foreign trades cannot be detected");
        return Check::OpenTrades.warn(text, "fix the journal first");
    };
    let is_strange = |trade: &&&TradeReport| !known.contains(VenueId::truncated(&trade.id).as_str());
    let strange: Vec<&&TradeReport> = open.iter().filter(is_strange).collect();
    if strange.is_empty() {
        return Check::OpenTrades.ok(format!("{summary}, all of them in the journal"));
    }
    let name = |trade: &&&TradeReport| match &trade.symbol {
        Some(symbol) => format!("{} ({symbol})", trade.id),
        None => trade.id.clone(),
    };
    let mut names: Vec<String> = strange.iter().take(MAX_LISTED_TRADES).map(name).collect();
    names.extend(
        (strange.len() > MAX_LISTED_TRADES)
            .then(|| format!("and {} more", strange.len() - MAX_LISTED_TRADES)),
    );
    Check::OpenTrades.warn(
        format!("{summary}, {} of them not in the journal: {}", strange.len(), names.join(", ")),
        "check for other programs or manual trades on this account: bot limits do not count such trades",
    )
}

#[cfg(test)]
mod tests {
    use super::super::finding::FindingStatus;
    use super::*;
    use crate::configuration::Mode;
    use candlewick_broker::WalletIdentity;
    use candlewick_sdk::Outcome;

    fn check_bounds(bounds: &[(i64, i64)], allowed: u32, mark: FindingStatus, part: &str) {
        let mut samples = ClockSamples::new();
        for (low, high) in bounds {
            samples.add(ClockSkew { low: Millis::new(*low), high: Millis::new(*high) });
        }
        let finding = check_clock_skew(&samples, allowed);
        assert!(finding.mark == mark && finding.text.contains(part), "{finding}");
    }

    #[test]
    fn fails_only_for_certain_skew() {
        check_bounds(&[(-300, 900)], 2_000, FindingStatus::Ok, "-0.30 s to +0.90 s");
        check_bounds(&[(-300, 900), (-100, 1_100)], 2_000, FindingStatus::Ok, "-0.10 s to +0.90 s");
        check_bounds(&[(400, 1_500)], 2_000, FindingStatus::Warn, "+0.40 s to +1.50 s");
        check_bounds(&[(2_000, 3_000)], 2_000, FindingStatus::Warn, "allows 2000 ms");
        check_bounds(&[(2_001, 3_000)], 2_000, FindingStatus::Fail, "+2.00 s to +3.00 s");
        check_bounds(&[(-9_000, -8_000)], 2_000, FindingStatus::Fail, "-9.00 s to -8.00 s");
        check_bounds(&[(-9_000, -8_000)], 0, FindingStatus::Warn, "-9.00 s");
        check_bounds(&[(0, 900), (5_000, 5_900)], 2_000, FindingStatus::Warn, "contradict");
        check_bounds(&[], 2_000, FindingStatus::Warn, "not measured");
    }

    #[test]
    fn uses_local_time_if_clocks_may_agree() {
        let mut samples = ClockSamples::new();
        let before = samples.venue_now();
        samples.add(ClockSkew { low: Millis::new(-300), high: Millis::new(900) });
        assert!(samples.venue_now() - before < Millis::MINUTE);
        samples = ClockSamples::new();
        samples.add(ClockSkew { low: Millis::HOUR, high: Millis::HOUR + Millis::SECOND });
        assert!(samples.venue_now() - before >= Millis::HOUR);
    }

    fn check_wallet(demo: Option<&str>, real: Option<&str>, mode: Mode, mark: FindingStatus, part: &str) {
        let amount = |text: &str| text.parse().unwrap();
        let balances = Balances { demo: demo.map(amount), real: real.map(amount), ..Balances::default() };
        let mut config = Config::default();
        config.account.mode = mode;
        let finding = judge_balances(&balances, &config);
        let shown = format!("{finding}");
        assert!(finding.mark == mark && shown.contains(part), "{shown}");
    }

    #[test]
    fn requires_funds_for_a_stake_on_the_configured_account() {
        check_wallet(Some("10000.5"), Some("7"), Mode::Demo, FindingStatus::Ok, "DEMO wallet holds 10000.5");
        check_wallet(Some("9000.5"), Some("7"), Mode::Real, FindingStatus::Ok, "REAL wallet holds 7");
        check_wallet(None, Some("7"), Mode::Demo, FindingStatus::Fail, "no DEMO wallet");
        check_wallet(None, None, Mode::Demo, FindingStatus::Fail, "no DEMO wallet");
        check_wallet(Some("0.99"), None, Mode::Demo, FindingStatus::Warn, "smallest stake");
        check_wallet(
            Some("10000.000000000002"),
            None,
            Mode::Demo,
            FindingStatus::Ok,
            "DEMO wallet holds 10000",
        );
        check_wallet(Some("10.12345"), None, Mode::Demo, FindingStatus::Warn, "account.money_scale = 5");
    }

    #[test]
    fn names_bonus_and_other_wallets() {
        let wallet = |name: &str| WalletIdentity { type_name: name.to_owned(), ..WalletIdentity::default() };
        let balances = Balances {
            demo: Some(Decimal::TEN),
            bonus: Some(Decimal::from(50)),
            wallets: vec![wallet("GOLD"), wallet("DEMO")],
            ..Balances::default()
        };
        let mut config = Config::default();
        let shown = judge_balances(&balances, &config).to_string();
        assert!(shown.contains("a BONUS wallet holds 50, not counted"), "{shown}");
        config.account.mode = Mode::Real;
        let shown = judge_balances(&balances, &config).to_string();
        assert!(shown.contains("the account has no REAL wallet; the venue listed: DEMO, GOLD"), "{shown}");
    }

    #[test]
    fn fails_for_a_restricted_account() {
        let sound = Identity { user: "01JU".to_owned(), restrictions: Vec::new() };
        assert_eq!(judge_user(&sound, "http://v").mark, FindingStatus::Ok);
        let barred = Identity { restrictions: vec!["banned".to_owned(), "not active".to_owned()], ..sound };
        let found = judge_user(&barred, "http://v");
        assert!(
            found.mark == FindingStatus::Fail && found.text.ends_with("is banned, not active"),
            "{found}"
        );
    }

    fn trade(id: &str, account: Account, progress: TradeProgress) -> TradeReport {
        let symbol = Some("EURUSD".to_owned());
        TradeReport { account: Some(account), progress, symbol, ..TradeReport::new(id) }
    }

    #[test]
    fn names_open_trades_unknown_to_the_journal() {
        use Account::{Demo, Real};
        let over = TradeProgress::Over(Outcome::Won);
        let all = [
            trade("a", Demo, TradeProgress::Running),
            trade("b", Demo, TradeProgress::Running),
            trade("c", Demo, over),
            trade("d", Real, TradeProgress::Running),
        ];
        let many = [0, 1, 2, 3, 4].map(|number| trade(&format!("t{number}"), Demo, TradeProgress::Running));
        let (known, one, none) = (Some(&["a", "b"][..]), Some(&["a"][..]), Some(&[][..]));
        for (trades, known, is_complete, mark, text) in [
            (&all[2..], none, true, FindingStatus::Ok, "no trades are open at the venue"),
            (&all[..], known, true, FindingStatus::Ok, "2 trades are open at the venue, all of them"),
            (&all[..], one, true, FindingStatus::Warn, "1 of them not in the journal: b (EURUSD)"),
            (&all[..1], None, true, FindingStatus::Warn, "1 trade is open at the venue; the journal is"),
            (
                &many[..],
                none,
                false,
                FindingStatus::Warn,
                "t0 (EURUSD), t1 (EURUSD), t2 (EURUSD), and 2 more",
            ),
            (&many[..], none, false, FindingStatus::Warn, "5 trades are open at the venue (incomplete list)"),
        ] {
            let (began, ended) = (Millis::ZERO, Millis::ZERO);
            let page = TradeListing { began, ended, is_complete, trades: trades.to_vec(), end_error: None };
            let known: Option<BTreeSet<String>> =
                known.map(|known| known.iter().map(|id| (*id).to_owned()).collect());
            let found = judge_trades(&page, Demo, known.as_ref());
            assert!(found.mark == mark && found.text.contains(text), "{found}");
        }
    }
}
