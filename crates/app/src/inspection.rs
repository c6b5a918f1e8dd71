//! Everything that is wrong with a configuration, as far as it can be known without candles and without the venue.

mod cut_ladders;
mod doubtful_limits;
mod doubtful_symbols;
mod doubtful_values;
mod hours;
mod idle_blackouts;
mod lengths;
mod notes;

pub use cut_ladders::cut_ladders;
pub(crate) use doubtful_symbols::doubtful_symbol;
pub use hours::split_hours;
pub(crate) use idle_blackouts::{ended_blackouts, idle_blackouts};
pub use notes::notes_of;

use crate::bots::{BotSet, gates_of, problem_of_session, session_settings};
use crate::candles::DataName;
use crate::configuration::{
    self, Config, Loaded, Mode, Problem, RealMoney, journal_url, monitoring_problems,
};
use crate::notify::notify_problems;
use crate::signals::problems_of_signals;
use candlewick_api::{Credentials, HttpBroker, OpenBody};
use candlewick_broker::BrokerError;
use candlewick_broker::clock::SystemClock;
use candlewick_engine::{
    BotSettings, EngineError, LadderEntry, RuinReport, Session, StakeSettings, TradeRecord,
    check_first_stakes, check_ruin, check_stakes, levels_that_lose, percent_beside_default, small_percents,
    stakes_to_find_out,
};
use candlewick_runtime::Demand;
use candlewick_sdk::{ExpirationType, Registry};
use std::sync::Arc;

/// Down to each bot's strategy; the credentials are looked at elsewhere.
pub fn problems_of(loaded: &Loaded, real: RealMoney, registry: &Registry) -> Vec<Problem> {
    let config = &loaded.config;
    let mut problems: Vec<Problem> = loaded.check_mode(real).err().into_iter().collect();
    problems.extend(problem_of_client(loaded));
    problems.extend(journal_url(loaded).err());
    problems.extend(monitoring_problems(loaded));
    problems.extend(notify_problems(loaded));
    problems.extend(problems_of_signals(loaded));
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
            match made.and_then(|_| ruin_of(loaded)) {
                Ok(ruin) => {
                    let key = "risk.max_ruin_probability";
                    problems.extend(ruin.refusal.map(|problem| loaded.problem(key, problem)));
                }
                Err(error) => problems.push(problem_of_session(&error, loaded)),
            }
        }
        Err(found) => problems.extend(found.into_list()),
    }
    problems
}

/// What is to be said of stakes that no trade could have at the balance that is configured.
///
/// # Errors
/// A stake that no trade could ever have.
pub fn notices_of_stakes(loaded: &Loaded) -> Result<Vec<String>, Problem> {
    check_first_stakes(&session_settings(loaded)).map_err(|error| problem_of_session(&error, loaded))
}

/// Bots and accounts that a short body cannot state.
pub fn short_body_problems(loaded: &Loaded) -> Vec<Problem> {
    let Config { broker, account, bots, .. } = &loaded.config;
    let (OpenBody::Short, Some(default)) = (broker.client.open_body, broker.client.short_close_type) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    if account.mode == Mode::Real {
        let problem =
            "broker.open_body = \"short\" cannot state the account, so it is for demo alone: use \"full\"";
        problems.push(loaded.problem("account.mode", problem).value("\"real\""));
    }
    for (index, bot) in bots.iter().enumerate() {
        let expiry = bot.expiry();
        let is_fixed = matches!(expiry.expiration_type, ExpirationType::Unstated | ExpirationType::TimeFixed);
        if expiry.close_type != default || !is_fixed {
            let problem = format!(
                "broker.open_body = \"short\" cannot state the expiry {} {}, and the venue's own is {default} TIME_FIXED \
                 (broker.short_close_type): give the bot that, or use \"full\"",
                expiry.close_type, expiry.expiration_type
            );
            problems.push(loaded.problem(&format!("bots[{index}].close_type"), problem));
        }
    }
    problems
}

/// What the bots need of a venue; none where they cannot be built.
pub fn demand_of(loaded: &Loaded, registry: &Registry) -> Option<Demand> {
    let bots = BotSet::build(loaded, registry).ok()?;
    let Config { runtime, risk, bots: settings, broker, .. } = &loaded.config;
    Some(Demand::of(runtime, risk, settings, &bots.wants_prices).with_stream(broker.client.stream))
}

/// What is sound, and worth knowing.
pub fn notices_of(loaded: &Loaded, registry: &Registry) -> Vec<String> {
    let ladders = check_stakes(&session_settings(loaded)).unwrap_or_default();
    let ruin = ruin_of(loaded).unwrap_or_default();
    let gates =
        gates_beside_hours(loaded, registry).into_iter().chain(gates_beside_ladders(loaded, registry));
    let small = small_percents(&session_settings(loaded));
    let percent = percent_beside_default(&session_settings(loaded));
    let short = levels_that_lose(&session_settings(loaded), &known_payouts(loaded)).unwrap_or_default();
    let notices = ladders.into_iter().map(|notice| notice.text).chain(ruin.ladders).chain(short).chain(gates);
    notices.chain(small).chain(percent).chain(stakes_to_find_out(&session_settings(loaded))).collect()
}

/// How probably the stakes that are no ladders run out of money, a figure that each configuration has, and how many bots' balance falls
/// to half or less more often than not.
pub fn ruin_of_stakes(loaded: &Loaded) -> (Vec<String>, usize) {
    let RuinReport { stakes, halved, .. } = ruin_of(loaded).unwrap_or_default();
    (stakes, halved)
}

/// Describes the stakes that may outgrow `max_stake`, which stops their bots for good.
pub fn outgrown_stakes(loaded: &Loaded) -> Vec<String> {
    candlewick_engine::outgrown_stakes(&session_settings(loaded), &known_payouts(loaded)).unwrap_or_default()
}

/// Gates that count signals which the trading hours then refuse.
fn gates_beside_hours(loaded: &Loaded, registry: &Registry) -> Vec<String> {
    let Config { risk, bots, .. } = &loaded.config;
    if risk.hours.is_empty() {
        return Vec::new();
    }
    let counts_all = |bot: &BotSettings| {
        let filters = bot.params.get("filters").and_then(|filters| filters.as_array());
        !filters.into_iter().flatten().any(|filter| filter.get("hours").is_some())
    };
    let gated = bots.iter().zip(gates_of(bots, registry));
    let gated = gated.filter(|(bot, gate)| gate.is_some() && counts_all(bot));
    let notice = |(bot, _): (&BotSettings, _)| {
        format!(
            "bot \"{}\": its gate counts every signal, those outside of risk.hours too; with \
             filters = [{{ hours = [\"08:00\", \"17:00\"], timezone = \"Europe/London\" }}] in its params it counts those of the hours alone",
            bot.name
        )
    };
    gated.map(notice).collect()
}

/// Gates that do not hold a ladder which goes on without a signal.
fn gates_beside_ladders(loaded: &Loaded, registry: &Registry) -> Vec<String> {
    let bots = &loaded.config.bots;
    let goes_on = |bot: &BotSettings| {
        matches!(bot.stake, StakeSettings::Martingale { entry: LadderEntry::NextCandle, .. })
    };
    let gated = bots.iter().zip(gates_of(bots, registry));
    let gated = gated.filter(|(bot, gate)| gate.is_some() && goes_on(bot));
    let notice = |(bot, _): (&BotSettings, _)| {
        format!(
            "bot \"{}\": its ladder with entry = \"next_candle\" goes on while the gate is closed, with money: levels above the first follow a \
             trade, not a signal, and what the gate was worth counts none of them; entry = \"next_signal\" waits for the gate",
            bot.name
        )
    };
    gated.map(notice).collect()
}

/// How probably the ladders run out of money, by the configured balance and the payouts of the bots' symbols.
///
/// # Errors
/// A stake, balance or limit that is none.
pub fn ruin_of(loaded: &Loaded) -> Result<RuinReport, EngineError> {
    let settings = session_settings(loaded);
    let balance = settings.money_scale.exact(settings.balance);
    let balance = balance
        .map_err(|source| EngineError::Amount { key: "account.initial_balance".to_owned(), source })?;
    check_ruin(&settings, balance, &known_payouts(loaded))
}

/// What each bot's symbol is taken to pay.
fn known_payouts(loaded: &Loaded) -> Vec<TradeRecord> {
    let Config { bots, simulation, .. } = &loaded.config;
    bots.iter().map(|bot| TradeRecord::assumed(simulation.payout_of(bot.symbol))).collect()
}

/// What of the settings keeps the client from being made; no request leaves.
fn problem_of_client(loaded: &Loaded) -> Option<Problem> {
    let (settings, credentials, clock) = client_of(loaded);
    problem_of_broker(loaded, HttpBroker::check(settings, credentials, clock))
}

/// What keeps the client from being made on this machine, such as root certificates that are not there; no request leaves.
pub fn problem_of_network(loaded: &Loaded) -> Option<Problem> {
    let (settings, credentials, clock) = client_of(loaded);
    problem_of_broker(loaded, HttpBroker::new(settings, credentials, clock).map(|_| ()))
}

fn client_of(loaded: &Loaded) -> (candlewick_api::Settings, Credentials, Arc<SystemClock>) {
    // Credentials that cannot be read are a problem of their own.
    let credentials = configuration::credentials(loaded).unwrap_or_default();
    (loaded.config.broker.client.clone(), credentials, Arc::new(SystemClock::new()))
}

fn problem_of_broker(loaded: &Loaded, made: Result<(), BrokerError>) -> Option<Problem> {
    made.err().map(|error| match error {
        BrokerError::Settings { key, value, problem } => {
            loaded.problem(&format!("broker.{key}"), problem).value(format!("{value:?}"))
        }
        other => loaded.problem("broker", other.to_string()),
    })
}
