use super::*;
use std::fs;
use std::path::PathBuf;

type Decided<T> = Result<(Vec<Entry>, T), LedgerError>;

fn day(number: i64) -> NaiveDate {
    day_of(Millis::DAY * number)
}

struct Fixture {
    _folder: tempfile::TempDir,
    ledger: EvidenceLedger,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = EvidenceLedger::new(folder.path().join("state/evidence.jsonl"));
        Self { _folder: folder, ledger }
    }

    fn add(&self, entries: Vec<Entry>) {
        self.ledger.update(Millis::new(5), |_| -> Decided<()> { Ok((entries, ())) }).unwrap();
    }

    fn head(&self) -> PathBuf {
        self.ledger.path().with_extension("jsonl.head")
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(self.ledger.path()).unwrap().lines().map(str::to_owned).collect()
    }

    fn write(&self, lines: &[String]) {
        let end = if lines.is_empty() { "" } else { "\n" };
        fs::write(self.ledger.path(), lines.join("\n") + end).unwrap();
    }
}

fn some_entries() -> Vec<Entry> {
    let seen = Entry::Seen { from: day(10), until: day(12), by: "live".to_owned() };
    let explored = Entry::Explored { candles: "c".to_owned() };
    let begun = Entry::Begun { identity: "i".to_owned(), from: day(81) };
    let answered = Entry::Answered {
        number: 1,
        answer: Answer::NotShown,
        until: day(100),
        candles: "c".to_owned(),
        trades: "t".to_owned(),
    };
    vec![Entry::Sealed { from: day(80) }, seen, explored, begun, answered]
}

#[test]
fn entries_determine_the_evidence() {
    let fixture = Fixture::new();
    assert_eq!(fixture.ledger.read().unwrap(), Evidence::default());
    fixture.add(some_entries());
    let evidence = fixture.ledger.read().unwrap();
    assert_eq!(
        (evidence.born, evidence.sealed_from, evidence.explored),
        (Some(Millis::new(5)), Some(day(80)), 1)
    );
    assert!(evidence.seen.contains(day(11)) && !evidence.seen.contains(day(12)));
    let result = TestResult {
        answer: Answer::NotShown,
        until: day(100),
        candles: "c".to_owned(),
        trades: "t".to_owned(),
    };
    let (test, found) = evidence.find_tests("i", day(81)).next().unwrap();
    assert_eq!((test.number, found), (1, &result));
    assert_eq!(evidence.find_tests("j", day(81)).chain(evidence.find_tests("i", day(82))).count(), 0);
    assert_eq!(evidence.find_shown_test("i"), None);
    // The seal never moves back.
    fixture.add(vec![Entry::Sealed { from: day(70) }]);
    assert_eq!(fixture.ledger.read().unwrap().sealed_from, Some(day(80)));
}

#[test]
fn pending_tests_are_not_repeated() {
    let fixture = Fixture::new();
    fixture.add(some_entries());
    fixture.add(vec![Entry::Repeated { number: 1 }]);
    assert_eq!(fixture.ledger.read().unwrap().find_tests("i", day(81)).count(), 0);
    fixture.add(vec![Entry::Begun { identity: "i".to_owned(), from: day(81) }]);
    let evidence = fixture.ledger.read().unwrap();
    assert_eq!((evidence.tests.len(), evidence.find_tests("i", day(81)).count()), (2, 0));
}

#[test]
fn changed_and_removed_lines_are_detected() {
    let fixture = Fixture::new();
    fixture.add(some_entries());
    let lines = fixture.lines();
    assert_eq!(lines.len(), 6);
    let problem = |lines: &[String]| {
        fixture.write(lines);
        fixture.ledger.read().unwrap_err().to_string()
    };
    for removed in 0..lines.len() {
        let mut lines = lines.clone();
        lines.remove(removed);
        let line = format!("evidence.jsonl:{}: ", removed + 1);
        let problem = problem(&lines);
        assert!(problem.contains(&line), "without line {}: {problem}", removed + 1);
    }
    for changed in 0..lines.len() {
        let mut lines = lines.clone();
        lines[changed] = lines[changed].replacen("\"at\":5", "\"at\":6", 1);
        assert!(problem(&lines).contains("damaged"), "line {}", changed + 1);
    }
    let removed = problem(&[]);
    assert!(removed.contains("lines are missing"), "{removed}");
    fs::remove_file(fixture.ledger.path()).unwrap();
    assert!(fixture.ledger.read().is_err(), "a deleted ledger with a head is not a new ledger");
    fixture.write(&lines);
    assert!(fixture.ledger.read().is_ok());
}

#[test]
fn partial_last_lines_are_overwritten() {
    let fixture = Fixture::new();
    fixture.add(some_entries());
    let [whole, head] = [fixture.ledger.path(), &fixture.head()].map(|path| fs::read(path).unwrap());
    // A process that was killed while writing leaves part of a line, and the old head.
    for bytes in [1, 20, 70] {
        let torn = [
            &whole[..],
            &br#"{"at":5,"kind":"begun","identity":"k","from":"1970-03-23","after":"0"}"#[..bytes],
        ];
        fs::write(fixture.ledger.path(), torn.concat()).unwrap();
        assert_eq!(fixture.ledger.read().unwrap().tests.len(), 1);
        fixture.add(vec![Entry::Begun { identity: "k".to_owned(), from: day(81) }]);
        assert_eq!(fixture.ledger.read().unwrap().tests.len(), 2, "{bytes}");
        fs::write(fixture.ledger.path(), &whole).unwrap();
        fs::write(fixture.head(), &head).unwrap();
    }
    fs::remove_file(fixture.head()).unwrap();
    assert!(fixture.ledger.read().unwrap_err().to_string().contains("head file is missing"));
}

#[test]
fn concurrent_tests_get_different_numbers() {
    let fixture = Fixture::new();
    let begin = |identity: usize| {
        let decide = |evidence: &Evidence| -> Decided<usize> {
            let begun = Entry::Begun { identity: identity.to_string(), from: day(81) };
            Ok((vec![begun], evidence.tests.len() + 1))
        };
        fixture.ledger.update(Millis::ZERO, decide).unwrap()
    };
    let begin = &begin;
    let mut numbers: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || begin(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=8).collect::<Vec<_>>());
    assert_eq!(fixture.ledger.read().unwrap().tests.len(), 8);
}

#[test]
fn weights_of_all_tests_add_up_to_one() {
    let thresholds: Vec<f64> = (1..5).map(|number| 20.0 / test_weight(number)).collect();
    for (threshold, expected) in thresholds.iter().zip([25.0, 200.0, 600.0, 1_200.0]) {
        assert!((threshold - expected).abs() < 1e-9, "{threshold}, not {expected}");
    }
    // The sum of 1/(k (k - 1)) from 2 to n is 1 - 1/n.
    let sum: f64 = (1..=1_000).map(test_weight).sum();
    assert!((sum - (1.0 - 1.0 / 5_000.0)).abs() < 1e-12, "{sum}");
}

#[test]
fn seal_is_after_four_fifths_of_the_days() {
    let minute = Millis::MINUTE;
    for (days, expected) in [(0..100, 80), (1..2, 2), (5..7, 7), (5..15, 13)] {
        assert_eq!(first_sealed_day(&days.clone().map(day).collect()), day(expected), "{days:?}");
    }
    // A day far from the others hardly counts, and days without candles do not count.
    assert_eq!(first_sealed_day(&(0..9).chain([40_000]).map(day).collect()), day(8));
    let sealed = Evidence { sealed_from: Some(day(80)), ..Evidence::default() };
    // The sealed day itself and the last, partial day are not tested.
    assert_eq!(sealed.testable_days(Millis::DAY * 100), Some(day(81)..day(100)));
    assert_eq!(sealed.testable_days(Millis::DAY * 100 - minute), Some(day(81)..day(99)));
    assert_eq!(sealed.testable_days(Millis::DAY * 82 - minute), None);
    assert_eq!(Evidence::default().testable_days(Millis::DAY * 100), None);
}

#[test]
fn journals_share_the_error_rate_for_live_trading() {
    let traded = |journal: &str, day_number: i64, worths: Option<&[(&str, f64)]>| Entry::Traded {
        journal: journal.to_owned(),
        place: format!("sqlite://{journal}.db"),
        day: day(day_number),
        worths: worths.map(|worths| worths.iter().map(|(id, worth)| ((*id).to_owned(), *worth)).collect()),
    };
    let fixture = Fixture::new();
    fixture.add(vec![traded("a", 100, Some(&[])), traded("a", 101, None)]);
    // While a runs, b takes half of what a has left. Later, c continues the larger rest, which is that of b.
    fixture.add(vec![traded("b", 102, Some(&[("a", 0.6)]))]);
    let shares = |ids: &[&str]| {
        let live = fixture.ledger.read().unwrap().live;
        ids.iter().map(|id| live.share(id)).collect::<Vec<_>>()
    };
    assert_eq!(shares(&["a", "b", "x"]), [0.5, 0.3, 0.0]);
    fixture.add(vec![traded("c", 110, Some(&[("a", 0.1), ("b", 0.5)]))]);
    assert_eq!(shares(&["a", "b", "c"]), [0.5, 0.0, 0.15]);
    // The rest of a deleted journal is lost.
    fixture.add(vec![traded("d", 120, Some(&[("a", 0.0), ("c", 0.0)]))]);
    assert_eq!(shares(&["d"]), [0.0]);
    let evidence = fixture.ledger.read().unwrap();
    assert!(evidence.seen.contains(day(105)) && !evidence.seen.contains(day(121)));
}
