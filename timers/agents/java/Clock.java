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
    /** Whether it counts for one thread only. */
    final boolean perThread;

    Clock(String id, String label, String legend, double nsPerTick, boolean perThread) {
        this.id = id;
        this.label = label;
        this.legend = legend;
        this.nsPerTick = nsPerTick;
        this.perThread = perThread;
    }

    /** Makes the call and returns what it says, in ticks. */
    public abstract long read();

    /** Makes the call and keeps what it returns, as it is. */
    public abstract void call();
}
