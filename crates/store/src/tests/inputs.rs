//! A large input is kept once, and whoever reads what holds it is told every byte of it.

use pretty_assertions::assert_eq;

use super::audit::{check, record};
use super::*;
use crate::audit::Finding;
use crate::group::write;
use crate::inputs::LARGE;
use crate::job::Queued;

const NOW: UnixMillis = UnixMillis(9_000_000);

/// Every third number has the same one. It begins like what stands around it, and holds what is no ASCII.
fn large_input(number: u128) -> String {
    format!(
        "{{\"a\":{{\"a\":\"{}ü{}\"}}}}",
        number / 3,
        "x😀".repeat(LARGE)
    )
}

/// A text with that input in it.
pub(super) fn holding(number: u128) -> String {
    format!(
        "{{\"ü\":{{\"a\":1,\"input\":{},\"b\":2}}",
        large_input(number)
    )
}

pub(super) fn large_request(session: u128, number: u128) -> RequestRow {
    RequestRow {
        input: large_input(number).into(),
        raw: holding(number).into(),
        ..request(session, number)
    }
}

/// As many uses as there are, of every input that is used, and nothing else.
pub(super) fn counts_are_right(store: &Store) {
    store.write_connection().with(|connection| {
        let rows = |select: &str| -> Vec<(Vec<u8>, i64)> {
            let mut statement = connection.prepare(select).unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
            rows.unwrap().map(Result::unwrap).collect()
        };
        let counted = rows("SELECT digest, uses FROM input_uses ORDER BY digest");
        let used = rows(
            "SELECT substr(cell, 1, 32), count(*) FROM (SELECT body AS cell FROM entries \
             UNION ALL SELECT input FROM requests UNION ALL SELECT body FROM audit) \
             WHERE typeof(cell) = 'blob' GROUP BY 1 ORDER BY 1",
        );
        assert_eq!(counted, used);
        let kept = "SELECT CAST(number AS BLOB), number FROM inputs ORDER BY number";
        let meant = "SELECT CAST(number AS BLOB), number FROM input_uses ORDER BY number";
        assert_eq!(rows(kept), rows(meant));
    });
}

fn about(number: u128) -> AuditRecord {
    AuditRecord {
        request_id: Some(request_id(number)),
        body: holding(number),
        ..record(number as u64)
    }
}

/// A request with all that belongs to it, of session 1.
fn written(number: u128) -> Vec<Write> {
    vec![
        Write::AppendEntry(EntryRow {
            body: holding(number),
            ..entry(1, number as i64)
        }),
        Write::OpenRequest(large_request(1, number).into()),
        Write::Decide(decision(number, Outcome::Allowed)),
        Write::AppendAudit(about(number)),
    ]
}

/// As one group that stands in the log.
fn group(store: &Store, seq: u64, writes: Vec<Write>) {
    let job = WriteJob { token: 0, writes };
    let written = write(store, Durability::Process, &[Queued::logged(job, seq, 1)]);
    assert_eq!(written, [Ok(())]);
}

/// How many inputs there are, and how many uses of them.
pub(super) fn kept(store: &Store) -> (i64, i64) {
    store.write_connection().with(|connection| {
        let kept =
            "SELECT count(*), COALESCE(sum(uses), 0) FROM inputs JOIN input_uses USING (number)";
        let kept = connection.query_row(kept, [], |row| Ok((row.get(0)?, row.get(1)?)));
        kept.unwrap()
    })
}

async fn reads_as_written(store: &Store, number: u128) {
    let entries = store.entries(session_id(1), 0, 100).await.unwrap();
    let before = store.entries_before(session_id(1), i64::MAX, 100).await;
    assert_eq!(before.unwrap(), entries);
    assert!(entries.iter().any(|entry| entry.body == holding(number)));
    let found = store.request(request_id(number)).await.unwrap().unwrap();
    let expected = ended(large_request(1, number), RequestStatus::Decided);
    assert_eq!(found.request, expected);
    let filter = AuditFilter {
        request_id: Some(request_id(number).to_string()),
        ..AuditFilter::default()
    };
    let page = store
        .audit_page(&filter, AuditCursor::Newest, 9)
        .await
        .unwrap();
    assert_eq!(page[0].body, holding(number));
    let alone = store.audit_entry(page[0].seq).await.unwrap();
    assert_eq!(alone.as_ref(), Some(&page[0]));
}

#[tokio::test]
async fn an_input_is_kept_once_and_read_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let store = Store::open(&path).await.unwrap();
    group(&store, 1, vec![Write::PutSession(session(1).into())]);
    group(&store, 2, written(3));
    assert_eq!(kept(&store), (1, 3));
    reads_as_written(&store, 3).await;
    // The same again in another request, and its record in a group of its own.
    let mut more = written(4);
    let late = more.pop().unwrap();
    group(&store, 3, more);
    group(&store, 4, vec![late]);
    assert_eq!(kept(&store), (1, 6));
    reads_as_written(&store, 4).await;
    group(&store, 5, written(6));
    assert_eq!(kept(&store), (2, 9));
    counts_are_right(&store);
    store.close().await;

    let copy = folder.path().join("copy.db");
    crate::backup(&path, &copy, Existing::Keep).await.unwrap();
    for path in [&path, &copy] {
        let store = Store::open(path).await.unwrap();
        for number in [3, 4, 6] {
            reads_as_written(&store, number).await;
        }
        store.close().await;
    }
}

#[tokio::test]
async fn an_input_goes_with_the_last_that_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    let mut bench = Bench::at(&path).await;
    bench
        .write([Write::PutSession(session(1).into())])
        .await
        .unwrap();
    group(&bench.store, 1, written(3));
    group(&bench.store, 2, vec![Write::AppendAudit(record(40))]);
    let delivered = Write::SetDelivery {
        request_id: request_id(3),
        delivery: Delivery::Sent,
        at: None,
    };
    bench.write([delivered]).await.unwrap();
    counts_are_right(&bench.store);
    let delete = [Write::DeleteSession(session_id(1))];
    bench.write(delete).await.unwrap();
    assert_eq!(kept(&bench.store), (1, 1), "the history holds it");
    counts_are_right(&bench.store);
    let all = bench.store.cut_audit(UnixMillis(i64::MAX), NOW).await;
    assert_eq!(all.unwrap().removed, 1);
    assert_eq!(kept(&bench.store), (0, 0));
    bench.close().await;
    assert_eq!(check(&path).await.unwrap().entries, 1);
}

#[tokio::test]
async fn whoever_changes_an_input_is_found_out() {
    for (spoilt, expected) in [
        ("UPDATE inputs SET text = replace(text, 'x', 'y')", true),
        ("DELETE FROM inputs", true),
        ("DELETE FROM input_uses", true),
        ("UPDATE input_uses SET uses = uses + 1", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sayso.db");
        let bench = Bench::at(&path).await;
        group(&bench.store, 1, vec![Write::PutSession(session(1).into())]);
        group(&bench.store, 2, written(3));
        assert_eq!(check(&path).await.unwrap().entries, 1);
        bench.spoil(spoilt);
        bench.close().await;
        let found = check(&path).await.map(drop);
        let finding = Finding::InputChanged { seq: 1 };
        assert_eq!(found.err(), expected.then_some(finding), "{spoilt}");
    }
    // A text in the place of the reference to it is no way around.
    for spoilt in [
        concat!("UPDATE audit SET body = ", crate::inputs::whole!("body")),
        "UPDATE audit SET body = CAST(body AS TEXT)",
        "UPDATE audit SET body = substr(body, 1, 20)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sayso.db");
        let bench = Bench::at(&path).await;
        group(&bench.store, 1, vec![Write::PutSession(session(1).into())]);
        group(&bench.store, 2, written(3));
        bench.spoil("DROP TRIGGER audit_is_never_changed");
        bench.spoil(spoilt);
        bench.close().await;
        let found = check(&path).await.map(drop).unwrap_err();
        assert_eq!(found.first_bad_entry(), Some(1), "{spoilt}: {found}");
    }
}

/// What looks like a reference is a text like any other.
#[tokio::test]
async fn what_an_agent_writes_is_never_taken_for_a_reference() {
    let store = Store::in_memory().await.unwrap();
    group(&store, 1, vec![Write::PutSession(session(1).into())]);
    group(&store, 2, written(3));
    let stored: Vec<u8> = store.write_connection().with(|connection| {
        let body = connection.query_row("SELECT body FROM entries", [], |row| row.get(0));
        body.unwrap()
    });
    let text: String = stored.iter().map(|byte| char::from(byte % 128)).collect();
    let row = EntryRow {
        body: text,
        ..entry(1, 9)
    };
    group(&store, 3, vec![Write::AppendEntry(row.clone())]);
    let entries = store.entries(session_id(1), 3, 9).await.unwrap();
    assert_eq!(entries, [row]);
}

/// Beginnings that occur again and again are given up on, and the text is kept as it is.
#[tokio::test]
async fn an_input_that_is_hard_to_find_is_kept_where_it_stands() {
    let store = Store::in_memory().await.unwrap();
    group(&store, 1, vec![Write::PutSession(session(1).into())]);
    let input = format!("{}1", "[".repeat(3 * LARGE));
    let body = format!("{}{input}", "[".repeat(LARGE));
    let asked = RequestRow {
        input: input.clone().into(),
        raw: body.clone().into(),
        ..request(1, 3)
    };
    let row = EntryRow {
        body,
        ..entry(1, 1)
    };
    let writes = vec![
        Write::AppendEntry(row.clone()),
        Write::OpenRequest(asked.clone().into()),
    ];
    group(&store, 2, writes);
    assert_eq!(store.entries(session_id(1), 0, 9).await.unwrap(), [row]);
    assert_eq!(store.open_requests().await.unwrap(), [asked]);
    counts_are_right(&store);
}
