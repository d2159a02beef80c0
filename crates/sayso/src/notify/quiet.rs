//! Hours in which nobody is told anything.

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use sayso_protocol::QuietHours;

#[derive(Clone, Debug)]
pub(super) struct Quiet {
    from: Time,
    until: Time,
    zone: TimeZone,
}

impl Quiet {
    /// `Err` names what cannot be read.
    pub(super) fn read(hours: &QuietHours) -> Result<Self, &'static str> {
        let time = |text: &str| Time::strptime("%H:%M", text);
        Ok(Self {
            from: time(&hours.from).map_err(|_| "from")?,
            until: time(&hours.until).map_err(|_| "until")?,
            zone: TimeZone::get(&hours.time_zone).map_err(|_| "time_zone")?,
        })
    }

    pub(super) fn covers(&self, now: Timestamp) -> bool {
        let time = now.to_zoned(self.zone.clone()).time();
        if self.from <= self.until {
            self.from <= time && time < self.until
        } else {
            self.from <= time || time < self.until
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet(from: &str, until: &str, time_zone: &str) -> Result<Quiet, &'static str> {
        Quiet::read(&QuietHours {
            from: from.to_owned(),
            until: until.to_owned(),
            time_zone: time_zone.to_owned(),
        })
    }

    #[test]
    fn hours_go_over_midnight_and_by_the_humans_clock() {
        for (from, until, zone, at, expected) in [
            ("22:00", "07:00", "UTC", "2026-11-16T23:30:00Z", true),
            ("22:00", "07:00", "UTC", "2026-11-16T06:59:59Z", true),
            ("22:00", "07:00", "UTC", "2026-11-16T07:00:00Z", false),
            ("12:00", "13:00", "UTC", "2026-11-16T12:30:00Z", true),
            ("12:00", "13:00", "UTC", "2026-11-16T13:00:00Z", false),
            ("12:00", "12:00", "UTC", "2026-11-16T12:00:00Z", false),
            (
                "22:00",
                "07:00",
                "Europe/Berlin",
                "2026-11-16T21:30:00Z",
                true,
            ),
            (
                "22:00",
                "07:00",
                "Europe/Berlin",
                "2026-07-16T20:30:00Z",
                true,
            ),
            (
                "22:00",
                "07:00",
                "Europe/Berlin",
                "2026-11-16T20:30:00Z",
                false,
            ),
        ] {
            let covers = quiet(from, until, zone)
                .unwrap()
                .covers(at.parse().unwrap());
            assert_eq!(covers, expected, "{from} {until} {zone} {at}");
        }
    }

    #[test]
    fn what_is_no_time_and_no_place_is_named() {
        for (from, until, zone, wrong) in [
            ("25:00", "07:00", "UTC", "from"),
            ("", "07:00", "UTC", "from"),
            ("22:00", "7", "UTC", "until"),
            ("22:00", "07:00", "Europe/Nowhere", "time_zone"),
        ] {
            assert_eq!(quiet(from, until, zone).err(), Some(wrong));
        }
    }
}
