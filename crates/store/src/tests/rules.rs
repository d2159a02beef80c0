//! Rules are kept as they are, and end with what they are about.

use pretty_assertions::assert_eq;

use super::*;

pub(super) fn rule(number: u128, session_id: Option<SessionId>) -> RuleRow {
    RuleRow {
        id: RuleId(Uuid::from_u128(number)),
        rule: "Bash(ls:*)".to_owned(),
        effect: "allow".to_owned(),
        session_id,
        project: Some("/srv/project".to_owned()),
        uses_left: Some(3),
        expires_at: Some(UnixMillis(9000)),
        reason: Some("Reads only.".to_owned()),
        matches: "[\"ls -l\"]".to_owned(),
        matches_not: "[]".to_owned(),
        enabled: true,
        created_at: UnixMillis(1),
        client_label: "Firefox on Linux".to_owned(),
        hits: 0,
        last_hit_at: None,
    }
}

#[tokio::test]
async fn a_rule_is_read_as_it_was_written_and_written_over() {
    let mut bench = Bench::in_memory().await;
    let used = RuleRow {
        uses_left: Some(2),
        hits: 1,
        last_hit_at: Some(UnixMillis(5)),
        ..rule(1, None)
    };
    bench
        .write([Write::PutRule(rule(1, None)), Write::PutRule(rule(2, None))])
        .await
        .unwrap();
    bench.write([Write::PutRule(used.clone())]).await.unwrap();
    assert_eq!(bench.store.rules().await.unwrap(), [used, rule(2, None)]);
    let gone = Write::RemoveRule(rule(2, None).id);
    bench.write([gone.clone(), gone]).await.unwrap();
    assert_eq!(bench.store.rules().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_use_is_counted_from_what_is_there_and_brings_no_rule_back() {
    let mut bench = Bench::in_memory().await;
    let without_limit = RuleRow {
        uses_left: None,
        ..rule(2, None)
    };
    bench
        .write([
            Write::PutRule(rule(1, None)),
            Write::PutRule(without_limit.clone()),
        ])
        .await
        .unwrap();
    for number in 1..=4 {
        for id in 1..=3 {
            let id = RuleId(Uuid::from_u128(id));
            let at = UnixMillis(number);
            bench.write([Write::UseRule { id, at }]).await.unwrap();
        }
    }
    let used = |rule: RuleRow| RuleRow {
        hits: 4,
        last_hit_at: Some(UnixMillis(4)),
        ..rule
    };
    let spent = RuleRow {
        uses_left: Some(0),
        ..used(rule(1, None))
    };
    assert_eq!(
        bench.store.rules().await.unwrap(),
        [spent, used(without_limit)]
    );
}

#[tokio::test]
async fn a_sessions_rules_go_with_it() {
    let mut bench = Bench::in_memory().await;
    let own = rule(1, Some(session(1).id));
    bench
        .write([
            Write::PutSession(session(1).into()),
            Write::PutRule(own),
            Write::PutRule(rule(2, None)),
            Write::DeleteSession(session(1).id),
        ])
        .await
        .unwrap();
    assert_eq!(bench.store.rules().await.unwrap(), [rule(2, None)]);
}
