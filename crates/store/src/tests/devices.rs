//! Devices are kept by their hash, and one that is gone stays gone.

use pretty_assertions::assert_eq;

use super::*;

pub(super) fn device(number: u128) -> DeviceRow {
    DeviceRow {
        id: DeviceId(Uuid::from_u128(number)),
        kind: "browser".to_owned(),
        name: "Firefox on Linux".to_owned(),
        secret_hash: number.to_be_bytes().to_vec(),
        scopes: "view answer".to_owned(),
        created_at: UnixMillis(1),
        last_seen_at: UnixMillis(1),
        expires_at: None,
        origin: None,
    }
}

#[tokio::test]
async fn a_device_is_read_as_it_was_written_and_written_over() {
    let mut bench = Bench::in_memory().await;
    let renamed = DeviceRow {
        name: "The phone".to_owned(),
        scopes: "view".to_owned(),
        expires_at: Some(UnixMillis(9)),
        ..device(1)
    };
    let extension = DeviceRow {
        kind: "extension".to_owned(),
        origin: Some("chrome-extension://abc".to_owned()),
        ..device(2)
    };
    for row in [device(1), extension.clone(), renamed.clone()] {
        bench.write([Write::PutDevice(row)]).await.unwrap();
    }
    assert_eq!(bench.store.devices().await.unwrap(), [renamed, extension]);
}

#[tokio::test]
async fn a_revoked_device_does_not_come_back_by_being_seen() {
    let mut bench = Bench::in_memory().await;
    let seen = |number| Write::DeviceSeen {
        id: DeviceId(Uuid::from_u128(number)),
        at: UnixMillis(5),
        expires_at: Some(UnixMillis(50)),
    };
    bench
        .write([Write::PutDevice(device(1)), Write::PutDevice(device(2))])
        .await
        .unwrap();
    bench
        .write([Write::RemoveDevice(device(1).id)])
        .await
        .unwrap();
    bench.write([seen(1), seen(2)]).await.unwrap();
    let left = DeviceRow {
        last_seen_at: UnixMillis(5),
        expires_at: Some(UnixMillis(50)),
        ..device(2)
    };
    assert_eq!(bench.store.devices().await.unwrap(), [left]);
}

#[tokio::test]
async fn there_is_one_password_or_none() {
    let mut bench = Bench::in_memory().await;
    for wanted in [None, Some("first"), Some("second"), None] {
        let wanted = wanted.map(str::to_owned);
        bench
            .write([Write::SetPassword(wanted.clone())])
            .await
            .unwrap();
        assert_eq!(bench.store.password().await.unwrap(), wanted);
    }
}

#[test]
fn the_hash_of_a_secret_is_not_printed() {
    let row = DeviceRow {
        secret_hash: vec![171; 32],
        ..device(1)
    };
    assert!(!format!("{row:?}").contains("171"));
}
