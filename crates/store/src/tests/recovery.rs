//! What a server finds that comes after one that was killed.

use pretty_assertions::assert_eq;

use super::*;

#[tokio::test]
async fn recovering_ends_what_was_left_and_only_that() {
    let mut bench = Bench::in_memory().await;
    let dead = SessionRow {
        state: SessionRow::DEAD.to_owned(),
        ended_reason: Some("stopped".to_owned()),
        ..session(2)
    };
    bench
        .write([
            Write::PutSession(session(1).into()),
            Write::PutSession(dead.clone().into()),
            Write::OpenRequest(request(1, 13).into()),
            Write::OpenRequest(request(1, 12).into()),
            Write::Decide(decision(12, Outcome::Denied)),
            Write::OpenRequest(request(2, 11).into()),
        ])
        .await
        .unwrap();

    let orphaned = |session, number| ended(request(session, number), RequestStatus::Orphaned);
    let now = UnixMillis(77_000);
    assert_eq!(
        bench.store.recover(now, &[], |_| Vec::new()).await,
        Ok(vec![orphaned(1, 13), orphaned(2, 11)])
    );
    let ended_session = SessionRow {
        state: SessionRow::DEAD.to_owned(),
        ended_reason: Some(SessionRow::SERVER_RESTARTED.to_owned()),
        state_changed_at: now,
        ..session(1)
    };
    let denied = ended(request(1, 12), RequestStatus::Decided);
    let expected = Everything {
        sessions: vec![dead.clone(), ended_session.clone()],
        entries: vec![],
        requests: vec![
            over(orphaned(2, 11), RequestStatus::Orphaned),
            denied.clone(),
            over(orphaned(1, 13), RequestStatus::Orphaned),
        ],
        decisions: vec![
            history_line(ended_session.clone(), orphaned(1, 13), orphan_decision(13)),
            history_line(dead, orphaned(2, 11), orphan_decision(11)),
            history_line(ended_session, denied, decision(12, Outcome::Denied)),
        ],
    };
    assert_eq!(bench.everything().await, expected);

    assert_eq!(
        bench
            .store
            .recover(UnixMillis(88_000), &[], |_| Vec::new())
            .await,
        Ok(vec![])
    );
    assert_eq!(bench.everything().await, expected, "the second time");
    assert_eq!(
        bench
            .write([Write::Decide(decision(13, Outcome::Allowed))])
            .await,
        Err(WriteError::AlreadyDecided(Box::new(orphan_decision(13)))),
        "a late click"
    );
}

#[tokio::test]
async fn i7_what_belongs_to_an_agent_that_lives_is_left_alone() {
    let mut bench = Bench::in_memory().await;
    bench
        .write([
            Write::PutSession(session(1).into()),
            Write::PutSession(session(2).into()),
            Write::OpenRequest(request(1, 11).into()),
            Write::OpenRequest(request(2, 12).into()),
            Write::OpenRequest(request(1, 13).into()),
            Write::Decide(decision(13, Outcome::Allowed)),
        ])
        .await
        .unwrap();
    let living = [session_id(1)];
    let orphaned = bench
        .store
        .recover(UnixMillis(5), &living, |_| Vec::new())
        .await
        .unwrap();
    let ids: Vec<RequestId> = orphaned.iter().map(|request| request.id).collect();
    assert_eq!(ids, [request_id(12)]);
    let state = bench.store.session(session_id(1)).await.unwrap().unwrap();
    assert_eq!(state, session(1));
    let left = bench
        .store
        .unfinished_requests(session_id(1))
        .await
        .unwrap();
    let left: Vec<(RequestId, bool)> = left
        .iter()
        .map(|left| (left.request.id, left.decision.is_some()))
        .collect();
    assert_eq!(left, [(request_id(11), false), (request_id(13), true)]);
}

fn orphan_decision(number: u128) -> DecisionRow {
    DecisionRow {
        request_id: request_id(number),
        outcome: Outcome::Orphaned,
        decided_by: DecidedBy::Agent,
        client_id: None,
        client_label: None,
        decision: "null".to_owned(),
        message: Some("The agent was lost while this request was open.".to_owned()),
        at: UnixMillis(77_000),
        delivery: Delivery::None,
        delivered_at: None,
    }
}
