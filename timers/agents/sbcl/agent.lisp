;;; Answers questions about the clocks of SBCL, a Common Lisp, in the agent protocol, version 1 (docs/agents.md). The words in angle
;;; quotes are filled in from clocks.json.
(declaim (optimize (speed 2) (safety 1) (debug 0)) (sb-ext:muffle-conditions warning sb-ext:compiler-note))

;; 1 is CLOCK_MONOTONIC, for which SBCL has no public name.
(declaim (inline monotonic time-of-day))
(defun monotonic ()
  (multiple-value-bind (s ns) (sb-unix::clock-gettime 1)
    (declare (type (unsigned-byte 31) s ns))
    (+ (* s 1000000000) ns)))
(defun time-of-day ()
  (multiple-value-bind (s us) (sb-ext:get-time-of-day) (+ (* s 1000000) us)))

(defvar *kept* 1)
(defvar *clocks* (make-hash-table :test #'equal))
(defvar *waiters* (make-hash-table :test #'equal))
(defun blank (count) (make-array count :initial-element 0))

(declaim (inline work))
(defun work (state units)
  (declare (type (unsigned-byte 32) state) (type (unsigned-byte 53) units))
  (loop repeat units do (setf state (logand (+ (* state 1664525) 1) #xffffffff)))
  state)

;; For each clock, one function per question, which returns the list of the values.
;; each clock:
(defun ticks-«n» (v) «ticks»)
(setf (gethash "«id»" *clocks*)
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
(setf (gethash "«id»" *waiters*) (lambda (ns) (declare (ignorable ns)) «wait»))
;; end each

(defun compute (ns)
  (loop with end = (+ (monotonic) ns) while (< (monotonic) end)))

;; Waits for a pause. Its end is computed, because sleeping ends late.
(defun pause (ns)
  (let ((end (+ (monotonic) ns)))
    (when (> ns 200000) (sleep (/ (- ns 200000) 1000000000)))
    (compute (- end (monotonic)))))

(defun advance (clock during ms)
  (let ((read (getf clock :read)))
    ;; The first read of each clock is dropped, because it finds cold caches.
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
             (setf told (list* -1 used after before (mod turn (length lengths)) told))
             (when (and (>= late 0) (> (- after before) (+ ns late))) (return (nreverse told))))
        finally (return (nreverse told))))

(defun periods (wait period count &rest stalls)
  (loop for at below count
        append (progn (funcall wait period) (list (monotonic) 1))
        do (when (member at stalls) (compute (floor (* period 7) 2)))))

(defun answer (op id amounts)
  (flet ((ask (question &optional (amounts amounts)) (apply (getf (gethash id *clocks*) question) amounts)))
    (cond ((string= op "intervals")
           (loop for units in (rest amounts)
                 append (funcall (getf (gethash id *clocks*) :intervals) units (first amounts))))
          ((string= op "batches") (ask :batches))
          ((string= op "readings") (ask :readings))
          ((string= op "comparisons")
           (destructuring-bind (units count repeat) amounts (ask :comparisons (list units (* count repeat)))))
          ((string= op "advance") (apply #'advance (gethash id *clocks*) amounts))
          ((string= op "waits") (apply #'waits (gethash id *waiters*) amounts))
          ((string= op "periods") (apply #'periods (gethash id *waiters*) amounts))
          (t (error "this agent does not know the question")))))

(defvar *collections* 0)
(push (lambda () (incf *collections*)) sb-ext:*after-gc-hooks*)

;; The keys and values of a line of JSON.
(defun words (line)
  (loop for at = (search "\":" line) while at do (setf line (replace (copy-seq line) "  " :start1 at)))
  (loop with from = 0
        for to = (position-if (lambda (c) (find c "{}[]\", ")) line :start from)
        for word = (subseq line from to)
        unless (string= word "") collect word
        while to do (setf from (1+ to))))

;; The numbers among the words of a question, after the id of its timer; `spin` and `sleep` become 0 and 1.
(defun amounts (words)
  (let ((timed-by (member "reference" words :test #'string=)))
    (when (and timed-by (string/= (second timed-by) "clock-gettime")) (error "this agent has one reference only")))
  (loop for word in words
        when (string= word "other-spin") do (error "this agent has no second thread")
        when (string= word "spin") collect 0
        when (string= word "sleep") collect 1
        when (or (digit-char-p (char word 0)) (char= (char word 0) #\-)) collect (parse-integer word)))

(defun reply (line)
  (destructuring-bind (&optional first op key id &rest rest) (words line)
    (declare (ignore first key))
    (cond ((null op) (error "this agent does not know the question"))
          ((string= op "hello")
           (format t "{\"protocol\":1,\"ops\":[],\"runtime\":{\"name\":\"SBCL\",\"version\":\"~A\"},\"timers\":[{\"id\":\"~A\",\"resolution_ns\":~D}]}~%"
                   (lisp-implementation-version) "get-internal-real-time" (/ 1000000000 internal-time-units-per-second)))
          (t (let* ((amounts (amounts rest))
                    (before (progn (sb-ext:gc) *collections*))
                    (values (answer op id amounts)))
               (format t "{\"values\":[~{~D~^,~}]~:[,\"disturbed\":[\"gc\"]~;~]}~%" values (= before *collections*)))))))

(defun main ()
  (setf (sb-ext:bytes-consed-between-gcs) (* 256 1024 1024) *random-state* (make-random-state t))
  (loop for line = (read-line *standard-input* nil)
        while line
        do (handler-case (reply line)
             (error (why)
               (format t "{\"error\":\"~A\"}~%" (substitute-if #\Space (lambda (c) (find c '(#\Newline #\" #\\))) (princ-to-string why)))))
           (finish-output)))
(main)
