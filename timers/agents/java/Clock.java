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
    /** What its documentation says that it is; null for what reads nothing. */
    final Kind kind;

    /** What clocks are. */
    enum Kind {
        /** Wall time since some moment. Linux slews it, and stops it while the machine sleeps. */
        STEADY("system-clock", "wall", false, ",\"slewed\":true,\"runs_in_suspend\":false"),
        /** Wall time of the calendar, which is set. */
        CALENDAR("system-clock", "wall", true, ",\"slewed\":true,\"runs_in_suspend\":true"),
        /** CPU time of the process. */
        PROCESS("cpu-time", "process-cpu", false, OF_CPU_TIME),
        /** CPU time of the calling thread. */
        THREAD("cpu-time", "thread-cpu", false, OF_CPU_TIME);

        private final String declared;

        Kind(String family, String counts, boolean settable, String onLinux) {
            boolean linux = System.getProperty("os.name", "").equals("Linux");
            declared = ",\"family\":\"" + family + "\",\"counts\":\"" + counts + "\",\"settable\":" + settable
                + ",\"needs_fence\":false" + (linux ? onLinux : "");
        }

        /** As members of a timer in the answer to hello. */
        String declared() {
            return declared;
        }
    }

    private static final String OF_CPU_TIME = ",\"slewed\":false,\"runs_in_suspend\":false,\"reads_by\":\"system-call\"";

    Clock(String id, String label, String legend, double nsPerTick, Kind kind) {
        this.id = id;
        this.label = label;
        this.legend = legend;
        this.nsPerTick = nsPerTick;
        this.kind = kind;
    }

    /** Whether it counts for one thread only, so that the readings of two cannot be compared. */
    final boolean isPerThread() {
        return kind == Kind.THREAD;
    }

    /** Makes the call and returns what it says, in ticks. */
    public abstract long read();

    /** Makes the call and keeps what it returns, as it is. */
    public abstract void call();
}
