//! Detection of programs that cargo built from a different folder.

use std::path::Path;

/// Reports a program that cargo built from a folder other than the current one.
///
/// This happens if two folders contain packages with the same name and version, share a target
/// folder, and the second is not newer, for example a copy made for an experiment.
///
/// `built_in` is `env!("CARGO_MANIFEST_DIR")` in the program's own source. Returns `None` if the
/// folders match, or if the program was not started by cargo.
pub fn wrong_folder(built_in: &str) -> Option<String> {
    differing(built_in, &std::env::var("CARGO_MANIFEST_DIR").ok()?)
}

fn differing(built_in: &str, run_in: &str) -> Option<String> {
    let is_same = built_in == run_in
        || matches!((Path::new(built_in).canonicalize(), Path::new(run_in).canonicalize()), (Ok(one), Ok(other)) if one == other);
    (!is_same).then(|| {
        format!(
            "cargo has run what it built of {built_in}, not of {run_in}: their packages have one name and share a target folder. \
             Give one of them another name in Cargo.toml; or build this one anew, after cargo clean -p with its name"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_another_folder_is_told_and_one_of_the_same_by_another_path_is_not() {
        let here = env!("CARGO_MANIFEST_DIR");
        assert_eq!(differing(here, here), None);
        assert_eq!(differing(here, &format!("{here}/src/..")), None);
        let told = differing("/home/trader/first", "/home/trader/copy").unwrap();
        assert!(told.contains("built of /home/trader/first, not of /home/trader/copy"), "{told}");
    }

    #[test]
    fn cargo_runs_these_tests_in_the_folder_they_were_built_in() {
        assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some(), "cargo says where it runs a test");
        assert_eq!(wrong_folder(env!("CARGO_MANIFEST_DIR")), None);
        assert!(wrong_folder("/home/trader/first").is_some());
    }
}
