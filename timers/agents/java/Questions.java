/** The questions that need loops. */
public interface Questions {
    /** Read, work, read: the differences. */
    void intervals(long work, long[] differences);

    /** Read the reference, call the timer so many times, read the reference: the differences. */
    void batches(long calls, long[] differences);

    /** Successive readings. */
    void readings(long[] readings);

    /** As often as three values fit: read the reference, the timer, the reference; then work. */
    void comparisons(long work, long[] values);
}
