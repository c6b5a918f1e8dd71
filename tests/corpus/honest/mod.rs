//! Honest strategies: no check may accuse one.

mod market;
mod oscillator;
mod own_state;
mod pattern;
mod time;
mod trend;

use candlewick_cli::App;

pub(crate) fn add(app: App, names: &mut Vec<&'static str>) -> App {
    let app = trend::add(app, names);
    let app = oscillator::add(app, names);
    let app = pattern::add(app, names);
    let app = time::add(app, names);
    let app = own_state::add(app, names);
    market::add(app, names)
}
