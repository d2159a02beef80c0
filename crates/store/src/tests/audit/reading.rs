//! Pages of the history, and what a filter leaves of them.

use pretty_assertions::assert_eq;

use super::*;

fn row(at: i64, change: impl FnOnce(&mut AuditRecord)) -> Write {
    let mut record = AuditRecord {
        at: UnixMillis(at),
        kind: AuditKind::Decision,
        session_id: Some(session_id(1)),
        request_id: None,
        project: Some("/srv/project".to_owned()),
        tool_name: Some("Bash".to_owned()),
        outcome: "allowed".to_owned(),
        actor_kind: AuditActor::Human,
        actor_label: "phone".to_owned(),
        text: "cargo test".to_owned(),
        body: VERBATIM.to_owned(),
    };
    change(&mut record);
    Write::AppendAudit(record)
}

#[tokio::test]
async fn a_filter_leaves_what_fits_all_of_it() {
    let mut bench = Bench::in_memory().await;
    let rows = [
        row(10, |_| {}),
        row(20, |row| row.session_id = Some(session_id(2))),
        row(30, |row| row.project = Some("/srv/project/sub".to_owned())),
        row(40, |row| row.project = Some("/srv/projects".to_owned())),
        row(50, |row| row.project = Some("/srv/pro_ect".to_owned())),
        row(60, |row| row.tool_name = None),
        row(70, |row| row.outcome = "denied".to_owned()),
        row(80, |row| row.actor_kind = AuditActor::Rule),
        row(90, |row| {
            row.text = "Cargo\n100% TEST_of 'it' \\".to_owned()
        }),
        row(100, |row| row.kind = AuditKind::Alert),
        row(110, |row| row.request_id = Some(request_id(5))),
    ];
    bench.write(rows).await.unwrap();
    let text = |text: &str| Some(text.to_owned());
    let all = AuditFilter::default;
    let session = |number| AuditFilter {
        session_id: Some(session_id(number).to_string()),
        ..all()
    };
    let project = |path: &str| AuditFilter {
        project: text(path),
        ..all()
    };
    let search = |words: &str| AuditFilter {
        search: text(words),
        ..all()
    };
    let cases = [
        (all(), vec![11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
        (session(2), vec![2]),
        (session(3), vec![]),
        (project("/srv/project/sub"), vec![3]),
        (project("/srv/pro_ect"), vec![5]),
        (project("/srv/projects/"), vec![4]),
        (
            AuditFilter {
                tool_name: text("Bash"),
                until: Some(UnixMillis(30)),
                ..all()
            },
            vec![2, 1],
        ),
        (
            AuditFilter {
                outcome: text("denied"),
                ..all()
            },
            vec![7],
        ),
        (
            AuditFilter {
                actor_kind: text("rule"),
                ..all()
            },
            vec![8],
        ),
        (
            AuditFilter {
                kind: text("alert"),
                ..all()
            },
            vec![10],
        ),
        (
            AuditFilter {
                request_id: Some(request_id(5).to_string()),
                ..all()
            },
            vec![11],
        ),
        (
            AuditFilter {
                since: Some(UnixMillis(100)),
                ..all()
            },
            vec![11, 10],
        ),
        (search("test cargo 100%"), vec![9]),
        (search("t_o 'IT'"), vec![9]),
        (search("\\"), vec![9]),
        (search("c%o"), vec![]),
        (
            AuditFilter {
                since: Some(UnixMillis(70)),
                ..search("cargo")
            },
            vec![11, 10, 9, 8, 7],
        ),
    ];
    for (filter, expected) in cases {
        let page = bench.store.audit_page(&filter, AuditCursor::Newest, 100);
        let seqs: Vec<i64> = page.await.unwrap().iter().map(|row| row.seq).collect();
        assert_eq!(seqs, expected, "{filter:?}");
    }
    let first = bench.store.audit_entry(1).await.unwrap().unwrap();
    assert_eq!(
        (first.body.as_str(), first.actor_kind.as_str()),
        (VERBATIM, "human")
    );
    assert_eq!(bench.store.audit_entry(12).await.unwrap(), None);
}

#[tokio::test]
async fn pages_neither_skip_nor_repeat_and_stay_small() {
    let mut bench = Bench::in_memory().await;
    let large = |row: &mut AuditRecord| row.body = "x".repeat(400_000);
    let rows = (1..=50).map(|at| {
        row(at, |record| {
            if at % 7 == 0 {
                large(record)
            }
        })
    });
    bench.write(rows).await.unwrap();
    let filter = AuditFilter::default();
    let mut seqs = Vec::new();
    let mut cursor = AuditCursor::Newest;
    while let page = bench.store.audit_page(&filter, cursor, 20).await.unwrap()
        && let Some(last) = page.last()
    {
        let bytes: usize = page.iter().map(|row| row.body.len()).sum();
        assert!(page.len() <= 20 && bytes < 1_500_000, "{bytes}");
        cursor = AuditCursor::Before(last.seq);
        seqs.extend(page.iter().map(|row| row.seq));
    }
    assert_eq!(seqs, (1..=50).rev().collect::<Vec<_>>());
    let mut seqs = Vec::new();
    let mut after = 0;
    while let cursor = AuditCursor::After(after)
        && let page = bench.store.audit_page(&filter, cursor, 7).await.unwrap()
        && let Some(last) = page.last()
    {
        after = last.seq;
        seqs.extend(page.iter().map(|row| row.seq));
    }
    assert_eq!(seqs, (1..=50).collect::<Vec<_>>());
}
