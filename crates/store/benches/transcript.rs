//! A page of a transcript from the store: `cargo bench -p sayso-store --bench transcript`.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that fails has nothing to say"
)]

mod rows;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sayso_store::{EntryRow, SessionId, Store, UnixMillis, Write, WriteJob, Writer};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use uuid::Uuid;

const SESSION: SessionId = SessionId(Uuid::from_u128(7));
const PAGE: u32 = 200;

fn entry(seq: i64) -> EntryRow {
    EntryRow {
        session_id: SESSION,
        seq,
        at: UnixMillis(seq),
        body: format!(
            r#"{{"seq":{seq},"kind":"assistant_text","text":"{}"}}"#,
            "word ".repeat(80)
        ),
        line: Some(seq),
        part: Some(0),
    }
}

async fn filled(path: &std::path::Path, entries: i64) -> Store {
    let store = Store::open(path).await.unwrap();
    let (sender, mut completions) = mpsc::channel(4096);
    let writer = Writer::start(store.clone(), sender, 4096).unwrap();
    let mut writes = vec![Write::PutSession(rows::session(SESSION).into())];
    writes.extend((1..=entries).map(|seq| Write::AppendEntry(entry(seq))));
    writer.submit(WriteJob { token: 0, writes }).unwrap();
    completions.recv().await.unwrap().result.unwrap();
    drop(completions);
    writer.close().await;
    store
}

fn pages(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut group = criterion.benchmark_group("a page of 200 entries");
    for entries in [1_000, 10_000, 100_000] {
        let path = folder.path().join(format!("{entries}.db"));
        let store = runtime.block_on(filled(&path, entries));
        group.bench_function(BenchmarkId::new("the last of", entries), |bencher| {
            bencher.iter(|| {
                let page = store.entries_before(SESSION, entries + 1, PAGE);
                black_box(runtime.block_on(page).unwrap())
            });
        });
        group.bench_function(BenchmarkId::new("the middle of", entries), |bencher| {
            bencher.iter(|| {
                let page = store.entries(SESSION, entries / 2, PAGE);
                black_box(runtime.block_on(page).unwrap())
            });
        });
        runtime.block_on(store.close());
    }
    group.finish();
}

criterion_group!(benches, pages);
criterion_main!(benches);
