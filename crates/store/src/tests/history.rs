//! What is written can be read, in order, also by the next server.

use pretty_assertions::assert_eq;

use super::*;

#[tokio::test]
async fn reopening_keeps_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    bench
        .write([
            Write::PutSession(session(1).into()),
            Write::PutSession(session(2).into()),
            Write::AppendEntry(entry(1, 1)),
            Write::AppendEntry(entry(1, 2)),
            Write::OpenRequest(request(1, 11).into()),
            Write::OpenRequest(request(2, 12).into()),
            Write::Decide(decision(12, Outcome::Denied)),
        ])
        .await
        .unwrap();
    bench.close().await;

    let denied = ended(request(2, 12), RequestStatus::Decided);
    assert_eq!(
        Bench::at(&path).await.everything().await,
        Everything {
            sessions: vec![session(2), session(1)],
            entries: vec![entry(1, 1), entry(1, 2)],
            requests: vec![denied.clone(), request(1, 11)],
            decisions: vec![history_line(
                session(2),
                denied,
                decision(12, Outcome::Denied)
            )],
        }
    );
}

#[tokio::test]
async fn putting_a_session_again_keeps_what_belongs_to_it() {
    let mut bench = Bench::in_memory().await;
    let cleared = SessionRow {
        agent_session_id: Some("another".to_owned()),
        state: SessionRow::DEAD.to_owned(),
        archived_at: Some(UnixMillis(9_000)),
        title_fixed: true,
        restricted: true,
        context: Some("{}".to_owned()),
        usage: None,
        ..session(1)
    };
    bench
        .write([
            Write::PutSession(session(1).into()),
            Write::AppendEntry(entry(1, 1)),
            Write::OpenRequest(request(1, 11).into()),
            Write::PutSession(cleared.clone().into()),
        ])
        .await
        .unwrap();
    assert_eq!(
        bench.everything().await,
        Everything {
            sessions: vec![cleared.clone()],
            entries: vec![entry(1, 1)],
            requests: vec![request(1, 11)],
            decisions: vec![],
        }
    );
    assert_eq!(
        bench.store.session(session_id(1)).await.unwrap(),
        Some(cleared)
    );
    assert_eq!(bench.store.session(session_id(2)).await.unwrap(), None);
}

#[tokio::test]
async fn deleting_a_session_takes_all_of_it_and_nothing_else() {
    let mut bench = Bench::in_memory().await;
    for number in [1, 2] {
        bench
            .write([
                Write::PutSession(session(number).into()),
                Write::AppendEntry(entry(number, 1)),
                Write::OpenRequest(request(number, 10 + number).into()),
                Write::Decide(decision(10 + number, Outcome::Allowed)),
            ])
            .await
            .unwrap();
    }
    bench
        .write([Write::DeleteSession(session_id(1))])
        .await
        .unwrap();
    let allowed = ended(request(2, 12), RequestStatus::Decided);
    assert_eq!(
        bench.everything().await,
        Everything {
            sessions: vec![session(2)],
            entries: vec![entry(2, 1)],
            requests: vec![allowed.clone()],
            decisions: vec![history_line(
                session(2),
                allowed,
                decision(12, Outcome::Allowed)
            )],
        }
    );
    assert_eq!(
        bench.store.request(request_id(11)).await.unwrap(),
        None,
        "a deleted request"
    );
}

#[tokio::test]
async fn a_transcript_is_read_in_parts() {
    let mut bench = Bench::in_memory().await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    assert_eq!(bench.store.last_seq(session_id(1)).await.unwrap(), 0);
    let entries = (1..=5).map(|seq| Write::AppendEntry(entry(1, seq)));
    bench.write(entries).await.unwrap();
    assert_eq!(bench.store.last_seq(session_id(1)).await.unwrap(), 5);
    for (after, limit, expected) in [
        (0, 2, vec![1, 2]),
        (2, 2, vec![3, 4]),
        (4, 2, vec![5]),
        (5, 2, vec![]),
        (0, 0, vec![]),
    ] {
        let read = bench.store.entries(session_id(1), after, limit).await;
        let expected: Vec<EntryRow> = expected.into_iter().map(|seq| entry(1, seq)).collect();
        assert_eq!(read.unwrap(), expected, "after {after}, limit {limit}");
    }
}

#[tokio::test]
async fn a_page_of_a_transcript_ends_before_it_grows_too_large() {
    let mut bench = Bench::in_memory().await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    let large = |seq| EntryRow {
        body: format!("\"{}\"", "x".repeat(600 * 1024)),
        ..entry(1, seq)
    };
    let entries = (1..=5).map(|seq| Write::AppendEntry(large(seq)));
    bench.write(entries).await.unwrap();
    let read = bench.store.entries(session_id(1), 1, 100).await.unwrap();
    assert_eq!(read, [large(2), large(3)]);
}

#[tokio::test]
async fn requests_keep_the_order_of_asking_within_one_millisecond() {
    let mut bench = Bench::in_memory().await;
    // The ids fall while the requests come, and all have the same time.
    bench
        .write([
            Write::PutSession(session(1).into()),
            Write::PutSession(session(2).into()),
            Write::OpenRequest(request(1, 30).into()),
            Write::OpenRequest(request(2, 20).into()),
            Write::OpenRequest(request(1, 10).into()),
            Write::Decide(decision(20, Outcome::Withdrawn)),
        ])
        .await
        .unwrap();
    let withdrawn = ended(request(2, 20), RequestStatus::Withdrawn);
    assert_eq!(
        bench.store.open_requests().await.unwrap(),
        [request(1, 30), request(1, 10)]
    );
    for (filter, limit, expected) in [
        (
            RequestFilter::All,
            9,
            vec![request(1, 10), withdrawn.clone(), request(1, 30)],
        ),
        (RequestFilter::All, 1, vec![request(1, 10)]),
        (
            RequestFilter::Status(RequestStatus::Open),
            9,
            vec![request(1, 10), request(1, 30)],
        ),
        (
            RequestFilter::Status(RequestStatus::Withdrawn),
            9,
            vec![withdrawn.clone()],
        ),
        (RequestFilter::Status(RequestStatus::Orphaned), 9, vec![]),
        (
            RequestFilter::Session(session_id(2)),
            9,
            vec![withdrawn.clone()],
        ),
    ] {
        let read = bench.store.requests(filter, limit).await.unwrap();
        assert_eq!(read, expected, "{filter:?}, limit {limit}");
    }
}

#[tokio::test]
async fn a_request_comes_with_its_decision_and_its_delivery() {
    let mut bench = Bench::in_memory().await;
    let read = async |bench: &Bench| bench.store.request(request_id(11)).await.unwrap();
    assert_eq!(read(&bench).await, None);

    let open = [
        Write::PutSession(session(1).into()),
        Write::OpenRequest(request(1, 11).into()),
        Write::UpdateRequestClock {
            id: request_id(11),
            deadline: None,
            held_remaining_ms: Some(42_000),
            held: false,
        },
    ];
    bench.write(open).await.unwrap();
    let held = RequestRow {
        deadline: None,
        held_remaining_ms: Some(42_000),
        held: false,
        ..request(1, 11)
    };
    let expected = RequestWithDecision {
        request: held.clone(),
        decision: None,
    };
    assert_eq!(read(&bench).await, Some(expected));

    let decide = [
        Write::Decide(decision(11, Outcome::Answered)),
        Write::SetDelivery {
            request_id: request_id(11),
            delivery: Delivery::TooLate,
            at: Some(UnixMillis(6_000)),
        },
    ];
    bench.write(decide).await.unwrap();
    let expected = RequestWithDecision {
        request: over(held, RequestStatus::Decided),
        decision: Some(DecisionRow {
            delivery: Delivery::TooLate,
            delivered_at: Some(UnixMillis(6_000)),
            ..decision(11, Outcome::Answered)
        }),
    };
    assert_eq!(read(&bench).await, Some(expected));
}

#[tokio::test]
async fn pages_of_the_history_neither_skip_nor_repeat() {
    let mut bench = Bench::in_memory().await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    for (number, at) in [(11, 3), (12, 1), (13, 2), (14, 2), (15, 2), (16, 9)] {
        let decided = DecisionRow {
            at: UnixMillis(at),
            ..decision(number, Outcome::Allowed)
        };
        let ask_and_decide = [
            Write::OpenRequest(request(1, number).into()),
            Write::Decide(decided),
        ];
        bench.write(ask_and_decide).await.unwrap();
    }
    for limit in 1..=7 {
        let mut numbers = Vec::new();
        let mut start = PageStart::Newest;
        loop {
            let page = bench.store.decisions(start, limit).await.unwrap();
            assert!(page.len() <= limit as usize);
            let Some(last) = page.last() else { break };
            start = PageStart::Before(last.decision.cursor());
            numbers.extend(page.iter().map(|line| line.decision.request_id));
        }
        assert_eq!(
            numbers,
            [16, 11, 15, 14, 13, 12].map(request_id),
            "pages of {limit}"
        );
    }
}
