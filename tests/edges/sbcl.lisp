;;; Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
(let ((all (loop repeat 20000 collect (multiple-value-bind (s us) (sb-ext:get-time-of-day) (+ (* s 1000000) us)))))
  (format t "get-time-of-day 1000~{ ~D~}~%" all))
