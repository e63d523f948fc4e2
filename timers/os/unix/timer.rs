//! Clocks of `clock_gettime` that one system alone has, as timers.

macro_rules! clocks {
    ($infos:path; $($name:ident, $info:ident, $clock:expr;)*) => {$(
        pub(crate) struct $name;

        impl $crate::Timer for $name {
            const INFO: $crate::Info = { use $infos as infos; infos::$info };
            type Reading = libc::timespec;

            fn declared_resolution() -> Option<f64> {
                $crate::os::unix::clocks::resolution($clock)
            }

            fn open() -> Result<Self, $crate::Unavailable> {
                use $crate::os::unix::portable::{Libc, try_clock};
                try_clock::<Libc>($clock, Self::INFO.label, "").map(|()| Self)
            }

            #[inline(always)]
            fn read(&self) -> libc::timespec {
                use $crate::os::unix::clocks::Route;
                let mut time = std::mem::MaybeUninit::uninit();
                $crate::os::unix::portable::Libc::clock_gettime($clock, &mut time);
                // SAFETY: `open` made the same call and it succeeded, so that it writes both fields.
                unsafe { time.assume_init() }
            }

            fn ticks(&self, time: libc::timespec) -> $crate::Ticks {
                $crate::Ticks(time.tv_sec.wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec) as u64)
            }
        }
    )*};
}
pub(crate) use clocks;
