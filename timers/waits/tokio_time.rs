//! The timers of [tokio], where this was built with it.
//!
//! What ticks: a wheel that the runtime turns, by `epoll_wait` on Linux. At what granularity:
//! requests are told in nanoseconds and kept in milliseconds, rounded up. Who may use them: any
//! process. Caveats: the runtime here is that of one thread; what else its tasks do makes timers
//! late. `interval` catches up with what it missed unless told otherwise
//! (`MissedTickBehavior::Burst`).
//!
//! [tokio]: https://docs.rs/tokio/latest/tokio/time/

use super::{Means, WaitEntry, WaitInfo};

const SLEEP: WaitInfo = WaitInfo {
    id: "tokio-sleep",
    label: "tokio::time::sleep()",
    means: Means::Blocks,
    unit_ns: 1,
    slack: true,
};
const INTERVAL: WaitInfo = WaitInfo {
    id: "tokio-interval",
    label: "tokio::time::interval()",
    ..SLEEP
};

pub(crate) use this_build::ALL;

#[cfg(not(feature = "tokio"))]
mod this_build {
    use super::{INTERVAL, SLEEP, WaitEntry, WaitInfo};
    use crate::Unavailable;
    use crate::waits::Answers;

    const TICKS: Answers = Answers {
        periods: true,
        ..Answers::NONE
    };
    pub(crate) const ALL: &[WaitEntry] = &[absent(SLEEP, Answers::ARMED), absent(INTERVAL, TICKS)];

    const fn absent(info: WaitInfo, answers: Answers) -> WaitEntry {
        WaitEntry {
            info,
            answers,
            availability: || Err(why()),
            open: || Err(why()),
        }
    }

    fn why() -> Unavailable {
        Unavailable::because("built without the feature `tokio`")
            .remedy("build it with `--features tokio`")
    }
}

#[cfg(feature = "tokio")]
mod this_build {
    use std::pin::pin;
    use std::time::Duration;

    use tokio::runtime::{Builder, Runtime};
    use tokio::time::{Instant, Interval, interval_at, sleep};

    use super::{INTERVAL, SLEEP, WaitEntry, WaitInfo};
    use crate::Unavailable;
    use crate::subject::Answer;
    use crate::waits::method::{Armed, Countdown, Method, Periodic};
    use crate::waits::observe::methods;

    pub(crate) const ALL: &[WaitEntry] = methods![Sleep: waits arms; Ticks: periods;];

    fn runtime() -> Result<Runtime, Unavailable> {
        let built = Builder::new_current_thread().enable_all().build();
        built.map_err(|error| Unavailable::because(format!("tokio's runtime: {error}")))
    }

    pub(crate) struct Sleep(Runtime);

    impl Method for Sleep {
        const INFO: WaitInfo = SLEEP;

        fn open() -> Result<Self, Unavailable> {
            runtime().map(Self)
        }
    }

    impl Countdown for Sleep {
        fn wait(&mut self, nanoseconds: u64) {
            self.0
                .block_on(async { sleep(Duration::from_nanos(nanoseconds)).await });
        }
    }

    impl Armed for Sleep {
        /// It is armed when it is polled, and cancelled when it is dropped.
        fn arm_and_cancel(&mut self, nanoseconds: u64) {
            self.0.block_on(async {
                let mut ahead = pin!(sleep(Duration::from_nanos(nanoseconds)));
                std::future::poll_fn(|context| {
                    let _ = ahead.as_mut().poll(context);
                    std::task::Poll::Ready(())
                })
                .await;
            });
        }
    }

    pub(crate) struct Ticks {
        runtime: Runtime,
        interval: Option<Interval>,
    }

    impl Method for Ticks {
        const INFO: WaitInfo = INTERVAL;

        fn open() -> Result<Self, Unavailable> {
            Ok(Self {
                runtime: runtime()?,
                interval: None,
            })
        }
    }

    impl Periodic for Ticks {
        fn start(&mut self, period_ns: u64) -> Answer<()> {
            let _inside = self.runtime.enter();
            let period = Duration::from_nanos(period_ns);
            #[allow(
                clippy::disallowed_methods,
                reason = "this crate is where clocks are read"
            )]
            let first = Instant::now() + period;
            self.interval = Some(interval_at(first, period));
            Ok(())
        }

        fn tick(&mut self) {
            if let Some(interval) = &mut self.interval {
                self.runtime.block_on(async { interval.tick().await });
            }
        }

        fn stop(&mut self) {
            self.interval = None;
        }
    }
}
