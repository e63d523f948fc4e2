;;; The clocks of Common Lisp as SBCL has them, in words: each line of standard input is a question, each line of standard output its answer.
(declaim (optimize (speed 2) (safety 1) (debug 0)) (sb-ext:muffle-conditions warning sb-ext:compiler-note))

;; 1 is CLOCK_MONOTONIC, which SBCL has no public name for.
(declaim (inline monotonic time-of-day))
(defun monotonic ()
  (multiple-value-bind (s ns) (sb-unix::clock-gettime 1)
    (declare (type (unsigned-byte 31) s ns))
    (+ (* s 1000000000) ns)))
(defun time-of-day ()
  (multiple-value-bind (s us) (sb-ext:get-time-of-day) (+ (* s 1000000) us)))

(defvar *kept* 1)
(defvar *clocks* (make-array 64))
(defvar *waiters* (make-array 64))
(defun blank (count) (make-array count :initial-element 0))

(declaim (inline work))
(defun work (state units)
  (declare (type (unsigned-byte 32) state) (type (unsigned-byte 53) units))
  (loop repeat units do (setf state (logand (+ (* state 1664525) 1) #xffffffff)))
  state)

;; A function a question: a list of what it answers.
;; each clock:
(defun ticks-«n» (v) «ticks»)
(setf (svref *clocks* «n»)
      (list
       :intervals
       (lambda (units repeat)
         (declare (type (unsigned-byte 53) units) (type fixnum repeat))
         (let ((first (blank repeat)) (second (blank repeat)) (state 1))
           (declare (type (unsigned-byte 32) state) (type simple-vector first second))
           (dotimes (at repeat)
             (setf (svref first at) «call»)
             (setf state (work state units))
             (setf (svref second at) «call»))
           (setf *kept* state)
           (map 'list (lambda (start end) (- (ticks-«n» end) (ticks-«n» start))) first second)))
       :batches
       (lambda (calls repeat)
         (declare (type (unsigned-byte 53) calls) (type fixnum repeat))
         (let ((first (blank repeat)) (second (blank repeat)) (last 0))
           (declare (type simple-vector first second))
           (dotimes (at repeat)
             (setf (svref first at) (monotonic))
             (loop repeat calls do (setf last «call»))
             (setf (svref second at) (monotonic)))
           (setf *kept* last)
           (map 'list (lambda (start end) (- end start)) first second)))
       :readings
       (lambda (count)
         (declare (type fixnum count))
         (let ((first (blank count)))
           (declare (type simple-vector first))
           (dotimes (at count) (setf (svref first at) «call»))
           (map 'list #'ticks-«n» first)))
       :comparisons
       (lambda (units count)
         (declare (type (unsigned-byte 53) units) (type fixnum count))
         (let ((before (blank count)) (first (blank count)) (after (blank count)) (state 1))
           (declare (type (unsigned-byte 32) state) (type simple-vector before first after))
           (dotimes (at count)
             (setf (svref before at) (monotonic))
             (setf (svref first at) «call»)
             (setf (svref after at) (monotonic))
             (setf state (work state units)))
           (setf *kept* state)
           (loop for at below count
                 append (list (svref before at) (ticks-«n» (svref first at)) (svref after at)))))
       :read (lambda () (ticks-«n» «call»))))
;; end each
;; each waiter:
(setf (svref *waiters* «n») (lambda (ns) (declare (ignorable ns)) «wait»))
;; end each

(defun compute (ns)
  (loop with end = (+ (monotonic) ns) while (< (monotonic) end)))

;; Sleeps, but for the end, as sleeping ends late.
(defun pause (ns)
  (let ((end (+ (monotonic) ns)))
    (when (> ns 200000) (sleep (/ (- ns 200000) 1000000000)))
    (compute (- end (monotonic)))))

(defun advance (clock during ms)
  (let ((read (getf clock :read)))
    ;; The first reads of both find cold caches.
    (monotonic)
    (funcall read)
    (let ((start-reference (monotonic)) (start (funcall read)))
      (if (= during 0) (compute (* ms 1000000)) (sleep (/ ms 1000)))
      (let ((end-reference (monotonic)) (end (funcall read)))
        (list (- end start) (- end-reference start-reference))))))

(defun waits (wait late most repeat &rest lengths)
  (loop with told = '()
        for turn below (* repeat (length lengths))
        for ns = (nth (mod turn (length lengths)) lengths)
        do (when (> most 0) (pause (random most)))
           (let* ((cpu (get-internal-run-time))
                  (before (monotonic))
                  (after (progn (funcall wait ns) (monotonic)))
                  (used (* (- (get-internal-run-time) cpu) (/ 1000000000 internal-time-units-per-second))))
             (setf told (list* used after before told))
             (when (and (>= late 0) (> (- after before) (+ ns late))) (return (nreverse told))))
        finally (return (nreverse told))))

(defun periods (wait period count &rest stalls)
  (loop for at below count
        collect (progn (funcall wait period) (monotonic))
        do (when (member at stalls) (compute (floor (* period 7) 2)))))

(defun answer (op which amounts)
  (flet ((ask (question) (apply (getf (svref *clocks* which) question) amounts)))
    (cond ((string= op "intervals")
           (loop for units in (rest amounts)
                 append (funcall (getf (svref *clocks* which) :intervals) units (first amounts))))
          ((string= op "batches") (ask :batches))
          ((string= op "readings") (ask :readings))
          ((string= op "comparisons") (ask :comparisons))
          ((string= op "advance") (apply #'advance (svref *clocks* which) amounts))
          ((string= op "waits") (apply #'waits (svref *waiters* which) amounts))
          ((string= op "periods") (apply #'periods (svref *waiters* which) amounts))
          (t (error "this agent does not know that")))))

(defvar *collections* 0)
(push (lambda () (incf *collections*)) sb-ext:*after-gc-hooks*)

(defun words (line)
  (loop with from = 0
        for to = (position #\Space line :start from)
        for word = (string-trim '(#\Space #\Return) (subseq line from to))
        unless (string= word "") collect word
        while to do (setf from (1+ to))))

(defun serve (line)
  (destructuring-bind (op &rest words) (words line)
    (if (string= op "hello")
        (format t "SBCL~C~A~C~A=~D~%" #\Tab (lisp-implementation-version) #\Tab "get-internal-real-time"
                (/ 1000000000 internal-time-units-per-second))
        (let* ((amounts (mapcar #'parse-integer words))
               (before (progn (sb-ext:gc) *collections*))
               (told (answer op (first amounts) (rest amounts))))
          (format t "~{~D ~}~:[| gc~;~]~%" told (= before *collections*))))))

(defun main ()
  (setf (sb-ext:bytes-consed-between-gcs) (* 256 1024 1024) *random-state* (make-random-state t))
  (loop for line = (read-line *standard-input* nil)
        while line
        do (handler-case (serve line)
             (error (why) (format t "!~A~%" (substitute #\Space #\Newline (princ-to-string why)))))
           (finish-output)))
(main)
