//! A request from its ask to its end, with nothing but the broker: `cargo bench -p sayso-broker --bench step`.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use sayso_broker::{
    Allowance, Ask, Broker, ClientId, ClientRef, Decision, Delivery, Effect, Event, Json, Kind,
    Mode, Policies, ReplyTo, RequestId, SessionId, SessionSpec, Timestamp,
};
use uuid::Uuid;

const SESSION: SessionId = SessionId(Uuid::from_u128(1));

fn ask(number: u128) -> Ask {
    let input = Json::new(r#"{"command":"cargo test --workspace","description":"Run the tests"}"#);
    Ask {
        id: RequestId(Uuid::from_u128(number)),
        native_id: Json::new(&format!("\"{number}\"")),
        kind: Kind::Tool,
        tool_name: "Bash".to_owned(),
        digest: "digest".to_owned(),
        input_faithful: true,
        can_edit: true,
        suggestions: 0,
        suppress_always_allow: false,
        requires_user_interaction: false,
        rules_may_allow: true,
        mode_effects: Arc::default(),
        choices: Arc::default(),
        tool_use_id: Some(format!("toolu_{number}")),
        detail: Json::new("{}"),
        raw: Some(input.clone()),
        input,
    }
}

/// A broker with a client and so many requests that are open.
struct World {
    broker: Broker,
    client: ClientRef,
    now: Timestamp,
    next: u128,
}

impl World {
    fn new(open: usize) -> Self {
        let now = Timestamp(1_000_000);
        let client = ClientRef {
            id: ClientId(Uuid::from_u128(2)),
            label: "browser".to_owned(),
        };
        let mut world = Self {
            broker: Broker::new(now),
            client,
            now,
            next: 100,
        };
        let id = world.client.id;
        let label = "browser".to_owned();
        world.handle(Event::ClientConnected { client: id, label });
        let spec = SessionSpec {
            mode: Mode::new("default"),
            policies: Policies::default(),
        };
        world.handle(Event::SessionStarted {
            session: SESSION,
            spec,
        });
        for _ in 0..open {
            world.open();
        }
        world
    }

    fn handle(&mut self, event: Event) -> Vec<Effect> {
        self.broker.handle(self.now, event)
    }

    /// What has to be written is written.
    fn recorded(&mut self, effects: &[Effect]) -> Vec<Effect> {
        let record = effects.iter().find_map(|effect| match effect {
            Effect::Record { record, .. } => Some(*record),
            _ => None,
        });
        record.map_or_else(Vec::new, |record| self.handle(Event::Recorded { record }))
    }

    fn open(&mut self) -> RequestId {
        self.next += 1;
        let ask = Box::new(ask(self.next));
        let request = ask.id;
        let effects = self.handle(Event::Asked {
            session: SESSION,
            ask,
            ruling: None,
        });
        self.recorded(&effects);
        request
    }

    fn allow(&mut self, request: RequestId) -> Vec<Effect> {
        let client = self.client.clone();
        let effects = self.handle(Event::Decided {
            request,
            client,
            digest: "digest".to_owned(),
            decision: Decision::Allow(Allowance::default()),
            reply: ReplyTo(1),
        });
        self.recorded(&effects);
        let delivery = Delivery::Sent;
        self.handle(Event::Delivered { request, delivery })
    }
}

fn step(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("asked, recorded, allowed, recorded, delivered");
    for open in [0, 50, 250] {
        let mut world = World::new(open);
        group.bench_function(BenchmarkId::new("others open", open), |bencher| {
            bencher.iter(|| {
                let request = world.open();
                black_box(world.allow(request))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, step);
criterion_main!(benches);
