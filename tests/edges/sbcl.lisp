;;; Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
(defun show (id unit read)
  (format t "~A ~D~{ ~D~}~%" id unit (loop repeat 20000 collect (funcall read))))
(show "get-time-of-day" 1000 (lambda () (multiple-value-bind (s us) (sb-ext:get-time-of-day) (+ (* s 1000000) us))))
(show "clock-gettime" 1
      (lambda () (multiple-value-bind (s ns) (sb-unix::clock-gettime 1) (+ (* s 1000000000) ns))))
(let ((unit (/ 1000000000 internal-time-units-per-second)))
  (show "get-internal-real-time" unit #'get-internal-real-time)
  (show "get-internal-run-time" unit #'get-internal-run-time))
