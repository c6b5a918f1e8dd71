//! Registration of metrics, and their text format.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::fmt::Write as _;
use std::sync::atomic::AtomicU64;

pub(super) type Labels = Vec<(&'static str, String)>;
pub(super) type Level = Gauge<f64, AtomicU64>;

pub(super) struct Described(pub(super) Registry);

impl Described {
    pub(super) fn counter(&mut self, name: &str, help: &str) -> Counter {
        let counter = Counter::default();
        self.0.register(name, help, counter.clone());
        counter
    }

    pub(super) fn gauge(&mut self, name: &str, help: &str) -> Gauge {
        let gauge = Gauge::default();
        self.0.register(name, help, gauge.clone());
        gauge
    }

    pub(super) fn level(&mut self, name: &str, help: &str) -> Level {
        let level = Level::default();
        self.0.register(name, help, level.clone());
        level
    }

    pub(super) fn counters(&mut self, name: &str, help: &str) -> Family<Labels, Counter> {
        let family = Family::default();
        self.0.register(name, help, family.clone());
        family
    }

    pub(super) fn gauges(&mut self, name: &str, help: &str) -> Family<Labels, Gauge> {
        let family = Family::default();
        self.0.register(name, help, family.clone());
        family
    }

    pub(super) fn levels(&mut self, name: &str, help: &str) -> Family<Labels, Level> {
        let family = Family::default();
        self.0.register(name, help, family.clone());
        family
    }
}

pub(super) fn label(name: &'static str, value: &str) -> (&'static str, String) {
    (name, value.to_owned())
}

/// Converts OpenMetrics to text format 0.0.4, which every scraper reads.
///
/// Counters are described under their sample names, and info metrics become gauges.
pub(super) fn in_plain_format(text: &str) -> String {
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

    #[test]
    fn counters_are_described_by_the_names_of_their_samples() {
        let open = "# HELP a_opens Opens by result.\n# TYPE a_opens counter\na_opens_total{r=\"x\"} 3\n# HELP a_build The program.\n\
                    # TYPE a_build info\na_build_info{v=\"1\"} 1\n# EOF\n";
        let plain = "# HELP a_opens_total Opens by result.\n# TYPE a_opens_total counter\na_opens_total{r=\"x\"} 3\n\
                     # HELP a_build_info The program.\n# TYPE a_build_info gauge\na_build_info{v=\"1\"} 1\n";
        assert_eq!(in_plain_format(open), plain);
    }
}
