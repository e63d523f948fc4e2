/** A timer method. Each has its own class, so that a compiler that knows the class also knows the call. */
public abstract class Clock {
    /** The id in requests. */
    final String id;
    /** The call itself. */
    final String label;
    /** The abbreviation of Kuperberg, Krogmann and Reussner (ICPE 2011, table 1); null if the table does not have the timer. */
    final String legend;
    /** Nanoseconds per tick. */
    final double nsPerTick;
    /** The documented kind of clock; null for the timer that reads nothing. */
    final Kind kind;

    /** A kind of clock with its declared properties. */
    enum Kind {
        /** Elapsed time since an arbitrary origin. On Linux NTP slews it, and it stops while the machine is suspended. */
        STEADY("system-clock", "wall", false, ",\"slewed\":true,\"runs_in_suspend\":false"),
        /** The date and time, which can be set. */
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

        /** The properties as members of a timer in the answer to `hello`. */
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

    /** Whether the timer counts for one thread only, so that readings of two threads cannot be compared. */
    final boolean isPerThread() {
        return kind == Kind.THREAD;
    }

    /** Makes the call and returns the reading in ticks. */
    public abstract long read();

    /** Makes the call and stores the unchanged result. */
    public abstract void call();
}
