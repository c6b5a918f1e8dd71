//! What a journal promises, whatever database keeps it: each claim is a function over a fixture.

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
            storing::what_was_not_committed_was_never_there,
            storing::large_commits_are_whole,
            storing::any_text_is_kept,
            storing::exchanges_are_kept_beside_the_lines,
            storing::of_a_list_that_is_asked_for_again_only_what_is_new_is_kept,
            storing::exchanges_about_no_intent_are_found_by_their_time,
            retrying::a_failed_commit_is_repeated_whole,
            retrying::a_commit_of_unknown_outcome_writes_each_line_once,
            retrying::a_heartbeat_between_leaves_an_unknown_commit_unknown,
            retrying::a_snapshot_that_is_cut_off_costs_no_entry,
            retrying::a_snapshot_that_fails_fails_nothing_else,
            retrying::an_opening_cut_anywhere_leaves_a_journal_or_nothing,
            chain::each_change_by_hand_is_named,
            chain::a_shortened_journal_is_not_written_on,
            chain::each_change_of_an_exchange_is_found,
            chain::exchanges_after_the_walk_are_left_out,
            chain::exchanges_without_seals_are_counted,
            chain::a_walk_hands_out_no_line_that_was_changed,
            lease::a_second_holder_is_refused_and_told_who,
            lease::a_closed_journal_is_free,
            lease::a_living_holder_here_is_never_robbed,
            lease::a_holder_that_nobody_can_see_any_more_is_followed,
            lease::who_lost_the_lease_writes_nothing,
            lease::a_takeover_amid_commits_leaves_one_writer,
            orders::an_order_waits_until_its_answer_is_durable,
            orders::an_order_outlives_whoever_did_not_answer_it,
            orders::orders_need_a_journal_that_takes_them,
            reading::a_reader_follows_a_writer,
            reading::lines_are_found_by_intent_and_by_time,
            refusing::an_old_journal_is_migrated,
            refusing::an_old_journal_can_be_read_as_it_is,
            refusing::a_newer_journal_is_refused,
            refusing::another_database_is_refused_and_not_touched,
            tables::rows_are_read_back_as_they_were_written,
            tables::rows_that_are_cut_off_are_written_again,
            tables::who_lost_the_lease_writes_no_row,
            processes::another_process_holds_until_it_is_killed,
            processes::processes_that_open_at_once_have_one_winner,
        }

        /// Not a claim: what a process of these tests does that another one starts.
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
