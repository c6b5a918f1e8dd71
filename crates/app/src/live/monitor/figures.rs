//! Metrics of a run. The run loop only updates atomics, so reading the metrics never blocks the loop.
//! All time series exist from the start, as labels only take values known by then, such as bot names, never ids.

use super::MonitorSources;
use super::health::Health;
use candlewick_engine::{Action, BotId, EdgeVerdict, Event, EventKind, IntentRow, IntentState, Rule};
use candlewick_runtime::control::{Blockage, Phase, RunState, VenueApi};
use candlewick_runtime::events::EventNames;
use candlewick_runtime::{Evidence, Funds, Notice, Observer, RequestKind, may_settle};
use candlewick_sdk::{Millis, Outcome};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

const OUTCOMES: [Outcome; 4] = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled];
const INTENT_RESULTS: [&str; 4] = ["opened", "rejected", "not_sent", "in_doubt"];
const DOUBT_RESOLUTIONS: [&str; 5] = ["adopted", "not_opened", "rejected", "not_sent", "settled_by_person"];
const PHASES: [(Phase, &str); 4] = [
    (Phase::Trading, "trading"),
    (Phase::Halted, "halted"),
    (Phase::Suspended, "suspended"),
    (Phase::Stopping, "stopping"),
];
const EDGE_VERDICTS: [(EdgeVerdict, &str); 4] = [
    (EdgeVerdict::Open, "open"),
    (EdgeVerdict::Shown, "shown"),
    (EdgeVerdict::Rejected, "rejected"),
    (EdgeVerdict::NoLongerHeld, "no_longer_held"),
];
const LATENCY_BUCKETS_S: [f64; 12] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

struct BotMetrics {
    signals: Counter,
    opens: [Counter; INTENT_RESULTS.len()],
    resolved: [Counter; DOUBT_RESOLUTIONS.len()],
    refused: [Counter; Rule::ALL.len()],
    blocked: [Gauge; Rule::ALL.len()],
    settled: [Counter; OUTCOMES.len()],
    profit: FloatGauge,
    edges: [Gauge; EDGE_VERDICTS.len()],
    judged: Gauge,
    evidence: [FloatGauge; 2],
    thresholds: [FloatGauge; 2],
}

struct SeriesMetrics {
    candles: Counter,
    closed: AtomicI64,
    closed_at: FloatGauge,
    delay: FloatGauge,
    staleness: FloatGauge,
}

pub(crate) struct RunMetrics {
    registry: Registry,
    names: EventNames,
    bots: Vec<BotMetrics>,
    series: Vec<SeriesMetrics>,
    phases: [Gauge; PHASES.len()],
    balance: FloatGauge,
    open_stakes: FloatGauge,
    peak: FloatGauge,
    drawdown: FloatGauge,
    alarms: Counter,
    warnings: Counter,
    journal_failures: Counter,
    journal: Histogram,
    answers: [Histogram; RequestKind::ALL.len()],
    scraped: SampledMetrics,
}

impl RunMetrics {
    pub(crate) fn new(names: EventNames, budget: f64) -> Self {
        let mut described = MetricRegistry(Registry::with_prefix("candlewick"));
        let version = env!("CARGO_PKG_VERSION").to_owned();
        described.0.register("build", "The program", Info::new(vec![("version", version)]));
        let bots = bot_metrics(&mut described, &names);
        let series = series_metrics(&mut described, &names);
        let phases = described.family("phase", "Phase of the run: 1 for the current phase");
        let phases: [Gauge; PHASES.len()] = PHASES.map(|(_, name)| phases.with_labels(&[("phase", name)]));
        phases[0].set(1);
        let buckets = || Histogram::new(LATENCY_BUCKETS_S);
        let answers = Family::<Labels, Histogram>::new_with_constructor(buckets as fn() -> Histogram);
        let help = "Real time from a request to the venue's answer or the timeout";
        described.0.register("request_duration_seconds", help, answers.clone());
        let answers = LabelledFamily(answers);
        let answers =
            RequestKind::ALL.map(|question| answers.with_labels(&[("question", question.as_str())]));
        let (journal, help) = (buckets(), "Duration of a durable journal write, in real time");
        described.0.register("journal_write_duration_seconds", help, journal.clone());
        let scraped = SampledMetrics::new(&mut described, budget);
        Self {
            bots,
            series,
            phases,
            balance: described.add("balance", "Free balance in the wallet's currency"),
            open_stakes: described.add("open_stakes", "Stakes of unfinished intents"),
            peak: described.add(
                "equity_peak",
                "Highest equity (balance and open stakes) since the start or the last resume",
            ),
            drawdown: described.add("drawdown_ratio", "Drawdown as a fraction of the peak equity"),
            alarms: described.add("alarms", "Alarms that need the operator's attention"),
            warnings: described.add("warnings", "Warnings about non-fatal problems"),
            journal_failures: described
                .add("journal_write_failures", "Journal writes that were not made durable"),
            journal,
            answers,
            scraped,
            registry: described.0,
            names,
        }
    }

    pub(super) fn text(&self, health: &Health, sources: &MonitorSources, state: Option<&RunState>) -> String {
        self.scraped.sample(health, sources, state);
        let now = sources.clock.now();
        for series in &self.series {
            let closed = series.closed.load(Ordering::Relaxed);
            if closed > 0 {
                series.staleness.set((now.get() - closed) as f64 / 1_000.0);
            }
        }
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        to_prometheus_text(&text)
    }

    fn bot(&self, bot: BotId) -> Option<&BotMetrics> {
        self.bots.get(bot.index())
    }

    fn on_event(&self, event: &Event, (funds, row, before): (Funds, Option<&IntentRow>, Option<&IntentRow>)) {
        let scale = self.names.scale();
        let (free, staked, peak) = (funds.free, funds.open_stakes, funds.peak);
        let (equity, peak) = (scale.to_f64(free + staked), scale.to_f64(peak));
        self.balance.set(scale.to_f64(free));
        self.open_stakes.set(scale.to_f64(staked));
        self.peak.set(peak);
        self.drawdown.set(if peak > 0.0 { ((peak - equity) / peak).max(0.0) } else { 0.0 });
        if let EventKind::Candle { series, candle, .. } = &event.kind {
            self.on_candle(series.index(), candle, event.received);
        }
        let Some(bot) = row.and_then(|row| self.bot(row.approved.bot())) else { return };
        let profit_before = before.map(|row| row.profit).unwrap_or_default();
        let before = before.map(|row| row.state);
        let (result, end) = match &event.kind {
            EventKind::Opened(_) => (Some(0), None),
            EventKind::Rejected { .. } => (Some(1), Some(2)),
            EventKind::NotSent { .. } => (Some(2), Some(3)),
            EventKind::InDoubt { .. } | EventKind::Reinstated(_) => (Some(3), None),
            EventKind::Adopted(_) => (None, Some(0)),
            EventKind::NotOpened { .. } => (None, Some(1)),
            EventKind::Settled(_) | EventKind::SettledByPerson { .. } if !may_settle(before) => (None, None),
            EventKind::Settled(settled) => {
                bot.on_settled(settled.outcome, scale.to_f64(settled.profit));
                (None, Some(0))
            }
            EventKind::SettledByPerson { outcome, profit, .. } => {
                bot.on_settled(*outcome, scale.to_f64(*profit));
                (None, Some(4))
            }
            EventKind::Correction { profit, .. } if before == Some(IntentState::Settled) => {
                bot.profit.inc_by(scale.to_f64(*profit - profit_before));
                (None, None)
            }
            _ => (None, None),
        };
        let counted = match before {
            Some(IntentState::InFlight) => result.map(|place: usize| &bot.opens[place]),
            Some(IntentState::InDoubt) => end.map(|place: usize| &bot.resolved[place]),
            _ => None,
        };
        if let Some(counter) = counted {
            counter.inc();
        }
    }

    fn on_candle(&self, place: usize, candle: &candlewick_sdk::Candle, received: Millis) {
        let (Some(series), Some(named)) = (self.series.get(place), self.names.series().get(place)) else {
            return;
        };
        let closed = candle.close_time(named.interval).get();
        series.candles.inc();
        series.closed.fetch_max(closed, Ordering::Relaxed);
        series.closed_at.set(series.closed.load(Ordering::Relaxed) as f64 / 1_000.0);
        series.delay.set((received.get() - closed) as f64 / 1_000.0);
    }

    fn set_blocked(&self, blocked: &[Blockage]) {
        for (name, bot) in self.names.bots().iter().zip(&self.bots) {
            for (rule, gauge) in Rule::ALL.iter().zip(&bot.blocked) {
                let is_it = |one: &Blockage| one.rule == rule.as_str() && one.bots.contains(name);
                gauge.set(i64::from(blocked.iter().any(is_it)));
            }
        }
    }

    fn on_action(&self, action: &Action) {
        match action {
            Action::Open(approved) => {
                if let Some(bot) = self.bot(approved.bot()) {
                    bot.signals.inc();
                }
            }
            Action::Refuse(refused) => {
                let place = Rule::ALL.iter().position(|rule| *rule == refused.rule);
                if let (Some(bot), Some(place)) = (self.bot(refused.bot), place) {
                    bot.refused[place].inc();
                }
            }
            Action::DayOpened { .. } | Action::Verdict(_) => {}
        }
    }
}

impl BotMetrics {
    fn on_settled(&self, outcome: Outcome, profit: f64) {
        if let Some(place) = OUTCOMES.iter().position(|known| *known == outcome) {
            self.settled[place].inc();
        }
        self.profit.inc_by(profit);
    }

    fn on_evidence(&self, evidence: &Evidence) {
        for (gauge, (edge, _)) in self.edges.iter().zip(EDGE_VERDICTS) {
            gauge.set(i64::from(edge == evidence.edge));
        }
        self.judged.set(i64::try_from(evidence.trades).unwrap_or(i64::MAX));
        self.evidence[0].set(evidence.wealth_for);
        self.evidence[1].set(evidence.wealth_against);
        self.thresholds[0].set(evidence.threshold_for);
        self.thresholds[1].set(evidence.threshold_against);
    }
}

fn bot_metrics(described: &mut MetricRegistry, names: &EventNames) -> Vec<BotMetrics> {
    let signals = described.family("signals", "Signals that were approved");
    let opens = described.family("opens", "Trade intents, by first known result");
    let resolved = described.family("doubts_resolved", "Orders whose unknown status was resolved, by result");
    let refused = described.family("refusals", "Rejected signals, by the first rejecting rule");
    let help = "1 if the rule has rejected every signal of the bot for longer than a trade lasts";
    let blocked = described.family("blocked", help);
    let settled = described.family("settlements", "Settled trades, by first recorded outcome");
    let profit = described.family("profit", "Net profit of trades settled in this run");
    let edges = described.family("verdict", "Verdict about the bot's edge: 1 for the current verdict");
    let judged = described.family("verdict_trades", "Number of trades used for the verdict");
    let evidence = described.family("verdict_evidence", "Evidence for or against an edge; 1 means none");
    let thresholds = described.family("verdict_threshold", "Evidence required for a verdict");
    let of_bot = |name: &String| {
        let bot = ("bot", name.as_str());
        BotMetrics {
            signals: signals.with_labels(&[bot]),
            opens: INTENT_RESULTS.map(|result| opens.with_labels(&[bot, ("result", result)])),
            resolved: DOUBT_RESOLUTIONS.map(|end| resolved.with_labels(&[bot, ("how", end)])),
            refused: Rule::ALL.map(|rule| refused.with_labels(&[bot, ("rule", rule.as_str())])),
            blocked: Rule::ALL.map(|rule| blocked.with_labels(&[bot, ("rule", rule.as_str())])),
            settled: OUTCOMES.map(|outcome| {
                let outcome = outcome.as_str().to_lowercase();
                settled.with_labels(&[bot, ("outcome", outcome.as_str())])
            }),
            profit: profit.with_labels(&[bot]),
            edges: EDGE_VERDICTS.map(|(_, edge)| edges.with_labels(&[bot, ("edge", edge)])),
            judged: judged.with_labels(&[bot]),
            evidence: ["for", "against"].map(|side| evidence.with_labels(&[bot, ("side", side)])),
            thresholds: ["for", "against"].map(|side| thresholds.with_labels(&[bot, ("side", side)])),
        }
    };
    names.bots().iter().map(of_bot).collect()
}

fn series_metrics(described: &mut MetricRegistry, names: &EventNames) -> Vec<SeriesMetrics> {
    let candles = described.family("candles", "Candles passed to the strategies");
    let help = "Close time of the last candle, in venue time";
    let closed = described.family("candle_close_timestamp_seconds", help);
    let help = "Delay of the last candle after its close, in venue time";
    let delay = described.family("candle_delay_seconds", help);
    let staleness =
        described.family("candle_staleness_seconds", "Time since the last candle closed, in venue time");
    let of_series = |series: &candlewick_sdk::Series| {
        let interval = series.interval.to_string();
        let labels = [("symbol", series.symbol.as_str()), ("interval", interval.as_str())];
        SeriesMetrics {
            candles: candles.with_labels(&labels),
            closed: AtomicI64::new(0),
            closed_at: closed.with_labels(&labels),
            delay: delay.with_labels(&labels),
            staleness: staleness.with_labels(&labels),
        }
    };
    names.series().iter().map(of_series).collect()
}

impl Observer for RunMetrics {
    fn on_loop_turn(&self) {}

    fn on_notice(&self, notice: &Notice) {
        match notice {
            Notice::Handled { event, actions, funds, intent, before } => {
                self.on_event(event, (*funds, intent.as_ref(), before.as_ref()));
                for action in actions {
                    self.on_action(action);
                }
            }
            Notice::Evidence(evidence) => {
                if let Some(bot) = self.bot(evidence.bot) {
                    bot.on_evidence(evidence);
                }
            }
            Notice::Phase { phase, .. } => {
                for (gauge, (known, _)) in self.phases.iter().zip(PHASES) {
                    gauge.set(i64::from(known == *phase));
                }
            }
            Notice::Blocked(blocked) => self.set_blocked(blocked),
            Notice::Alarm(_) | Notice::Logged { is_alarm: true, .. } => _ = self.alarms.inc(),
            Notice::Warning(_) | Notice::Logged { is_alarm: false, .. } => _ = self.warnings.inc(),
            _ => {}
        }
    }

    fn on_answer(&self, question: RequestKind, took: Duration) {
        let place = RequestKind::ALL.iter().position(|known| *known == question);
        if let Some(histogram) = place.and_then(|place| self.answers.get(place)) {
            histogram.observe(took.as_secs_f64());
        }
    }

    fn on_journal_write(&self, took: Duration, is_durable: bool) {
        self.journal.observe(took.as_secs_f64());
        if !is_durable {
            self.journal_failures.inc();
        }
    }
}

struct SampledMetrics {
    open: Gauge,
    in_flight: Gauge,
    in_doubt: Gauge,
    skew: [FloatGauge; 2],
    heard_at: FloatGauge,
    loop_age: FloatGauge,
    is_written: Gauge,
    is_heard: Gauge,
    is_api_reachable: [Gauge; VenueApi::ALL.len()],
    late_series: Gauge,
    followers: Gauge,
    missed: Gauge,
    waiting: LabelledFamily<Gauge>,
    slowest: FloatGauge,
    streams: [Gauge; 2],
}

impl SampledMetrics {
    fn new(described: &mut MetricRegistry, requests_per_second: f64) -> Self {
        let help = "Lower and upper bound of the venue clock's offset from this machine's clock";
        let skew = described.family("clock_ahead_seconds", help);
        let help = "Maximum requests per second to the venue; 0 for unlimited";
        let budget: FloatGauge = described.add("requests_per_second_limit", help);
        budget.set(requests_per_second);
        let help = "Number of symbols whose prices are streamed, or polled because the stream is missing";
        let streams = described.family("price_streams", help);
        let of_api = described.family("venue_api_heard", "1 if this API of the venue answers, else 0");
        let of_api = VenueApi::ALL.map(|api| {
            let name = match api {
                VenueApi::Trading => "trading",
                VenueApi::Prices => "prices",
            };
            of_api.with_labels(&[("api", name)])
        });
        Self {
            open: described.add("open_trades", "Open trades"),
            in_flight: described.add("opens_in_flight", "Pending open requests"),
            in_doubt: described.add("doubts_open", "Orders of unknown status"),
            skew: ["low", "high"].map(|bound| skew.with_labels(&[("bound", bound)])),
            heard_at: described
                .add("venue_heard_timestamp_seconds", "Time of the venue's last answer, in venue time"),
            loop_age: described.add("loop_age_seconds", "Real time since the last iteration of the run loop"),
            is_written: described.add("journal_writable", "1 if the last write to the journal succeeded"),
            is_heard: described.add("venue_heard", "1 if all APIs of the venue answer, else 0"),
            is_api_reachable: of_api,
            late_series: described.add("series_late", "Series that are more than two intervals late"),
            followers: described.add("followers", "Clients that follow the event stream"),
            missed: described.add("events_missed", "Events dropped because they were not processed in time"),
            waiting: described.family("requests_waiting", "Waiting requests by priority"),
            slowest: described.add(
                "slowest_candle_delay_seconds",
                "Longest time from a candle's close to its arrival (or to now if missing), in venue time",
            ),
            streams: ["streaming", "missed"].map(|state| streams.with_labels(&[("state", state)])),
        }
    }

    fn sample(&self, health: &Health, sources: &MonitorSources, state: Option<&RunState>) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        if let Some(state) = state {
            self.open.set(count(state.open));
            self.in_flight.set(count(state.in_flight));
            self.in_doubt.set(count(state.in_doubt.len()));
            if let Some(clock) = &state.clock {
                self.skew[0].set(clock.low.get() as f64 / 1_000.0);
                self.skew[1].set(clock.high.unwrap_or(clock.low).get() as f64 / 1_000.0);
            }
            let market = state.market.as_deref();
            if let Some(slowest) = market.and_then(|market| market.slowest_candle) {
                self.slowest.set(slowest.delay_ms.get() as f64 / 1_000.0);
            }
            if let Some(stream) = market.and_then(|market| market.stream) {
                self.streams[0].set(count(stream.streaming));
                self.streams[1].set(count(stream.wanted.saturating_sub(stream.streaming)));
            }
            if let Some(heard) = state.heard {
                self.heard_at.set(heard.get() as f64 / 1_000.0);
            }
        }
        self.loop_age.set(health.loop_age().as_secs_f64());
        self.is_written.set(i64::from(health.is_journal_writable()));
        let is_heard = VenueApi::ALL.map(|api| health.is_reachable(api));
        self.is_heard.set(i64::from(is_heard.iter().all(|is_heard| *is_heard)));
        for (gauge, is_heard) in self.is_api_reachable.iter().zip(is_heard) {
            gauge.set(i64::from(is_heard));
        }
        self.late_series.set(i64::try_from(health.late_series_count()).unwrap_or(i64::MAX));
        self.followers.set(count(sources.feed.follower_count()));
        self.missed.set(i64::try_from(sources.feed.missed_count()).unwrap_or(i64::MAX));
        for (priority, waiting) in (sources.waiting_requests)() {
            self.waiting.with_labels(&[("priority", priority)]).set(count(waiting));
        }
    }
}

type Labels = Vec<(&'static str, String)>;
type FloatGauge = Gauge<f64, AtomicU64>;

struct MetricRegistry(Registry);

impl MetricRegistry {
    fn add<M: Metric + Clone + Default>(&mut self, name: &str, help: &str) -> M {
        let metric = M::default();
        self.0.register(name, help, metric.clone());
        metric
    }

    fn family<M: Default>(&mut self, name: &str, help: &str) -> LabelledFamily<M>
    where
        Family<Labels, M>: Metric,
    {
        LabelledFamily(self.add(name, help))
    }
}

struct LabelledFamily<M>(Family<Labels, M>);

impl<M: Clone> LabelledFamily<M> {
    fn with_labels(&self, labels: &[(&'static str, &str)]) -> M {
        let labels = labels.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.0.get_or_create_owned(&labels)
    }
}

/// Converts OpenMetrics to the Prometheus text format 0.0.4, which every scraper reads.
fn to_prometheus_text(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut described = String::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("HELP"), Some(_), Some(help)) => help.clone_into(&mut described),
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                let (suffix, kind) = match kind {
                    "counter" => ("_total", kind),
                    "info" => ("_info", "gauge"),
                    _ => ("", kind),
                };
                let _ = writeln!(plain, "# HELP {name}{suffix} {described}\n# TYPE {name}{suffix} {kind}");
            }
            _ => {
                plain.push_str(line);
                plain.push('\n');
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{
        Header, IntentId, JournalDecoder, Session, SessionSettings, TradeBook, TradeSettlement,
    };
    use candlewick_sdk::Money;
    use serde_json::json;

    #[test]
    fn correction_changes_the_profit_of_its_bot() {
        let bot = json!({"name": "a", "symbol": "BTCUSDT", "interval": "1m", "strategy": "probe", "close_type": "01:00",
            "params": {}, "stake": {"kind": "fixed", "amount": "10"}});
        let settings = json!({"money_scale": 2, "balance": "100", "risk": {}, "bots": [bot]});
        let of_session: SessionSettings = serde_json::from_value(settings.clone()).unwrap();
        let header = Header {
            format: Header::FORMAT,
            settings: json!({"session": settings}),
            strategies: vec![("probe".to_owned(), "1.0.0".to_owned())],
            data_hash: None,
        };
        let mut session = Session::without_strategies(&of_session).unwrap();
        let mut decoder = JournalDecoder::for_run(&header, &mut session).unwrap();
        let open = json!({"action": "open", "intent": 1, "bot": 0, "symbol": 0, "direction": "BUY", "stake": 1_000,
            "expiry": {"close_type": "01:00", "expiration_type": "UNSTATED"}, "decision_time": 60_000, "reason": {"text": "x"}});
        let mut book = TradeBook::default();
        book.recall(&decoder.read_action(&open.to_string()).unwrap());
        let row = *book.row(IntentId::new(1)).unwrap();
        let figures = RunMetrics::new(EventNames::new(&of_session.bots, of_session.money_scale), 0.0);
        let handled = |kind, (before, after): (IntentRow, IntentRow)| {
            let event = Event { at: Millis::ZERO, received: Millis::ZERO, kind };
            let (funds, actions) = (Funds::default(), Vec::new());
            let (intent, before) = (Some(after), Some(before));
            figures.on_notice(&Notice::Handled { event, actions, funds, intent, before });
        };
        let with = |state, minor| {
            let mut row = row;
            (row.state, row.profit) = (state, Money::from_minor(minor));
            row
        };
        let (open, won, lost) =
            (with(IntentState::Open, 0), with(IntentState::Settled, 800), with(IntentState::Settled, -1_000));
        let intent = IntentId::new(1);
        let settled = TradeSettlement {
            intent,
            outcome: Outcome::Won,
            profit: won.profit,
            open_time: None,
            open_price: None,
            close_time: None,
            close_price: None,
            payout: None,
        };
        handled(EventKind::Settled(settled), (open, won));
        assert_eq!(figures.bots[0].profit.get(), 8.0);
        let correction = EventKind::Correction { intent, outcome: Outcome::Lost, profit: lost.profit };
        handled(correction, (won, lost));
        assert_eq!(figures.bots[0].profit.get(), -10.0);
        let back = EventKind::Correction { intent, outcome: Outcome::Won, profit: won.profit };
        handled(back, (lost, won));
        assert_eq!(figures.bots[0].profit.get(), 8.0);
    }

    #[test]
    fn describes_counters_by_their_sample_names() {
        let open = "# HELP a_opens Opens by result.\n# TYPE a_opens counter\na_opens_total{r=\"x\"} 3\n# HELP a_build The program.\n\
                    # TYPE a_build info\na_build_info{v=\"1\"} 1\n# EOF\n";
        let plain = "# HELP a_opens_total Opens by result.\n# TYPE a_opens_total counter\na_opens_total{r=\"x\"} 3\n\
                     # HELP a_build_info The program.\n# TYPE a_build_info gauge\na_build_info{v=\"1\"} 1\n";
        assert_eq!(to_prometheus_text(open), plain);
    }
}
