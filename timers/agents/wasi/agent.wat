;; Loops that read the clocks of WASI by `clock_time_get` and store the values in memory from address 1024 on, for the program that
;; runs them. The words in angle quotes are filled in from clocks.json. A call stores the time at address 0; a wait reads its
;; subscription (the clock and the length) at address 64.
(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_res_get" (func $clock_res_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 400)
  (global $state (mut i64) (i64.const 1))
  (global $kept (mut i64) (i64.const 0))

  (func (export "_initialize"))

  ;; Return the error number of reading a clock, and of reading its resolution, which is stored at address 0.
  (func (export "error") (param $id i32) (result i32)
    (call $clock_time_get (local.get $id) (i64.const 1) (i32.const 0)))
  (func (export "resolution") (param $id i32) (result i32)
    (call $clock_res_get (local.get $id) (i32.const 0)))

  ;; Does units of work, each of which needs the result of the previous one.
  (func $work (param $left i64)
    (local $state i64)
    (local.set $state (global.get $state))
    (block $done
      (loop $next
        (br_if $done (i64.eqz (local.get $left)))
        (local.set $state (i64.add (i64.mul (local.get $state) (i64.const 6364136223846793005)) (local.get $left)))
        (local.set $left (i64.sub (local.get $left) (i64.const 1)))
        (br $next)))
    (global.set $state (local.get $state)))

  ;; each clock:
  (func (export "read«n»") (result i64) «call»)
  (func (export "id«n»") (result i32) (i32.const «id-of-wasi»))
  (func (export "intervals«n»") (param $work i64) (param $count i32)
    (local $at i32) (local $start i64) (local $end i64)
    (local.set $at (i32.const 1024))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $start «call»)
        (call $work (local.get $work))
        (local.set $end «call»)
        (i64.store (local.get $at) (i64.sub (local.get $end) (local.get $start)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next))))
  (func (export "batches«n»") (param $calls i64) (param $count i32)
    (local $at i32) (local $left i64) (local $start i64) (local $end i64)
    (local.set $at (i32.const 1024))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $start «reference»)
        (local.set $left (local.get $calls))
        (block $called
          (loop $call
            (br_if $called (i64.eqz (local.get $left)))
            (global.set $kept «call»)
            (local.set $left (i64.sub (local.get $left) (i64.const 1)))
            (br $call)))
        (local.set $end «reference»)
        (i64.store (local.get $at) (i64.sub (local.get $end) (local.get $start)))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next))))
  (func (export "readings«n»") (param $count i32)
    (local $at i32)
    (local.set $at (i32.const 1024))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (i64.store (local.get $at) «call»)
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next))))
  (func (export "comparisons«n»") (param $work i64) (param $count i32)
    (local $at i32)
    (local.set $at (i32.const 1024))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $count)))
        (i64.store (local.get $at) «reference»)
        (i64.store offset=8 (local.get $at) «call»)
        (i64.store offset=16 (local.get $at) «reference»)
        (call $work (local.get $work))
        (local.set $at (i32.add (local.get $at) (i32.const 24)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $next))))
  ;; end each

  ;; each waiter:
  ;; Waits; stores the readings of the monotonic clock before and after the wait.
  (func (export "wait«n»") (param $ns i64)
    (local $before i64)
    (i32.store8 (i32.const 72) (i32.const 0))
    (i32.store (i32.const 80) (i32.const 1))
    (i64.store (i32.const 88) (local.get $ns))
    (i64.store (i32.const 96) (i64.const 1))
    (i32.store16 (i32.const 104) (i32.const 0))
    (drop (call $clock_time_get (i32.const 1) (i64.const 1) (i32.const 0)))
    (local.set $before (i64.load (i32.const 0)))
    «wait»
    (drop (call $clock_time_get (i32.const 1) (i64.const 1) (i32.const 0)))
    (i64.store (i32.const 1024) (local.get $before))
    (i64.store (i32.const 1032) (i64.load (i32.const 0))))
  ;; end each
)
