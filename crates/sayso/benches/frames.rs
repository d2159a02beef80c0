//! From an event to a frame in the queue of every viewer: `cargo bench -p sayso --bench frames`.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use sayso::hub::{Clients, Interest, outbox};
use sayso_broker::{ClientId, SessionId};
use sayso_protocol::{Delta, DeltaKind, Me, ServerMessage};
use uuid::Uuid;

const SESSION: SessionId = SessionId(Uuid::from_u128(7));

fn delta() -> ServerMessage {
    ServerMessage::Delta {
        session_id: SESSION.0,
        delta: Delta {
            message_id: "msg_01".to_owned(),
            index: 0,
            kind: DeltaKind::Text,
            text: "some text of it, ".to_owned(),
            restart: false,
        },
    }
}

fn frames(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("event to frame");
    for viewers in [1_u64, 20, 100, 1_000] {
        let mut clients = Clients::default();
        let mut queues = Vec::new();
        for _ in 0..viewers {
            let (outbox, queued) = outbox();
            let me = Me {
                device_id: None,
                name: "viewer".to_owned(),
                scopes: Vec::new(),
                password_set: false,
                proven_until: None,
            };
            clients.insert(ClientId(Uuid::new_v4()), me, outbox, Interest::Everything);
            queues.push(queued);
        }
        let message = delta();
        group.throughput(Throughput::Elements(viewers));
        group.bench_function(BenchmarkId::new("viewers", viewers), |bencher| {
            bencher.iter(|| {
                clients.broadcast_about(SESSION, black_box(&message));
                for queued in &mut queues {
                    black_box(queued.try_recv().is_ok());
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, frames);
criterion_main!(benches);
