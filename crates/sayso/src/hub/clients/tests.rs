use proptest::prelude::*;
use uuid::Uuid;

use super::super::outbox::outbox;
use super::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Connect { everything: bool },
    Leave,
    StartOver,
    Attend,
    CatchUp,
    GoLive,
    Unsubscribe,
    ForgetSession,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        any::<bool>().prop_map(|everything| Step::Connect { everything }),
        Just(Step::Leave),
        Just(Step::StartOver),
        Just(Step::Attend),
        Just(Step::CatchUp),
        Just(Step::GoLive),
        Just(Step::Unsubscribe),
        Just(Step::ForgetSession),
    ]
}

fn take(clients: &mut Clients, step: Step, client: ClientId, session: SessionId) {
    match step {
        Step::Connect { everything } => {
            // A client has an id of its own, so it comes once.
            clients.remove(client);
            let interest = match everything {
                true => Interest::Everything,
                false => Interest::Attended(HashSet::new()),
            };
            let me = Me {
                device_id: None,
                name: String::new(),
                scopes: Vec::new(),
                password_set: false,
                proven_until: None,
            };
            clients.insert(client, me, outbox().0, interest);
        }
        Step::Leave => clients.remove(client),
        Step::StartOver => clients.start_over(client),
        Step::Attend => {
            clients.attend(client, session);
        }
        Step::CatchUp => clients.subscribe(client, session, Subscription::CatchingUp),
        Step::GoLive => clients.subscribe(client, session, Subscription::Live),
        Step::Unsubscribe => clients.unsubscribe(client, session),
        Step::ForgetSession => clients.forget_session(session),
    }
}

fn sorted(clients: impl Iterator<Item = ClientId>) -> Vec<Uuid> {
    let mut ids: Vec<Uuid> = clients.map(|client| client.0).collect();
    ids.sort_unstable();
    ids
}

proptest! {
    #[test]
    fn who_is_found_by_a_session_is_who_asked_for_it(
        steps in prop::collection::vec((step(), 0u128..4, 0u128..3), 0..60),
    ) {
        let mut clients = Clients::default();
        for (step, client, session) in steps {
            take(
                &mut clients,
                step,
                ClientId(Uuid::from_u128(client)),
                SessionId(Uuid::from_u128(session)),
            );
            for session in (0..3).map(|session| SessionId(Uuid::from_u128(session))) {
                let told = clients.clients.iter();
                let told = told.filter(|(_, client)| client.interest.covers(session));
                let told = sorted(told.map(|(id, _)| *id));
                prop_assert_eq!(sorted(clients.audience.told_of(session)), told);
                let live = |client: &Client| {
                    client.subscriptions.get(&session) == Some(&Subscription::Live)
                };
                let watching = clients.clients.iter().filter(|(_, client)| live(client));
                let watching = sorted(watching.map(|(id, _)| *id));
                prop_assert_eq!(sorted(clients.audience.watchers_of(session)), watching);
            }
        }
    }
}
