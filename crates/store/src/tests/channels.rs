//! Channels are kept with their last result, and a push subscription goes with its device.

use pretty_assertions::assert_eq;

use super::devices::device;
use super::*;

pub(super) fn channel(number: u128, device: Option<u128>) -> ChannelRow {
    ChannelRow {
        id: ChannelId(Uuid::from_u128(number)),
        kind: "web_push".to_owned(),
        device_id: device.map(|device| DeviceId(Uuid::from_u128(device))),
        name: "The phone".to_owned(),
        target: r#"{"auth":"kept"}"#.to_owned(),
        settings: "{}".to_owned(),
        created_at: UnixMillis(1),
        last_result: None,
    }
}

#[tokio::test]
async fn a_channel_is_read_as_it_was_written_and_keeps_its_last_result() {
    let mut bench = Bench::in_memory().await;
    let result = |number, result: &str| Write::SetChannelResult {
        id: ChannelId(Uuid::from_u128(number)),
        result: result.to_owned(),
    };
    let renamed = ChannelRow {
        name: "Renamed".to_owned(),
        ..channel(1, None)
    };
    let writes = [
        Write::PutChannel(channel(1, None)),
        Write::PutChannel(channel(2, None)),
        result(1, "sent"),
        result(3, "to nobody"),
        Write::PutChannel(renamed.clone()),
        Write::RemoveChannel(channel(2, None).id),
    ];
    bench.write(writes).await.unwrap();
    let expected = ChannelRow {
        last_result: Some("sent".to_owned()),
        ..renamed
    };
    assert_eq!(bench.store.channels().await.unwrap(), [expected]);
}

#[tokio::test]
async fn a_subscription_goes_with_its_device_and_needs_one() {
    let mut bench = Bench::in_memory().await;
    let stranger = bench.write([Write::PutChannel(channel(1, Some(1)))]).await;
    assert!(stranger.is_err());
    let writes = [
        Write::PutDevice(device(1)),
        Write::PutChannel(channel(1, Some(1))),
        Write::PutChannel(channel(2, None)),
        Write::RemoveDevice(device(1).id),
    ];
    bench.write(writes).await.unwrap();
    assert_eq!(bench.store.channels().await.unwrap(), [channel(2, None)]);
}

#[test]
fn the_target_of_a_channel_is_not_printed() {
    assert!(!format!("{:?}", channel(1, None)).contains("kept"));
}
