//! The ways to wait of Windows. Their calls stand in `os/windows/waits/`.
//!
//! What ticks: the timer interrupt, every 15.625 ms unless some program asks for more by `timeBeginPeriod`, since Windows 10 2004 for
//! itself alone; a high-resolution waitable timer has an interrupt of its own. At what granularity: milliseconds, as requests are told,
//! but for waitable timers and those of the thread pool, whose unit is 100 ns. Who may use them: any process; high-resolution timers
//! came with Windows 10 1803; Wine 8.0 takes the flag and makes a timer as any other. Caveats: a wait ends with a tick, and may so be shorter than what was asked for by a part
//! of one (`Sleep`); timer queues and `timeSetEvent` run a callback in another thread, which costs a switch.
//! Sources: [Sleep], [CreateWaitableTimerExW], [timeSetEvent], [timer queues], [thread pool].
//!
//! [Sleep]: https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-sleep
//! [CreateWaitableTimerExW]: https://learn.microsoft.com/windows/win32/api/synchapi/nf-synchapi-createwaitabletimerexw
//! [timeSetEvent]: https://learn.microsoft.com/previous-versions/dd757634(v=vs.85)
//! [timer queues]: https://learn.microsoft.com/windows/win32/sync/timer-queues
//! [thread pool]: https://learn.microsoft.com/windows/win32/api/threadpoolapiset/nf-threadpoolapiset-setthreadpooltimer

use super::method::known;

/// Windows has no timer slack; a thread-pool timer may be given a window of its own, and gets none here.
const EXACT: bool = false;
const MILLISECOND: u64 = 1_000_000;

known! {
    SLEEP, "sleep", "Sleep()", MILLISECOND, EXACT, LOOP;
    SLEEP_EX, "sleep-ex", "SleepEx()", MILLISECOND, EXACT, WAITS;
    WAIT_FOR_SINGLE_OBJECT, "wait-for-single-object", "WaitForSingleObject() with a timeout", MILLISECOND, EXACT, WAITS;
    SLEEP_CONDITION_VARIABLE, "sleep-condition-variable-srw", "SleepConditionVariableSRW()", MILLISECOND, EXACT, WAITS;
    WAITABLE_TIMER, "waitable-timer", "SetWaitableTimer()", 100, EXACT, ALL;
    WAITABLE_TIMER_HIGH, "waitable-timer-high-resolution", "CREATE_WAITABLE_TIMER_HIGH_RESOLUTION", 100, EXACT, ALL;
    TIME_SET_EVENT, "time-set-event", "timeSetEvent()", MILLISECOND, EXACT, LOOP;
    TIMER_QUEUE, "timer-queue-timer", "CreateTimerQueueTimer()", MILLISECOND, EXACT, ALL;
    THREADPOOL_TIMER, "threadpool-timer", "SetThreadpoolTimer()", 100, EXACT, ALL;
}
