//! Applies operator decisions on missing trades and on orders of unknown status, via a running bot or the journal.

use super::convert_order_refusal;
use super::reach::{Delivery, deliver};
use crate::configuration::{LoadedConfig, control_paths};
use crate::error::{AppError, Result};
use crate::live::connect_remote;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_broker::{Account, ReportedValue, TradeOrder, TradeReport};
use candlewick_engine::{
    Control, Event, EventKind, IntentId, IntentRow, IntentState, OpenedTrade, VenueId, VenueTerms,
};
use candlewick_journal::{Holder, JournalUrl, Line, LineKind, Reader, Store};
use candlewick_records::{IntentOrigin, JournalContents, NO_RUN, TradingMode, format_utc};
use candlewick_runtime::control::{ControlOrder, Resolution, RunState};
use candlewick_runtime::{
    changed_terms, computed_profit, latest_close, remove_impossible_payout, remove_impossible_times,
    verify_adoption, verify_trade_missing,
};
use candlewick_sdk::Millis;
use serde_json::json;

#[derive(Clone, Debug)]
pub struct Decision {
    pub intent: IntentId,
    pub resolution: Resolution,
    pub reason: String,
}

#[derive(Debug)]
pub enum ResolveOutcome {
    ByBot(Box<RunState>),
    InJournal {
        /// Reason why the next run starts halted: the venue's trade differs from the order or is implausible.
        halt_reason: Option<String>,
    },
}

pub async fn resolve(loaded: &LoadedConfig, url: &JournalUrl, decision: &Decision) -> Result<ResolveOutcome> {
    let Decision { intent, resolution, reason } = decision.clone();
    let order = ControlOrder::Resolve { intent, resolution, reason };
    match deliver(&control_paths(loaded)?, url, &order).await.map_err(convert_order_refusal)? {
        Delivery::Bot(state) => Ok(ResolveOutcome::ByBot(state)),
        Delivery::NoBot | Delivery::NoJournal => {
            let halted = write_resolution(loaded, url, decision).await?;
            Ok(ResolveOutcome::InJournal { halt_reason: halted })
        }
    }
}

async fn write_resolution(loaded: &LoadedConfig, url: &JournalUrl, how: &Decision) -> Result<Option<String>> {
    // Opens the reader before the store, because opening a store would create a missing journal.
    let mut reader = Reader::open(url).await?;
    let Decision { intent, resolution, .. } = *how;
    if let Resolution::Settled(_) = resolution {
        // Checks before the journal is locked, because a long list of trades takes a long time to read.
        let contents = JournalContents::read(&mut reader).await?;
        check_trade_missing(&contents, check_trade_state(&contents, intent, resolution)?, loaded).await?;
    }
    let wall = SystemClock::new();
    let mut store = Store::open(url, &Holder::current_process("candlewick resolve")).await?;
    let judged = build_journal_lines(how, &mut reader, loaded, &wall).await;
    let written = judged.map(|(lines, halted)| {
        for line in lines {
            store.record(line);
        }
        halted
    });
    // Closing the store releases the lease, even after an error.
    let closed = store.close().await.map_err(AppError::from);
    let halted = written?;
    closed.map(|()| halted)
}

async fn build_journal_lines(
    decision: &Decision,
    reader: &mut Reader,
    loaded: &LoadedConfig,
    wall: &SystemClock,
) -> Result<(Vec<Line>, Option<String>)> {
    let Decision { intent, resolution, ref reason } = *decision;
    let contents = JournalContents::read(reader).await?;
    let row = check_trade_state(&contents, intent, resolution)?;
    let report = match resolution {
        Resolution::Adopt(venue_id) => fetch_report(&contents, row, venue_id, loaded).await?,
        Resolution::Settled(_) | Resolution::NotOpened => None,
    };
    let at = wall.now().max(contents.last_line.line.received);
    let most = loaded.config.runtime.max_payout_percent;
    let (report, impossible) = report.map(|report| check_plausibility(row, report, most, at)).unzip();
    let taken = report.as_ref().and_then(|report| venue_terms(&contents, row, report));
    let departure = taken.map(|taken| {
        let scale = contents.session.money_scale();
        let symbol = taken.symbol.map(|symbol| format!(" on {symbol}")).unwrap_or_default();
        let stake = scale.to_decimal(taken.stake);
        let direction = taken.direction;
        format!("trade #{intent} was opened as {direction} {stake}{symbol}, which differs from the order")
    });
    // A running bot would only warn about some of these problems, but here every problem halts the next run.
    let problems: Vec<String> = departure.into_iter().chain(impossible.into_iter().flatten()).collect();
    let halted = (!problems.is_empty()).then(|| problems.join("; "));
    let note = json!({ "resolved": intent, "resolution": resolution, "reason": reason }).to_string();
    let mut bodies = vec![(LineKind::Note, note)];
    let ended = contents.in_doubt_since(intent).unwrap_or(at);
    let list_lag = Millis::new(loaded.config.runtime.list_lag_ms.into());
    let reserved_until = latest_close(ended, row.approved.expiry().close_type) + list_lag;
    // Only an intent in doubt can be resolved, so an in-flight or rejected intent becomes in doubt first.
    let doubt = match row.state {
        IntentState::InFlight => Some(EventKind::InDoubt { intent }),
        IntentState::Rejected | IntentState::NotSent => Some(EventKind::Reinstated(row.approved)),
        IntentState::InDoubt | IntentState::Open | IntentState::NotOpened | IntentState::Settled => None,
    };
    let decided = resolution_event(row, resolution, (report, taken), reserved_until)?;
    // A difference halts the next run, as it would halt a running bot.
    let halt = halted.is_some().then_some(EventKind::Control { control: Control::Halt });
    for kind in doubt.into_iter().chain([decided]).chain(halt) {
        let event = serde_json::to_string(&Event { at, received: at, kind });
        let event = event.map_err(|error| AppError::system("cannot serialize the decision", error))?;
        bodies.push((LineKind::Event, event));
    }
    let line = |(kind, body)| {
        let intent = Some(intent.number());
        Line { run: NO_RUN, kind, intent, at, received: at, body }
    };
    Ok((bodies.into_iter().map(line).collect(), halted))
}

async fn fetch_report(
    contents: &JournalContents,
    row: &IntentRow,
    venue_id: VenueId,
    loaded: &LoadedConfig,
) -> Result<Option<TradeReport>> {
    let trade = &row.approved;
    let Some(origins) = contents.origins.get(&trade.intent()) else { return Ok(None) };
    let Some(account) = trading_account(contents, origins) else { return Ok(None) };
    let order = TradeOrder {
        symbol: origins.symbol,
        direction: trade.direction(),
        amount: origins.scale.to_decimal(trade.stake()).normalize(),
        close_type: trade.expiry().close_type,
        expiration_type: trade.expiry().expiration_type,
        account,
    };
    let broker = connect_remote(loaded)?.broker;
    let sent = origins.request_time;
    let ended = contents.in_doubt_since(trade.intent()).unwrap_or(sent + Millis::MINUTE);
    let request = (&order, sent, ended);
    Ok(Some(verify_adoption(broker.as_ref(), request, venue_id.as_str(), origins.scale).await?))
}

fn check_plausibility(
    row: &IntentRow,
    report: TradeReport,
    max_payout_percent: u32,
    now: Millis,
) -> (TradeReport, Vec<String>) {
    let intent = row.approved.intent();
    let (report, time) = remove_impossible_times(&row.approved, report, now);
    let (report, payout) = remove_impossible_payout(intent, report, max_payout_percent);
    let ordered = row.approved.expiry().close_type;
    let taken = report.close_type.as_ref().and_then(ReportedValue::value).filter(|taken| **taken != ordered);
    let expiry = taken.map(|taken| format!("trade #{intent} has duration {taken} instead of {ordered}"));
    (report, time.into_iter().chain(payout).chain(expiry).collect())
}

fn venue_terms(contents: &JournalContents, row: &IntentRow, report: &TradeReport) -> Option<VenueTerms> {
    let intent = row.approved.intent();
    let origins = contents.origins.get(&intent)?;
    let known = contents.book.original_order(intent).and_then(|departure| departure.symbol);
    changed_terms(report, &row.approved, (origins.symbol, known), origins.scale)
}

/// Checks that the venue no longer lists an expired trade. Only then may the operator settle the trade.
async fn check_trade_missing(past: &JournalContents, row: &IntentRow, loaded: &LoadedConfig) -> Result<()> {
    let intent = row.approved.intent();
    let (Some(origins), Some(venue_id)) = (past.origins.get(&intent), past.book.venue_id(row)) else {
        return Ok(());
    };
    if trading_account(past, origins).is_none() {
        return Ok(());
    }
    let duration = row.approved.expiry().close_type;
    let close = row.close_time.unwrap_or_else(|| latest_close(origins.request_time, duration));
    let now = SystemClock::new().now();
    if now <= close {
        return Err(AppError::invalid(format!("trade {venue_id} is open until {}", format_utc(close))));
    }
    // Uses the same timeouts as a running bot.
    let runtime = &loaded.config.runtime;
    let patience = Millis::from_seconds(runtime.missing_trade_s.into());
    let missing_from = close + Millis::new(runtime.list_lag_ms.into()) + patience;
    if now <= missing_from {
        return Err(AppError::invalid(format!(
            "trade {venue_id} closed at {}, but the venue may report the result late; try again after {} \
             (see runtime.list_lag_ms and runtime.missing_trade_s)",
            format_utc(close),
            format_utc(missing_from)
        )));
    }
    Ok(verify_trade_missing(connect_remote(loaded)?.broker.as_ref(), venue_id.as_str()).await?)
}

fn trading_account(contents: &JournalContents, origins: &IntentOrigin) -> Option<Account> {
    match contents.run(origins.run).and_then(|run| run.trading)? {
        TradingMode::Demo => Some(Account::Demo),
        TradingMode::Real => Some(Account::Real),
        TradingMode::Paper | TradingMode::Sandbox => None,
    }
}

fn check_trade_state(contents: &JournalContents, id: IntentId, resolution: Resolution) -> Result<&IntentRow> {
    let row = contents.book.row(id);
    let row = row.ok_or_else(|| AppError::invalid(format!("the journal has no trade #{id}")))?;
    let is_named = contents.book.venue_id(row).is_some();
    let may_be = match resolution {
        Resolution::Settled(_) => row.state == IntentState::Open && is_named,
        Resolution::Adopt(_) if row.state == IntentState::Open => !is_named,
        Resolution::Adopt(_) => row.state != IntentState::Settled,
        Resolution::NotOpened => matches!(row.state, IntentState::InDoubt | IntentState::InFlight),
    };
    if !may_be {
        let state = row.state.as_str();
        let wanted = if let Resolution::Settled(_) = resolution { "open" } else { "of unknown status" };
        return Err(AppError::invalid(format!("trade #{id} must be {wanted}, but is {state}")));
    }
    if let Resolution::Adopt(venue_id) = resolution {
        let book = &contents.book;
        let other = book.rows().iter().find(|row| book.venue_id(row) == Some(venue_id));
        if let Some(other) = other {
            let other = other.approved.intent();
            let problem = format!("venue trade {venue_id} already belongs to trade #{other}");
            return Err(AppError::invalid(problem));
        }
        if let Some(first) = contents.duplicated_intent(venue_id) {
            let problem = format!("venue trade {venue_id} is a duplicate of trade #{first}");
            return Err(AppError::invalid(problem));
        }
    }
    Ok(row)
}

fn resolution_event(
    row: &IntentRow,
    resolution: Resolution,
    (report, taken): (Option<TradeReport>, Option<VenueTerms>),
    reserved_until: Millis,
) -> Result<EventKind> {
    let intent = row.approved.intent();
    Ok(match resolution {
        Resolution::Adopt(venue_id) => {
            let report = report.unwrap_or_default();
            EventKind::Adopted(OpenedTrade {
                intent,
                venue_id: Some(venue_id),
                open_time: report.open_time,
                open_price: report.open_price,
                close_time: report.close_time,
                payout: report.payout,
                taken,
            })
        }
        Resolution::NotOpened => EventKind::NotOpened { intent, reserved_until },
        Resolution::Settled(outcome) => {
            let profit = computed_profit(outcome, row.approved.stake(), row.payout);
            let unknown = || format!("trade #{intent} has no known payout, so its profit is unknown");
            let profit = profit.ok_or_else(|| AppError::invalid(unknown()))?;
            EventKind::SettledByPerson { intent, outcome, profit }
        }
    })
}
