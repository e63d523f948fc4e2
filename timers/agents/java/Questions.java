/** The questions that are answered by hot loops. */
public interface Questions {
    /** For each element: reads the timer, does `work` units of work, reads the timer again, and stores the difference. */
    void intervals(long work, long[] differences);

    /** For each element: reads the reference, calls the timer `calls` times, reads the reference, and stores the difference. */
    void batches(long calls, long[] differences);

    /** Fills the array with successive readings. */
    void readings(long[] readings);

    /** For each three elements: stores readings of the reference, the timer and the reference, then does `work` units of work. */
    void comparisons(long work, long[] values);
}
