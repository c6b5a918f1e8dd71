//! Test helpers that read reference figures. The origin of the figures is documented next to the data files.

pub(crate) fn rows<const N: usize>(text: &str) -> Vec<[f64; N]> {
    let row = |line: &str| {
        let numbers: Vec<f64> = line.split(',').map(|number| number.parse().unwrap()).collect();
        numbers.try_into().unwrap()
    };
    let rows: Vec<_> = text.lines().skip(1).map(row).collect();
    assert!(!rows.is_empty(), "a reference file without figures proves nothing");
    rows
}

pub(crate) fn assert_close(found: f64, expected: f64, relative_error: f64, case: &str) {
    let error = (found - expected).abs();
    assert!(error <= relative_error * expected.abs(), "{case}: {found:e}, not {expected:e}");
}
