//! `sandbox`: simulates a venue on stored candles. Any client can use its trading API and price API.

use crate::arguments::{parse_moment, parse_speed};
use crate::context::{Context, start_workers};
use crate::failure::{Ending, Failure, FailureKind};
use crate::interrupt::StopListener;
use crate::live;
use crate::output::{print, print_json_line};
use crate::progress::StderrBars;
use candlewick_app::candles;
use candlewick_app::configuration::{BaseLayer, Flag, LoadedConfig, Problems, RealMoneyRequest};
use candlewick_app::evidence::SealUse;
use candlewick_app::live::ServedSandbox;
use candlewick_records::count_text;
use candlewick_sandbox::{
    FaultProfile, RunningSandbox, SandboxSettings, SandboxSpeed, StartTime, TradedWallet,
};
use candlewick_sdk::{CandleSeries, Millis};
use clap::Args;
use serde_json::json;
use std::net::SocketAddr;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  candlewick sandbox\n  candlewick sandbox --listen 127.0.0.1:0 --speed 60 --faults mixed --json\n\n\
                  At speed 1 without --start, venue time is real time, and candles are shifted to it by whole days."
)]
pub(crate) struct SandboxArguments {
    /// Listen address; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Clock speed as a factor of real time [default: sandbox.speed, or 1]
    #[arg(long, value_name = "N", value_parser = parse_speed)]
    speed: Option<SandboxSpeed>,
    /// Faults: none, mixed, all, or a list such as errors:0.2,latency:300ms
    #[arg(long, value_name = "PROFILE")]
    faults: Option<FaultProfile>,
    /// Candle source; repeatable. A file SYMBOL_INTERVAL.csv or .parquet, SYMBOL@INTERVAL=PATH, or a catalog series
    /// SYMBOL@INTERVAL
    #[arg(long, value_name = "FILE")]
    data: Vec<String>,
    /// Initial venue time: a date, an ISO 8601 time, or Unix seconds or milliseconds
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    start: Option<Millis>,
}

pub(super) fn run(arguments: &SandboxArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let loaded = LoadedConfig::read(&context.global.config, BaseLayer::Sandbox, to_flags(arguments))?;
    context.set_log_format(&loaded.config.log);
    loaded.check_mode(RealMoneyRequest::NotRequested).map_err(Problems::from)?;
    let mut settings = loaded.config.sandbox.clone();
    if !loaded.is_set("sandbox.speed") {
        settings.speed = SandboxSpeed::Times(1.0); // the configured default is for embedded venues
    }
    settings.check()?;
    let series = candles::collect_candles(
        &candles::load(&loaded, (&candles::ALL_TIME, &SealUse::Explore), &StderrBars(context.global))?.series,
    );
    let runtime = start_workers()?;
    runtime.block_on(serve(settings, series, &loaded, context))
}

fn to_flags(arguments: &SandboxArguments) -> Vec<Flag> {
    let SandboxArguments { listen, speed, faults, data, start } = arguments;
    let data = (!data.is_empty()).then_some(data);
    [
        Flag::new("--listen", "sandbox", "listen", listen.as_ref()),
        Flag::new("--speed", "sandbox", "speed", speed.as_ref()),
        Flag::new("--faults", "sandbox", "faults", faults.as_ref()),
        Flag::new("--data", "sandbox", "data", data),
        Flag::new("--start", "sandbox", "start", start.as_ref()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

async fn serve(
    settings: SandboxSettings,
    series: Vec<CandleSeries>,
    loaded: &LoadedConfig,
    context: &Context<'_>,
) -> Result<Ending, Failure> {
    // The listener is created before the ready message, so that no stop request after the message is lost.
    let mut interrupt = StopListener::new()?;
    let about = describe_settings(&settings, &series, loaded)?;
    let ServedSandbox { sandbox: mut running, start } =
        ServedSandbox::start(settings, series, loaded).await?;
    print_connection_details((&running, start), &about, context)?;
    let ending = tokio::select! {
        ending = interrupt.wait() => ending,
        () = running.wait_for_stop() => {
            let problem = anyhow::Error::msg("the sandbox server stopped unexpectedly");
            return Err(Failure::new(FailureKind::Unexpected, problem));
        }
    };
    running.stop().await;
    Ok(ending)
}

fn describe_settings(
    settings: &SandboxSettings,
    series: &[CandleSeries],
    loaded: &LoadedConfig,
) -> Result<String, Failure> {
    let SandboxSettings { speed, faults, wallet, .. } = settings;
    let balance = loaded.config.account.money_scale.format(loaded.initial_balance()?);
    let wallet = match wallet {
        TradedWallet::Demo => "demo",
        TradedWallet::Real => "real (simulated money)",
    };
    let of_series = |one: &CandleSeries| {
        format!("{} ({})", one.series(), count_text(one.candles().len(), "candle", "candles"))
    };
    let candles: Vec<String> = series.iter().map(of_series).collect();
    Ok(format!(
        "Speed:       {}\nCandles:     {}\nWallet:      {wallet}, {balance}\nFaults:      {faults}\n",
        live::describe_speed(*speed),
        candles.join("\n             "),
    ))
}

fn print_connection_details(
    (running, start): (&RunningSandbox, Millis),
    about: &str,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let RunningSandbox { base_url, token, api_key, .. } = running;
    if context.global.json {
        return print_json_line(&json!({
            "base_url": base_url, "start": start, "start_time": String::from(StartTime(start)), "token": token, "api_key": api_key,
        }));
    }
    let bots = "\nBots:        candlewick live with broker.base_url and broker.price_url set to this address, and the\n             \
                credentials in CANDLEWICK_BROKER__API_TOKEN and CANDLEWICK_BROKER__API_KEY";
    let (about, bots) = if context.global.quiet { ("", "") } else { (about, bots) };
    print(&format!(
        "Both APIs:   {base_url}\nOpenAPI:     {base_url}/openapi.json\nVenue time:  {}\n{about}api-token:   {token}\napi-key:     {api_key}{bots}\nCtrl-C stops.",
        String::from(StartTime(start)),
    ))
}
