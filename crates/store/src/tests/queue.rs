//! Messages that wait for an agent.

use super::*;

pub(super) fn queued(session: u128, number: u128, content: &str) -> QueuedRow {
    QueuedRow {
        message_id: MessageId(Uuid::from_u128(number)),
        session_id: session_id(session),
        at: UnixMillis(6_000),
        content: content.to_owned(),
    }
}

#[tokio::test]
async fn queued_messages_keep_their_order_until_they_are_read() {
    let mut bench = Bench::in_memory().await;
    let (first, second) = (queued(1, 9, "first"), queued(1, 3, "second"));
    let other = queued(2, 5, "other");
    bench
        .write([
            Write::PutSession(session(1).into()),
            Write::PutSession(session(2).into()),
            Write::PutQueued(first.clone()),
            Write::PutQueued(other.clone()),
            Write::PutQueued(second.clone()),
        ])
        .await
        .unwrap();
    let edited = queued(1, 9, "first, edited");
    bench
        .write([Write::PutQueued(edited.clone())])
        .await
        .unwrap();
    let all = bench.store.queued_messages().await.unwrap();
    assert_eq!(all, [edited, other.clone(), second.clone()]);

    let read = Write::RemoveQueued(first.message_id);
    let again = Write::RemoveQueued(first.message_id);
    bench
        .write([Write::AppendEntry(entry(1, 1)), read, again])
        .await
        .unwrap();
    bench
        .write([Write::DeleteSession(session_id(2))])
        .await
        .unwrap();
    assert_eq!(bench.store.queued_messages().await.unwrap(), [second]);
}

#[tokio::test]
async fn a_message_needs_its_session() {
    let mut bench = Bench::in_memory().await;
    let refused = bench.write([Write::PutQueued(queued(7, 1, ""))]).await;
    assert!(matches!(refused, Err(WriteError::UnknownSession(id)) if id == session_id(7)));
}
