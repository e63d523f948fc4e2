//! The timers of [tokio], available if built with the feature `tokio`.
//!
//! What ticks: a timer wheel of the runtime, driven by `epoll_wait` on Linux. At what granularity:
//! requests are in nanoseconds and rounded up to milliseconds. Who may use them: any process.
//! Caveats: the runtime used here has one thread; other tasks of a runtime would delay its timers.
//! `interval` by default fires missed ticks immediately (`MissedTickBehavior::Burst`).
//!
//! [tokio]: https://docs.rs/tokio/latest/tokio/time/

use super::method::methods;

methods! { "all systems", all();
    this_build::Tokio, "tokio-sleep", "tokio::time::sleep()", WAITS_AND_ARMS;
    this_build::Tokio, "tokio-interval", "tokio::time::interval()", PERIODS;
}

#[cfg(not(feature = "tokio"))]
mod this_build {
    use crate::waits::method::WaitMethod;
    use crate::{Available, Unavailable};

    pub(super) enum Tokio {}

    impl WaitMethod for Tokio {
        fn open(_label: &'static str) -> Available<Self> {
            let why = Unavailable::because("built without the feature `tokio`");
            Err(why.remedy("build it with `--features tokio`"))
        }

        fn wait(&mut self, _nanoseconds: u64) {
            match *self {}
        }
    }
}

#[cfg(feature = "tokio")]
mod this_build {
    use std::pin::pin;
    use std::time::Duration;

    use tokio::runtime::{Builder, Runtime};
    use tokio::time::{Instant, Interval, interval_at, sleep};

    use crate::subject::Answer;
    use crate::waits::method::WaitMethod;
    use crate::{Available, Unavailable};

    /// A single-threaded runtime, and the interval if one is running.
    pub(super) struct Tokio {
        runtime: Runtime,
        interval: Option<Interval>,
    }

    impl WaitMethod for Tokio {
        fn open(_label: &'static str) -> Available<Self> {
            let built = Builder::new_current_thread().enable_all().build();
            let refused = |error| Unavailable::because(format!("tokio's runtime: {error}"));
            Ok(Self {
                runtime: built.map_err(refused)?,
                interval: None,
            })
        }

        fn wait(&mut self, nanoseconds: u64) {
            self.runtime
                .block_on(async { sleep(Duration::from_nanos(nanoseconds)).await });
        }

        /// Arms the timer by polling the sleep once, cancels the timer by dropping the sleep.
        fn arm_and_cancel(&mut self, nanoseconds: u64) {
            self.runtime.block_on(async {
                let mut ahead = pin!(sleep(Duration::from_nanos(nanoseconds)));
                std::future::poll_fn(|context| {
                    let _ = ahead.as_mut().poll(context);
                    std::task::Poll::Ready(())
                })
                .await;
            });
        }

        fn start(&mut self, period_ns: u64) -> Answer<()> {
            let _inside = self.runtime.enter();
            let period = Duration::from_nanos(period_ns);
            let first = Instant::now() + period;
            self.interval = Some(interval_at(first, period));
            Ok(())
        }

        fn tick(&mut self, _period_ns: u64) {
            if let Some(interval) = &mut self.interval {
                self.runtime.block_on(async { interval.tick().await });
            }
        }

        fn stop(&mut self) {
            self.interval = None;
        }
    }
}
