use super::*;

struct World {
    pairings: Pairings,
    secret: Fresh,
    id: Uuid,
    start: Instant,
}

impl World {
    fn with(confirmation: Confirmation) -> Self {
        let (mut pairings, start) = (Pairings::default(), Instant::now());
        let secret = Fresh::make().unwrap();
        let scopes = Scopes::all();
        let id = pairings
            .add(&secret, scopes, confirmation, start + LINK_LASTS, start)
            .unwrap();
        Self {
            pairings,
            secret,
            id,
            start,
        }
    }

    fn show_at(&mut self, ticket: Option<&Fresh>, at: Instant) -> Shown {
        let claim = || Claim {
            name: "Safari on iPhone".to_owned(),
            address: "127.0.0.1".to_owned(),
            code: "123456".to_owned(),
        };
        let secret = self.secret.expose().to_owned();
        let fresh = Fresh::make().unwrap();
        let ticket = ticket.map(Fresh::expose);
        self.pairings.show(&secret, ticket, fresh, claim, at)
    }

    fn show(&mut self, ticket: Option<&Fresh>) -> Shown {
        self.show_at(ticket, self.start)
    }

    fn claim(&mut self) -> Fresh {
        match self.show(None) {
            Shown::Waiting {
                ticket: Some(ticket),
                ..
            } => ticket,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_link_from_the_terminal_is_good_once() {
    let mut world = World::with(Confirmation::NotNeeded);
    assert!(matches!(world.show(None), Shown::In { name: None, .. }));
    assert!(matches!(world.show(None), Shown::Over));
}

#[test]
fn a_link_is_good_for_its_time() {
    for confirmation in [Confirmation::NotNeeded, Confirmation::Needed] {
        let mut world = World::with(confirmation);
        let late = world.start + LINK_LASTS;
        assert!(matches!(world.show_at(None, late), Shown::Over));
        assert!(matches!(world.show(None), Shown::Unknown));
    }
}

#[test]
fn the_first_device_waits_and_no_other_takes_its_place() {
    let mut world = World::with(Confirmation::Needed);
    let ticket = world.claim();
    assert!(matches!(world.show(None), Shown::Over));
    let other = Fresh::make().unwrap();
    assert!(matches!(world.show(Some(&other)), Shown::Over));
    assert!(matches!(
        world.show(Some(&ticket)),
        Shown::Waiting { ticket: None, .. }
    ));
    let scopes = Scopes::of(&[]);
    let named = "The phone".to_owned();
    world
        .pairings
        .confirm(world.id, "123456", named.clone(), scopes, world.start)
        .unwrap();
    assert!(matches!(world.show(None), Shown::Over));
    match world.show(Some(&ticket)) {
        Shown::In {
            name: Some(name),
            scopes: given,
        } => assert_eq!((name, given), (named, scopes)),
        other => panic!("{other:?}"),
    }
    assert!(matches!(world.show(Some(&ticket)), Shown::Over));
    let again = world.pairings.refuse(world.id, world.start);
    assert_eq!(again, Err(PairingError::Unknown), "it is in");
}

#[test]
fn only_what_waits_is_confirmed_and_only_by_its_code() {
    let mut world = World::with(Confirmation::Needed);
    let confirm = |world: &mut World, code: &str, at: Instant| {
        let (id, scopes) = (world.id, Scopes::all());
        world.pairings.confirm(id, code, String::new(), scopes, at)
    };
    let start = world.start;
    assert_eq!(
        confirm(&mut world, "123456", start),
        Err(PairingError::Unused)
    );
    world.claim();
    assert_eq!(
        confirm(&mut world, "654321", start),
        Err(PairingError::OtherCode)
    );
    let late = start + LINK_LASTS;
    assert_eq!(
        confirm(&mut world, "123456", late),
        Err(PairingError::Unknown)
    );
}

#[test]
fn a_refused_device_hears_it_and_stays_out() {
    let mut world = World::with(Confirmation::Needed);
    let ticket = world.claim();
    world.pairings.refuse(world.id, world.start).unwrap();
    let again = world.pairings.confirm(
        world.id,
        "123456",
        String::new(),
        Scopes::all(),
        world.start,
    );
    assert_eq!(again, Err(PairingError::Unknown));
    assert!(matches!(world.show(Some(&ticket)), Shown::Refused));
    assert!(matches!(world.show(None), Shown::Over));
}

#[test]
fn a_link_that_nobody_used_can_be_taken_back() {
    let mut world = World::with(Confirmation::Needed);
    assert_eq!(world.pairings.waiting(world.start).count(), 1);
    world.pairings.refuse(world.id, world.start).unwrap();
    assert_eq!(world.pairings.waiting(world.start).count(), 0);
    assert!(matches!(world.show(None), Shown::Unknown));
}

#[test]
fn open_links_are_bounded() {
    let mut pairings = Pairings::default();
    let now = Instant::now();
    let mut add = |now: Instant| {
        let secret = Fresh::make().unwrap();
        let scopes = Scopes::all();
        pairings.add(&secret, scopes, Confirmation::Needed, now + LINK_LASTS, now)
    };
    for _ in 0..MAXIMUM_OPEN {
        add(now).unwrap();
    }
    assert_eq!(add(now), Err(PairingError::TooMany));
    assert!(add(now + LINK_LASTS).is_ok());
}
