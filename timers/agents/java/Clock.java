/** A timer method. Each has a class of its own, so that whoever knows the class knows the call. */
public abstract class Clock {
    /** The id by which requests name it. */
    final String id;
    /** The call itself. */
    final String label;
    /** What Kuperberg, Krogmann and Reussner (ICPE 2011, table 1) call it; null for those that came later. */
    final String legend;
    /** Nanoseconds in a tick. */
    final double nsPerTick;
    /** What its documentation says that it counts: "wall", "process-cpu" or "thread-cpu"; null for what reads nothing. */
    final String counts;

    Clock(String id, String label, String legend, double nsPerTick, String counts) {
        this.id = id;
        this.label = label;
        this.legend = legend;
        this.nsPerTick = nsPerTick;
        this.counts = counts;
    }

    /** Whether it counts for one thread only, so that the readings of two cannot be compared. */
    final boolean isPerThread() {
        return "thread-cpu".equals(counts);
    }

    /** Makes the call and returns what it says, in ticks. */
    public abstract long read();

    /** Makes the call and keeps what it returns, as it is. */
    public abstract void call();
}
