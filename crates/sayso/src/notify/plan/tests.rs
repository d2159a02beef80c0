use std::collections::btree_map::Entry;

use pretty_assertions::assert_eq;
use proptest::prelude::*;
use sayso_protocol::QuietHours;

use super::*;

const PHONE: Uuid = Uuid::from_u128(1);
const NTFY: Uuid = Uuid::from_u128(2);
const DEVICE: Uuid = Uuid::from_u128(100);

fn lane(change: impl FnOnce(&mut ChannelSettings)) -> Lane {
    let mut settings = ChannelSettings::default();
    change(&mut settings);
    let quiet = settings
        .quiet_hours
        .as_ref()
        .map(|hours| Quiet::read(hours).unwrap());
    Lane {
        settings,
        quiet,
        device: None,
        withdraws: true,
    }
}

fn request(number: u128, opened_at: Millis, deadline: Option<Millis>) -> Subject {
    Subject {
        key: Key::Request(Uuid::from_u128(number)),
        kind: NotificationKind::Tool,
        opened_at,
        deadline,
        about: Arc::default(),
    }
}

fn plan(lanes: impl IntoIterator<Item = (Uuid, Lane)>) -> Plan {
    let mut plan = Plan::default();
    for (id, lane) in lanes {
        plan.put_channel(id, lane);
    }
    plan
}

/// What is sent at each moment that the plan itself asks for, when all of it arrives.
fn told_until(plan: &mut Plan, mut now: Millis, end: Millis) -> Vec<(Millis, u128, &'static str)> {
    let mut told = Vec::new();
    loop {
        for delivery in plan.next(now) {
            let word = match delivery.what {
                What::Announce(_) => "announce",
                What::Remind(_) => "remind",
                What::Withdraw(_) => "withdraw",
            };
            told.push((now, delivery.channel.as_u128(), word));
            plan.done(now, delivery.channel, Verdict::Delivered, 0);
        }
        match plan.wakeup(now) {
            Some(next) if next.max(now + 1) <= end => now = next.max(now + 1),
            _ => return told,
        }
    }
}

#[test]
fn what_nobody_answers_goes_to_the_next_channel_and_is_withdrawn_from_all() {
    let mut plan = plan([
        (PHONE, lane(|_| {})),
        (NTFY, lane(|settings| settings.after_seconds = 60)),
    ]);
    plan.open(request(1, 0, None));
    plan.open(request(2, 1_000, None));
    assert_eq!(
        told_until(&mut plan, 1_000, 30_000),
        [(1_000, 1, "announce"), (1_001, 1, "announce")]
    );
    plan.close(request(2, 0, None).key);
    assert_eq!(
        told_until(&mut plan, 30_000, 90_000),
        [(30_000, 1, "withdraw"), (60_000, 2, "announce")]
    );
    plan.close(request(1, 0, None).key);
    assert_eq!(
        told_until(&mut plan, 90_000, 200_000),
        [(90_000, 1, "withdraw"), (90_000, 2, "withdraw")]
    );
}

#[test]
fn a_reminder_comes_before_the_end_and_again_when_the_end_moves() {
    let mut plan = plan([(PHONE, lane(|settings| settings.remind_seconds = 60))]);
    plan.open(request(1, 0, Some(300_000)));
    assert_eq!(
        told_until(&mut plan, 0, 290_000),
        [(0, 1, "announce"), (240_000, 1, "remind")]
    );
    plan.open(request(1, 0, Some(600_000)));
    assert_eq!(
        told_until(&mut plan, 290_000, 900_000),
        [(540_000, 1, "remind")]
    );
    // Stopped clocks end nothing, and who hears of it late needs no second word.
    plan.open(request(2, 0, None));
    plan.open(request(3, 900_000, Some(930_000)));
    assert_eq!(
        told_until(&mut plan, 900_000, 2_000_000),
        [(900_000, 1, "announce"), (900_001, 1, "announce")]
    );
}

#[test]
fn nobody_is_told_who_looks_and_they_are_when_they_look_away() {
    let own = Lane {
        device: Some(DEVICE),
        ..lane(|_| {})
    };
    let away = lane(|settings| settings.only_when_away = true);
    let mut plan = plan([(PHONE, own), (NTFY, away)]);
    plan.set_looking(BTreeSet::from([DEVICE]), true);
    plan.open(request(1, 0, None));
    assert_eq!(told_until(&mut plan, 0, 10_000), []);
    assert_eq!(
        plan.wakeup(10_000),
        None,
        "nothing to wait for but the human"
    );
    // Somebody else looks: that is another device's human.
    plan.set_looking(BTreeSet::from([Uuid::from_u128(101)]), true);
    assert_eq!(
        told_until(&mut plan, 11_000, 12_000),
        [(11_000, 1, "announce")]
    );
    plan.set_looking(BTreeSet::new(), false);
    assert_eq!(
        told_until(&mut plan, 13_000, 14_000),
        [(13_000, 2, "announce")]
    );
}

#[test]
fn quiet_hours_hold_back_what_is_told_at_their_end_if_it_still_waits() {
    let quiet = lane(|settings| {
        settings.quiet_hours = Some(QuietHours {
            from: "00:00".to_owned(),
            until: "01:00".to_owned(),
            time_zone: "UTC".to_owned(),
        });
    });
    let mut plan = plan([(PHONE, quiet)]);
    plan.open(request(1, 0, None));
    plan.open(request(2, 0, None));
    assert_eq!(told_until(&mut plan, 1_000, 1_800_000), []);
    plan.close(request(2, 0, None).key);
    let told = told_until(&mut plan, 1_800_000, 4_000_000);
    assert_eq!(told, [(3_600_000, 1, "announce")]);
}

#[test]
fn kinds_that_are_not_wanted_are_not_told_and_a_channel_can_be_switched_off() {
    for change in [
        (|settings| settings.kinds = vec![NotificationKind::Plan]) as fn(&mut ChannelSettings),
        |settings| settings.enabled = false,
    ] {
        let mut plan = plan([(PHONE, lane(change))]);
        plan.open(request(1, 0, None));
        assert_eq!(told_until(&mut plan, 0, 100_000), []);
        assert_eq!(plan.wakeup(0), None);
    }
}

#[test]
fn a_server_that_fails_is_left_alone_for_longer_each_time_and_not_for_ever() {
    let mut plan = plan([(PHONE, lane(|_| {}))]);
    plan.open(request(1, 0, None));
    let mut now = 0;
    let mut waits = Vec::new();
    while plan.next(now).pop().is_some() {
        plan.done(now, PHONE, Verdict::Later(None), 999);
        let Some(next) = plan.wakeup(now) else {
            break;
        };
        waits.push((next - now) / 1000);
        now = next;
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128], "then it is given up");
    // It may have arrived, so it is withdrawn all the same.
    plan.close(request(1, 0, None).key);
    now += 300_000;
    assert_eq!(told_until(&mut plan, now, now), [(now, 1, "withdraw")]);
}

#[test]
fn waits_differ_by_chance_and_do_as_they_are_told() {
    assert_eq!(wait(1, None, 0), 1_000);
    assert_eq!(wait(1, None, 999), 2_000);
    assert_eq!(wait(40, None, 999), LONGEST_WAIT);
    assert_eq!(wait(1, Some(Duration::from_secs(30)), 0), 30_000);
    let longest = Duration::from_secs(u64::MAX);
    assert_eq!(wait(1, Some(longest), 0), LONGEST_RETRY_AFTER);
}

#[test]
fn what_is_refused_is_not_tried_again_and_holds_up_nothing() {
    let mut plan = plan([(PHONE, lane(|_| {}))]);
    plan.open(request(1, 0, None));
    plan.open(request(2, 0, None));
    assert_eq!(plan.next(0).len(), 1);
    plan.done(0, PHONE, Verdict::Refused, 0);
    assert_eq!(told_until(&mut plan, 0, 100_000), [(0, 1, "announce")]);
}

#[test]
fn tags_are_short_and_differ() {
    let id = Uuid::from_u128(7);
    let tags = [Key::Request(id), Key::Turn(id), Key::Trouble(id)].map(Key::tag);
    assert!(tags.iter().all(|tag| tag.len() == 32));
    assert_eq!(BTreeSet::from(tags).len(), 3);
}

#[derive(Clone, Debug)]
enum Step {
    Open(u128),
    Extend(u128),
    Close(u128),
    Look(bool),
    Send,
    Done(bool, u8),
    Wait(u16),
    Remove(bool),
    Put(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = 0_u128..4;
    let step = prop_oneof![
        3 => number.clone().prop_map(Step::Open),
        1 => number.clone().prop_map(Step::Extend),
        3 => number.prop_map(Step::Close),
        1 => any::<bool>().prop_map(Step::Look),
        4 => Just(Step::Send),
        4 => (any::<bool>(), 0_u8..3).prop_map(|(first, verdict)| Step::Done(first, verdict)),
        3 => any::<u16>().prop_map(Step::Wait),
        1 => any::<bool>().prop_map(Step::Remove),
        1 => any::<bool>().prop_map(Step::Put),
    ];
    proptest::collection::vec(step, 1..80)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens in whatever order: nothing that is closed is announced, nobody who looks is told, a channel
    /// has one thing to do at a time, what arrived once is not announced again, and what may be shown is withdrawn.
    #[test]
    fn in_every_order_of_things_only_what_waits_is_told(steps in steps()) {
        let own = || Lane { device: Some(DEVICE), ..lane(|settings| settings.remind_seconds = 20) };
        let other = || lane(|settings| settings.after_seconds = 10);
        let mut plan = plan([(PHONE, own()), (NTFY, other())]);
        let mut now = 0;
        // When each was opened, which tells it from one that has come up again.
        let mut open: BTreeMap<Key, Millis> = BTreeMap::new();
        let mut looking = false;
        let mut busy: BTreeMap<Uuid, What> = BTreeMap::new();
        let mut arrived: BTreeSet<(Uuid, Key)> = BTreeSet::new();
        let mut shown: BTreeSet<(Uuid, Key)> = BTreeSet::new();
        for step in steps {
            now += 1;
            match step {
                Step::Open(number) => {
                    let subject = request(number, now, Some(now + 60_000));
                    if let Entry::Vacant(vacant) = open.entry(subject.key) {
                        vacant.insert(now);
                        arrived.retain(|(_, key)| *key != subject.key);
                        plan.open(subject);
                    }
                }
                Step::Extend(number) => {
                    let subject = request(number, now, Some(now + 120_000));
                    if open.contains_key(&subject.key) {
                        plan.open(subject);
                    }
                }
                Step::Close(number) => {
                    let key = request(number, 0, None).key;
                    open.remove(&key);
                    plan.close(key);
                }
                Step::Look(looks) => {
                    looking = looks;
                    plan.set_looking(BTreeSet::from_iter(looks.then_some(DEVICE)), looks);
                }
                Step::Send => {
                    for delivery in plan.next(now) {
                        let pair = (delivery.channel, delivery.what.key());
                        match &delivery.what {
                            What::Announce(_) | What::Remind(_) => {
                                prop_assert!(open.contains_key(&pair.1));
                                prop_assert!(!(looking && delivery.channel == PHONE));
                                shown.insert(pair);
                            }
                            What::Withdraw(_) => { shown.remove(&pair); }
                        }
                        if let What::Announce(_) = delivery.what {
                            prop_assert!(!arrived.contains(&pair));
                        }
                        prop_assert!(busy.insert(delivery.channel, delivery.what).is_none());
                    }
                }
                Step::Done(first, verdict) => {
                    let channel = if first { PHONE } else { NTFY };
                    let verdict = [Verdict::Delivered, Verdict::Later(None), Verdict::Refused][usize::from(verdict)];
                    if let Some(what) = busy.remove(&channel) {
                        let told = match &what {
                            What::Announce(subject) | What::Remind(subject) => Some(subject.opened_at),
                            What::Withdraw(_) => None,
                        };
                        let current = open.get(&what.key()).copied();
                        if verdict == Verdict::Delivered && told.is_some() && told == current {
                            arrived.insert((channel, what.key()));
                        }
                        plan.done(now, channel, verdict, 500);
                    }
                }
                Step::Wait(time) => now += Millis::from(time),
                Step::Remove(first) => {
                    let channel = if first { PHONE } else { NTFY };
                    plan.remove_channel(channel);
                    busy.remove(&channel);
                    arrived.retain(|(id, _)| *id != channel);
                    shown.retain(|(id, _)| *id != channel);
                }
                Step::Put(first) => {
                    let (channel, lane) = if first { (PHONE, own()) } else { (NTFY, other()) };
                    plan.put_channel(channel, lane);
                }
            }
        }
        // In the end all is closed and everything works: nothing stays on a screen.
        for key in std::mem::take(&mut open).into_keys() {
            plan.close(key);
        }
        for (channel, _) in std::mem::take(&mut busy) {
            plan.done(now, channel, Verdict::Delivered, 0);
        }
        for _ in 0..1_000 {
            now += LONGEST_WAIT;
            for delivery in plan.next(now) {
                prop_assert!(matches!(delivery.what, What::Withdraw(_)));
                shown.remove(&(delivery.channel, delivery.what.key()));
                plan.done(now, delivery.channel, Verdict::Delivered, 0);
            }
        }
        prop_assert!(shown.is_empty(), "{shown:?}");
        prop_assert_eq!(plan.wakeup(now), None);
    }
}
