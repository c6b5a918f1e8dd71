//! The hold-out of a walk-forward run: its lock, and the record of earlier tests on it.

use super::{Layout, PreparedSearch, SearchOptions};
use crate::error::{AppError, ErrorKind, Result};
use candlewick_records::{count_text, format_utc};
use candlewick_sdk::Millis;
use candlewick_search::variants::{CandleSample, LookKind, VariantLedger};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, create_dir_all};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The strategy and parameter sets that are tested on a hold-out. The search method is not part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hypothesis {
    pub data_hash: String,
    pub series: String,
    pub strategy: (String, String),
    pub parameters: Vec<String>,
    pub conditions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Opening {
    pub opened_at: String,
    key: String,
    /// Hash of everything that determines the result: program, settings, search and windows.
    run: String,
    from: Millis,
    to: Millis,
    hypothesis: Hypothesis,
    /// Sample of the candles, or `None` if an earlier version of the program recorded the opening.
    #[serde(default)]
    candles: Option<CandleSample>,
    #[serde(default)]
    looks: Vec<String>,
    #[serde(default)]
    unknown: Option<String>,
}

pub struct OpeningRequest<'a> {
    pub hypothesis: &'a Hypothesis,
    pub run: String,
    pub range: &'a Range<Millis>,
    pub candles: &'a CandleSample,
    pub looks: KnownLooks,
    pub now: Millis,
    pub reopening: Reopening,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownLooks {
    /// Descriptions of the known tests on the hold-out, and of gaps in the records.
    pub descriptions: Vec<String>,
    /// Reason why some tests on the hold-out may not have been recorded.
    pub unknown_reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reopening {
    Refused,
    OnPurpose,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningRecord {
    /// Time of the opening. If a run is repeated, this is the time of its first opening.
    pub at: String,
    /// Number of this opening among all openings for the hypothesis, 1-based.
    pub number: usize,
    /// Number of earlier openings of the same candles for other hypotheses.
    pub openings_for_others: usize,
    pub looks: KnownLooks,
}

pub struct HoldOutLock(PathBuf);

impl Hypothesis {
    fn key(&self) -> String {
        let sorted = |texts: &[String]| {
            let mut texts = texts.to_vec();
            texts.sort();
            texts
        };
        let whole = json!([self.strategy, sorted(&self.parameters), sorted(&self.conditions)]);
        blake3::hash(whole.to_string().as_bytes()).to_hex().to_string()
    }
}

impl Opening {
    fn overlaps(&self, hypothesis: &Hypothesis, candles: &CandleSample, range: &Range<Millis>) -> bool {
        let Some(opened) = &self.candles else {
            let same_series = self.hypothesis.series == hypothesis.series;
            return same_series && self.from < range.end && range.start < self.to;
        };
        candles.is_seen_in(opened)
    }

    fn matches(&self, hypothesis: &Hypothesis, candles: &CandleSample, range: &Range<Millis>) -> bool {
        self.hypothesis.key() == hypothesis.key() && self.overlaps(hypothesis, candles, range)
    }
}

impl HoldOutLock {
    pub fn new(folder: &Path) -> Self {
        Self(folder.join("hold-outs.jsonl"))
    }

    pub fn count_openings(
        &self,
        hypothesis: &Hypothesis,
        candles: &CandleSample,
        range: &Range<Millis>,
    ) -> Result<usize> {
        let (openings, _) = self.read(&self.read_text()?)?;
        Ok(openings.iter().filter(|opening| opening.matches(hypothesis, candles, range)).count())
    }

    pub fn check(&self, asked: &OpeningRequest<'_>) -> Result<()> {
        let (openings, _) = self.read(&self.read_text()?)?;
        self.find_index(&openings, asked).map(|_| ())
    }

    /// Records an opening durably before any result is shown. Repeating a run does not add an opening.
    pub fn open(&self, asked: &OpeningRequest<'_>) -> Result<OpeningRecord> {
        let mut file = self.open_file().map_err(|error| self.file_error(error))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(|error| self.file_error(error))?;
        let (mut openings, sound) = self.read(&text)?;
        let place = self.find_index(&openings, asked)?;
        if place == openings.len() {
            let opening = Opening {
                opened_at: format_utc(asked.now),
                key: asked.hypothesis.key(),
                run: asked.run.clone(),
                from: asked.range.start,
                to: asked.range.end,
                hypothesis: asked.hypothesis.clone(),
                candles: Some(asked.candles.clone()),
                looks: asked.looks.descriptions.clone(),
                unknown: asked.looks.unknown_reason.clone(),
            };
            let line = format!("{}\n", json!(opening));
            let written = (file.set_len(sound))
                .and_then(|()| file.seek(SeekFrom::Start(sound)))
                .and_then(|_| file.write_all(line.as_bytes()))
                .and_then(|()| file.sync_all());
            written.map_err(|error| self.file_error(error))?;
            openings.push(opening);
        }
        let (opening, before) = (&openings[place], &openings[..place]);
        let OpeningRequest { hypothesis, candles, range, .. } = asked;
        let touching = || before.iter().filter(|other| other.overlaps(hypothesis, candles, range));
        let same = touching().filter(|other| other.matches(hypothesis, candles, range)).count();
        let is_of_strategy = |other: &&Opening| other.hypothesis.strategy.0 == hypothesis.strategy.0;
        let by_strategy = touching().filter(is_of_strategy).count() - same;
        let times = count_text(by_strategy, "opening", "openings");
        let others = (by_strategy > 0)
            .then(|| format!("the hold-out was already used for other hypotheses of this strategy: {times}"));
        Ok(OpeningRecord {
            at: opening.opened_at.clone(),
            number: same + 1,
            openings_for_others: touching().count() - same,
            looks: KnownLooks {
                descriptions: opening.looks.iter().cloned().chain(others).collect(),
                unknown_reason: opening.unknown.clone(),
            },
        })
    }

    /// Returns the index of this run's opening, or the length of the list if the opening is new.
    fn find_index(&self, openings: &[Opening], asked: &OpeningRequest<'_>) -> Result<usize> {
        let OpeningRequest { hypothesis, candles, range, .. } = asked;
        let is_own = |one: &&Opening| one.matches(hypothesis, candles, range);
        if let Some(place) = openings.iter().position(|one| is_own(&one) && one.run == asked.run) {
            return Ok(place);
        }
        let own = || openings.iter().filter(is_own);
        match (own().next_back(), asked.reopening) {
            (Some(last), Reopening::Refused) => Err(self.already_opened_error(last, own().count())),
            (Some(_), Reopening::OnPurpose) | (None, _) => Ok(openings.len()),
        }
    }

    fn read_text(&self) -> Result<Vec<u8>> {
        match std::fs::read(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            text => text.map_err(|error| self.file_error(error)),
        }
    }

    /// Opens and locks the list of openings, so that two runs cannot open a hold-out at the same time.
    fn open_file(&self) -> io::Result<File> {
        create_dir_all(self.0.parent().unwrap_or(Path::new(".")))?;
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&self.0)?;
        file.lock()?;
        Ok(file)
    }

    /// Parses the openings and counts their bytes. Ignores an incomplete last line, which a killed run may leave.
    fn read(&self, text: &[u8]) -> Result<(Vec<Opening>, u64)> {
        let whole = text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        let (mut openings, mut sound) = (Vec::new(), 0);
        for (line, number) in whole.zip(1..) {
            let opening = serde_json::from_slice(line).map_err(|error| {
                let place =
                    format!("{}:{number}: this line does not describe a hold-out opening", self.0.display());
                AppError::invalid(place).with_source(error)
            })?;
            openings.push(opening);
            sound += line.len() as u64;
        }
        Ok((openings, sound))
    }

    fn already_opened_error(&self, last: &Opening, count: usize) -> AppError {
        let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let problem = format!(
            "the hold-out was already opened {times} for this hypothesis, last on {} by another run; \
             it cannot test choices made since then",
            last.opened_at
        );
        AppError::new(ErrorKind::HoldOutOpenedBefore, problem).with_help(format!(
            "test on later candles, or pass --again (the report will mention it); {} lists all openings",
            self.0.display()
        ))
    }

    fn file_error(&self, error: io::Error) -> AppError {
        let problem = format!("cannot use the list of opened hold-outs {}", self.0.display());
        AppError::invalid(problem).with_source(error)
    }
}

pub(super) struct HoldOut {
    pub(super) lock: HoldOutLock,
    pub(super) hypothesis: Hypothesis,
    pub(super) range: Range<Millis>,
    pub(super) candles: CandleSample,
    ledger: Option<VariantLedger>,
}

impl HoldOut {
    pub(super) fn from_layout(
        terms: &SearchOptions,
        prepared: &PreparedSearch<'_>,
        layout: &Layout,
    ) -> Option<Self> {
        let bot = prepared.settings.session.bots.first()?;
        let range = layout.hold_out.clone()?;
        Some(Self {
            lock: HoldOutLock::new(&prepared.loaded.config.data.state_folder()),
            hypothesis: terms.hypothesis(prepared, bot),
            candles: CandleSample::from_series(&prepared.candles.series).within(&range),
            ledger: prepared.ledger(),
            range,
        })
    }

    pub(super) fn find_earlier_looks(&self, run: &str) -> Result<KnownLooks> {
        let Some(ledger) = &self.ledger else {
            let unknown = "earlier uses of the hold-out are unknown, because variants.ledger is \"\"";
            return Ok(KnownLooks { descriptions: vec![unknown.to_owned()], unknown_reason: None });
        };
        let looks = ledger.earlier_looks(&self.hypothesis.strategy.0, &self.candles, run);
        let looks = looks.map_err(|error| {
            let problem = format!("cannot read the ledger of tried variants {}", ledger.path().display());
            AppError::invalid(problem).with_source(error)
        })?;
        let kinds = looks.same_strategy.iter().map(|(kind, count)| match kind {
            LookKind::Backtest => count_text(*count, "backtest", "backtests"),
            LookKind::Sweep => count_text(*count, "sweep", "sweeps"),
            LookKind::WalkForward => count_text(*count, "walk forward", "walks forward"),
            LookKind::Sandbox => count_text(*count, "run of the sandbox", "runs of the sandbox"),
            LookKind::HoldOut => count_text(*count, "opening of a hold-out", "openings of a hold-out"),
        });
        let kinds: Vec<String> = kinds.collect();
        let looked = (!kinds.is_empty())
            .then(|| format!("this strategy has already used candles of the hold-out: {}", kinds.join(", ")));
        let lost = looks.gaps.into_iter().map(|lost| format!("variants unknown: {lost}"));
        let found: Vec<String> = looked.into_iter().chain(lost).collect();
        let begins = (looks.is_first && found.is_empty()).then(|| {
            "earlier uses of the hold-out are unknown, because the ledger of variants starts with this run"
                .to_owned()
        });
        Ok(KnownLooks {
            descriptions: found,
            unknown_reason: begins.or_else(|| describe_other_uses(&looks.other_strategies)),
        })
    }
}

fn describe_other_uses(looks: &BTreeMap<String, u64>) -> Option<String> {
    let describe =
        |(strategy, count): (&String, &u64)| format!("{strategy} ({})", count_text(*count, "use", "uses"));
    let by_others = looks.iter().map(describe).collect::<Vec<_>>().join(", ");
    (!by_others.is_empty()).then(|| {
        format!(
            "other strategies have already used candles of the hold-out: {by_others}; if one of them tests the same \
             idea, these candles are no longer unseen"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::Reopening::{OnPurpose, Refused};
    use super::*;
    use candlewick_sdk::testkit::random_walk;
    use candlewick_sdk::{CandleSeries, Series};

    fn hypothesis(parameters: &[&str]) -> Hypothesis {
        Hypothesis {
            data_hash: "d1".to_owned(),
            series: "BTCUSDT@1m".to_owned(),
            strategy: ("rsi-reversal".to_owned(), "1.0.0".to_owned()),
            parameters: parameters.iter().map(|text| (*text).to_owned()).collect(),
            conditions: Vec::new(),
        }
    }

    struct Fixture {
        folder: tempfile::TempDir,
        name: &'static str,
        hours: Range<usize>,
    }

    impl Fixture {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap(), name: "BTCUSDT", hours: 10..20 }
        }

        fn candles(&self) -> CandleSample {
            let candles = random_walk(1, 60 * 40)[60 * self.hours.start..60 * self.hours.end].to_vec();
            let series = Series { symbol: self.name.parse().unwrap(), interval: "1m".parse().unwrap() };
            CandleSample::from_series([&CandleSeries::new(series, candles).unwrap()])
        }

        fn openings(&self, hypothesis: &Hypothesis) -> usize {
            let candles = self.candles();
            self.lock().count_openings(hypothesis, &candles, &candles.span().unwrap()).unwrap()
        }

        fn lock(&self) -> HoldOutLock {
            HoldOutLock::new(&self.folder.path().join("state"))
        }

        fn ask(&self, claim: &Hypothesis, run: &str, reopening: Reopening) -> Result<OpeningRecord, String> {
            let candles = self.candles();
            let asked = OpeningRequest {
                hypothesis: claim,
                run: run.to_owned(),
                range: &candles.span().unwrap(),
                candles: &candles,
                looks: KnownLooks::default(),
                now: Millis::ZERO,
                reopening,
            };
            let check = self.lock().check(&asked).map_err(|failure| failure.text());
            let opened = self.lock().open(&asked).map_err(|failure| failure.text());
            assert_eq!(check.err(), opened.as_ref().err().cloned());
            opened
        }

        fn open(&self, claim: &Hypothesis, run: &str, again: Reopening) -> Result<(usize, usize), String> {
            self.ask(claim, run, again).map(|opened| (opened.number, opened.openings_for_others))
        }

        fn looks(&self, hypothesis: &Hypothesis, run: &str) -> Vec<String> {
            self.ask(hypothesis, run, OnPurpose).unwrap().looks.descriptions
        }
    }

    #[test]
    fn opens_once_per_hypothesis_unless_on_purpose() {
        let (fixture, one) = (Fixture::new(), hypothesis(&["period=5..30", "oversold"]));
        assert_eq!(fixture.openings(&one), 0);
        assert_eq!(fixture.open(&one, "r1", Refused), Ok((1, 0)));
        assert_eq!(fixture.open(&one, "r1", Refused), Ok((1, 0)));
        let refused = fixture.open(&one, "r2", Refused).unwrap_err();
        assert!(refused.contains("opened once") && refused.contains("1970-01-01T00:00:00.000Z"), "{refused}");
        assert_eq!(fixture.open(&one, "r2", OnPurpose), Ok((2, 0)));
        assert_eq!(
            (fixture.open(&one, "r1", OnPurpose), fixture.open(&one, "r2", Refused)),
            (Ok((1, 0)), Ok((2, 0)))
        );
        assert!(fixture.open(&one, "r3", Refused).unwrap_err().contains("opened 2 times"));
        assert_eq!(fixture.openings(&one), 2);
        assert!(fixture.open(&hypothesis(&["oversold", "period=5..30"]), "r4", Refused).is_err());
    }

    #[test]
    fn counts_other_hypotheses_on_the_same_candles() {
        let mut fixture = Fixture::new();
        assert_eq!(fixture.open(&hypothesis(&["period"]), "r1", Refused), Ok((1, 0)));
        assert_eq!(fixture.open(&hypothesis(&["oversold"]), "r2", Refused), Ok((1, 1)));
        // The number of earlier openings is determined when an opening is recorded.
        assert_eq!(fixture.open(&hypothesis(&["period"]), "r1", Refused), Ok((1, 0)));
        fixture.hours = 20..30;
        assert_eq!(fixture.open(&hypothesis(&["close_type"]), "r5", Refused), Ok((1, 0)));
        assert_eq!(fixture.open(&hypothesis(&["period"]), "r6", Refused), Ok((1, 1)), "later candles");
    }

    #[test]
    fn recognises_same_candles_under_other_names_and_ends() {
        let mut fixture = Fixture::new();
        assert_eq!(fixture.open(&hypothesis(&["period"]), "r1", Refused), Ok((1, 0)));
        for (name, hours) in [("MINE", 10..20), ("MINE", 11..20), ("BTCUSDT", 5..12), ("OTHER", 18..30)] {
            (fixture.name, fixture.hours) = (name, hours);
            let (data_hash, series) = ("d2".to_owned(), format!("{name}@1m"));
            let other = Hypothesis { data_hash, series, ..hypothesis(&["period"]) };
            assert!(fixture.open(&other, "r2", Refused).unwrap_err().contains("opened once"), "{name}");
            assert_eq!(fixture.openings(&other), 1, "{name}");
        }
    }

    #[test]
    fn reports_openings_of_the_same_strategy_only() {
        let mut fixture = Fixture::new();
        assert_eq!(fixture.looks(&hypothesis(&["period=2..5"]), "r1"), [""; 0]);
        let mut other = hypothesis(&["period=2..4"]);
        other.strategy.1 = "1.0.1".to_owned();
        (fixture.name, fixture.hours) = ("MINE", 11..20);
        let looks = fixture.looks(&other, "r2");
        assert!(looks.len() == 1 && looks[0].ends_with("of this strategy: 1 opening"), "{looks:?}");
        assert_eq!(fixture.looks(&other, "r2"), looks, "shown again");
        assert_eq!(fixture.looks(&hypothesis(&["period=2..5"]), "r1"), [""; 0], "what came later");
        other.strategy.0 = "sma-cross".to_owned();
        assert_eq!(fixture.looks(&other, "r3"), [""; 0]);
        fixture.hours = 20..30;
        assert_eq!(fixture.looks(&hypothesis(&["period"]), "r4"), [""; 0], "later candles");
    }

    #[test]
    fn ignores_truncated_last_line_and_reports_other_damage() {
        let (fixture, one) = (Fixture::new(), hypothesis(&["period"]));
        fixture.open(&one, "r1", Refused).unwrap();
        let path = fixture.lock().0;
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(fixture.open(&one, "r2", Refused), Ok((1, 0)));
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
        std::fs::write(&path, format!("{{}}\n{whole}")).unwrap();
        assert!(fixture.open(&one, "r3", OnPurpose).unwrap_err().contains("hold-outs.jsonl:1: "));
    }
}
