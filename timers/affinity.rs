//! Which CPUs the calling thread may run on (sched_setaffinity(2)).
