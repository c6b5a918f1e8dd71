//! Strategies that were written without a look at the checks, cheats and honest ones.

mod again;
mod caught;
mod cheats;
mod declared;
mod honest;

use candlewick_cli::App;
use candlewick_sdk::{BotContext, Candle, Interval, Parameter, Settlement, Signal, Strategy, StrategyEntry};
use std::path::PathBuf;

pub(crate) use caught::caught;

pub(crate) fn add_honest(app: App, names: &mut Vec<&'static str>) -> App {
    again::add_honest(honest::add_all(app, names), names)
}

pub(crate) fn add_cheats(app: App) -> App {
    again::add_cheats(declared::add(cheats::add(app)))
}

pub(crate) enum Event<'a> {
    Candle(&'a Candle),
    Longer(&'a Candle),
    Settled(&'a Settlement),
}

pub(crate) fn by_candle<F: FnMut(&Candle) -> Option<Signal> + Send + 'static>(
    mut rule: F,
) -> impl FnMut(Event) -> Option<Signal> + Send + 'static {
    move |event| if let Event::Candle(candle) = event { rule(candle) } else { None }
}

struct Closure<F> {
    warmup: usize,
    longer: Vec<Interval>,
    rules: F,
}

impl<F: FnMut(Event) -> Option<Signal> + Send> Strategy for Closure<F> {
    fn warmup(&self) -> usize {
        self.warmup
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.longer
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        (self.rules)(Event::Candle(candle))
    }

    fn on_longer_candle(&mut self, _: Interval, candle: &Candle) {
        (self.rules)(Event::Longer(candle));
    }

    fn on_settled(&mut self, settlement: &Settlement) {
        (self.rules)(Event::Settled(settlement));
    }
}

pub(crate) const DATA: &str = "ETHUSDT_1m.csv";

/// Where a strategy is built: its bot, and the file of candles that it reads: that which its parameters name, or the one that
/// it knows to lie there.
pub(crate) struct Place<'a> {
    bot: &'a BotContext,
    file: PathBuf,
}

impl Place<'_> {
    pub(crate) fn symbol(&self) -> &str {
        self.bot.symbol.as_str()
    }

    fn table(&self) -> Vec<(i64, f64)> {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        let row = |line: &str| {
            let mut cells = line.split(',');
            Some((cells.next()?.parse().ok()?, cells.nth(3)?.parse().ok()?))
        };
        text.lines().filter_map(row).collect()
    }
}

pub(crate) fn entry<F: FnMut(Event) -> Option<Signal> + Send + 'static>(
    name: &'static str,
    warmup: usize,
    longer: &[Interval],
    make: impl Fn(&Place) -> F + Send + Sync + 'static,
) -> StrategyEntry {
    let longer = longer.to_vec();
    StrategyEntry::new(name, "1.0.0", move |values, bot| {
        let named = values["file"].as_str().filter(|name| !name.is_empty());
        let file = named.unwrap_or(DATA).into();
        let rules = make(&Place { bot, file });
        Ok(Box::new(Closure { warmup, longer: longer.clone(), rules }))
    })
    .described("Of the trial.")
    .with_parameter(Parameter::new("file", ""))
}
