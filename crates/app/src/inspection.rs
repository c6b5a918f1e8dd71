//! Configuration checks that need neither candles nor a venue.

use crate::bots::{BotSet, session_problem, session_settings};
use crate::candles::DataName;
use crate::configuration::{
    self, Config, LoadedConfig, Mode, Problem, RealMoneyRequest, journal_url, monitoring_problems,
};
use crate::notify::notify_problems;
use crate::signals::check_signals;
use candlewick_api::{Credentials, HttpBroker, OpenBody};
use candlewick_broker::BrokerError;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_engine::{EngineError, RuinReport, Session, TrackRecord, check_ruin, check_stakes};
use candlewick_runtime::RequestDemand;
use candlewick_sdk::{ExpirationType, Registry};
use std::sync::Arc;

pub fn find_problems(loaded: &LoadedConfig, real: RealMoneyRequest, registry: &Registry) -> Vec<Problem> {
    let config = &loaded.config;
    let mut problems: Vec<Problem> = loaded.check_mode(real).err().into_iter().collect();
    problems.extend(client_problem(loaded));
    problems.extend(journal_url(loaded).err());
    problems.extend(monitoring_problems(loaded));
    problems.extend(notify_problems(loaded));
    problems.extend(check_signals(loaded));
    problems.extend(short_body_problems(loaded));
    for (index, text) in config.sandbox.data.iter().enumerate() {
        if let Err(error) = text.parse::<DataName>() {
            problems.push(loaded.problem(&format!("sandbox.data[{index}]"), error.to_string()));
        }
    }
    problems.extend(loaded.check_simulation().err());
    if let Err(error) = config.sandbox.check() {
        problems.push(loaded.problem("sandbox", error.to_string()));
    }
    match BotSet::build(loaded, registry) {
        Ok(bots) => {
            let settings = session_settings(loaded);
            let made = Session::new(&settings, bots.strategies).and_then(|_| check_stakes(&settings));
            match made.and_then(|_| estimate_ruin(loaded)) {
                Ok(ruin) => {
                    let key = "risk.max_ruin_probability";
                    problems.extend(ruin.refusal.map(|problem| loaded.problem(key, problem)));
                }
                Err(error) => problems.push(session_problem(&error, loaded)),
            }
        }
        Err(found) => problems.extend(found.into_list()),
    }
    problems
}

pub fn short_body_problems(loaded: &LoadedConfig) -> Vec<Problem> {
    let Config { broker, account, bots, .. } = &loaded.config;
    let (OpenBody::Short, Some(default)) = (broker.client.open_body, broker.client.short_close_type) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    if account.mode == Mode::Real {
        let problem =
            "broker.open_body = \"short\" omits the account, so it only works in demo mode; use \"full\"";
        problems.push(loaded.problem("account.mode", problem).with_value("\"real\""));
    }
    for (index, bot) in bots.iter().enumerate() {
        let expiry = bot.expiry();
        let is_fixed = matches!(expiry.expiration_type, ExpirationType::Unstated | ExpirationType::TimeFixed);
        if expiry.close_type != default || !is_fixed {
            let problem = format!(
                "broker.open_body = \"short\" omits the duration ({} {}), so the venue would use {default} \
                 TIME_FIXED (broker.short_close_type). Trade {default} TIME_FIXED, or set broker.open_body = \"full\"",
                expiry.close_type, expiry.expiration_type
            );
            problems.push(loaded.problem(&format!("bots[{index}].close_type"), problem));
        }
    }
    problems
}

pub fn estimate_request_demand(loaded: &LoadedConfig, registry: &Registry) -> Option<RequestDemand> {
    let bots = BotSet::build(loaded, registry).ok()?;
    let Config { runtime, risk, bots: settings, broker, .. } = &loaded.config;
    Some(RequestDemand::new(runtime, risk, settings, &bots.wants_prices).with_stream(broker.client.stream))
}

pub fn describe_ladders(loaded: &LoadedConfig) -> Vec<String> {
    let ladders = check_stakes(&session_settings(loaded)).unwrap_or_default();
    let ruin = estimate_ruin(loaded).unwrap_or_default();
    ladders.into_iter().map(|notice| notice.text).chain(ruin.ladder_lines).collect()
}

/// Describes the risk of ruin for stakes without a ladder, and counts the bots likely to lose half the balance.
pub fn describe_ruin_risk(loaded: &LoadedConfig) -> (Vec<String>, usize) {
    let RuinReport { stake_lines, bots_with_halving_risk: halved, .. } =
        estimate_ruin(loaded).unwrap_or_default();
    (stake_lines, halved)
}

pub fn estimate_ruin(loaded: &LoadedConfig) -> Result<RuinReport, EngineError> {
    let settings = session_settings(loaded);
    let balance = settings.money_scale.convert_exact(settings.balance);
    let balance = balance
        .map_err(|source| EngineError::Amount { key: "account.initial_balance".to_owned(), source })?;
    check_ruin(&settings, balance, &assumed_track_records(loaded))
}

pub(crate) fn assumed_track_records(loaded: &LoadedConfig) -> Vec<TrackRecord> {
    let Config { bots, simulation, .. } = &loaded.config;
    bots.iter().map(|bot| TrackRecord::from_assumed_payout(simulation.payout_of(bot.symbol))).collect()
}

fn client_problem(loaded: &LoadedConfig) -> Option<Problem> {
    broker_problem(loaded, HttpBroker::check)
}

/// Checks whether the venue client can be created on this machine, without sending a request.
pub fn network_problem(loaded: &LoadedConfig) -> Option<Problem> {
    broker_problem(loaded, |settings, credentials, clock| {
        HttpBroker::new(settings, credentials, clock).map(|_| ())
    })
}

fn broker_problem(
    loaded: &LoadedConfig,
    check: impl FnOnce(candlewick_api::Settings, Credentials, Arc<dyn Clock>) -> Result<(), BrokerError>,
) -> Option<Problem> {
    // Unreadable credentials are reported elsewhere.
    let credentials = configuration::credentials(loaded).unwrap_or_default();
    let error =
        check(loaded.config.broker.client.clone(), credentials, Arc::new(SystemClock::new())).err()?;
    Some(match error {
        BrokerError::Settings { key, value, problem } => {
            loaded.problem(&format!("broker.{key}"), problem).with_value(format!("{value:?}"))
        }
        other => loaded.problem("broker", other.to_string()),
    })
}
