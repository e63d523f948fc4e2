;; Reads clocks, by a loop that is independent of the agent: 20 000 readings of the monotonic clock, then as many of the calendar.
(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $time (param i32 i64 i32) (result i32)))
  (memory (export "memory") 8)
  (func (export "_initialize"))
  (func $of (param $clock i32) (param $at i32) (param $end i32)
    (loop $next
      (drop (call $time (local.get $clock) (i64.const 0) (local.get $at)))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (local.get $end)))))
  (func (export "run")
    (call $of (i32.const 1) (i32.const 0) (i32.const 160000))
    (call $of (i32.const 0) (i32.const 160000) (i32.const 320000))))
