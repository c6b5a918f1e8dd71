//! Tests of a journal on any database. Each is a function that takes a fixture.

macro_rules! assert_fails {
    ($result:expr, $expected:pat) => {
        match $result.map(drop) {
            Err($expected) => {}
            other => panic!("{other:?}"),
        }
    };
}

pub(crate) mod chain;
pub(crate) mod fixture;
pub(crate) mod lease;
pub(crate) mod orders;
pub(crate) mod processes;
pub(crate) mod reading;
pub(crate) mod refusing;
pub(crate) mod retrying;
pub(crate) mod storing;
pub(crate) mod tables;

macro_rules! test_claims {
    ($(#[$attribute:meta])? $fixture:path) => {
        test_claims! { ($(#[$attribute])?) $fixture =>
            storing::lines_keep_their_order_and_fields,
            storing::uncommitted_lines_do_not_exist,
            storing::large_commits_are_atomic,
            storing::stores_any_text,
            storing::stores_exchanges_with_the_lines,
            storing::stores_only_the_changes_of_a_repeated_list,
            storing::finds_exchanges_without_intent_by_time,
            retrying::failed_commit_is_retried_completely,
            retrying::commit_of_unknown_outcome_writes_each_line_once,
            retrying::heartbeat_does_not_resolve_an_unknown_commit,
            retrying::interrupted_snapshot_loses_no_entry,
            retrying::failed_snapshot_affects_nothing_else,
            retrying::interrupted_open_leaves_a_journal_or_nothing,
            chain::detects_each_manual_change,
            chain::rejects_shortened_journal,
            chain::detects_each_change_of_an_exchange,
            chain::omits_exchanges_after_the_walk,
            chain::counts_exchanges_without_seals,
            chain::walk_returns_no_changed_line,
            lease::rejects_second_holder_and_names_the_first,
            lease::closed_journal_is_free,
            lease::living_local_holder_keeps_the_lease,
            lease::takes_over_from_a_holder_that_disappeared,
            lease::writes_nothing_after_losing_the_lease,
            lease::takeover_during_commits_leaves_one_writer,
            orders::order_is_pending_until_its_answer_is_durable,
            orders::order_survives_a_holder_that_did_not_answer,
            orders::orders_need_a_journal_that_takes_them,
            reading::reader_follows_a_writer,
            reading::finds_lines_by_intent_and_time,
            refusing::migrates_old_journal,
            refusing::reads_old_journal_unchanged,
            refusing::rejects_newer_journal,
            refusing::rejects_other_database_without_changing_it,
            tables::rows_are_read_back_as_they_were_written,
            tables::rows_that_are_cut_off_are_written_again,
            tables::who_lost_the_lease_writes_no_row,
            processes::other_process_holds_the_journal_until_killed,
            processes::concurrent_opens_have_one_winner,
        }

        /// Not a test: entry point for the child processes of these tests.
        #[test]
        fn child() {
            suite::processes::play_child();
        }
    };
    (@one ($(#[$attribute:meta])?) $fixture:path => $file:ident::$claim:ident) => {
        $(#[$attribute])?
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $claim() {
            let fixture = $fixture().await;
            suite::$file::$claim(&fixture).await;
            fixture.remove().await;
        }
    };
    ($attributes:tt $fixture:path => $($file:ident::$claim:ident,)*) => {
        $(test_claims! { @one $attributes $fixture => $file::$claim })*
    };
}
