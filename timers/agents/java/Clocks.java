import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/** The timer methods of the platform. A new one is a class here and a line in {@link #ALL}. */
final class Clocks {
    /** Opens a clock; the exception states the reason why the clock cannot be read. */
    interface Opener {
        Clock open() throws Exception;
    }

    /** The id of the clock that reads nothing, which shows the cost of the loops themselves. */
    static final String FLOOR = "null";
    /** The id of the clock that times the others. */
    static final String REFERENCE = "nanoTime";

    /**
     * The clocks by id. Each is opened at the first request, because loading the management classes takes as long as starting
     * the virtual machine.
     */
    static final Map<String, Opener> ALL = new LinkedHashMap<>();

    static {
        ALL.put(REFERENCE, new Opener() { public Clock open() { return new NanoTime(); } });
        ALL.put("currentTimeMillis", new Opener() { public Clock open() { return new Millis(); } });
        ALL.put("highResCounter", new Opener() { public Clock open() throws Exception { return perf(); } });
        ALL.put("getCurrentThreadCpuTime", new Opener() { public Clock open() { return new ThreadCpu(); } });
        ALL.put("getCurrentThreadUserTime", new Opener() { public Clock open() { return new ThreadUser(); } });
        ALL.put("getProcessCpuTime", new Opener() { public Clock open() { return new ProcessCpu(); } });
        ALL.put("Instant.now", new Opener() { public Clock open() { return new Now(); } });
        ALL.put("Clock.systemUTC", new Opener() { public Clock open() { return new Utc(); } });
        ALL.put(FLOOR, new Opener() { public Clock open() { return new Nothing(); } });
    }

    /*
     * The results of calls are stored here, so that the calls are not removed. A plain store is enough: the compiler may move
     * the store behind the loop, but not the call. A call of a native method is opaque to the compilers C1 and C2. C2 compiles
     * nanoTime and currentTimeMillis to calls of the runtime that depend on the control flow and not on inputs, so that it
     * neither merges, moves nor removes them (LibraryCallKit::inline_native_time_funcs). All other methods here end in one of
     * these calls. A volatile store would add a fence to each call.
     */
    static long kept;
    static Object keptObject;

    private Clocks() {}

    /** The class is in its own file, which is not compiled if the compiler does not know jdk.internal.perf. */
    private static Clock perf() throws Exception {
        try {
            return (Clock) Class.forName("HighResCounter").getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | LinkageError why) {
            throw new ClockUnavailable(
                "this JDK does not let jdk.internal.perf.Perf be used (" + why + ')',
                "probe with an OpenJDK, 11 or later, which has the package; a host started by hand needs --add-exports"
                    + " java.base/jdk.internal.perf=ALL-UNNAMED; the sun.misc.Perf of JDK 8 is not supported",
                why);
        }
    }

    static final class Nothing extends Clock {
        Nothing() { super(FLOOR, "reads nothing", null, Double.NaN, null); }
        @Override public long read() { return 0; }
        @Override public void call() {}
    }

    static final class NanoTime extends Clock {
        NanoTime() { super(REFERENCE, "System.nanoTime()", "NANO", 1, Kind.STEADY); }
        @Override public long read() { return System.nanoTime(); }
        @Override public void call() { kept = System.nanoTime(); }
    }

    static final class Millis extends Clock {
        Millis() { super("currentTimeMillis", "System.currentTimeMillis()", "CTM", 1e6, Kind.CALENDAR); }
        @Override public long read() { return System.currentTimeMillis(); }
        @Override public void call() { kept = System.currentTimeMillis(); }
    }

    static final class ThreadCpu extends Clock {
        private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

        ThreadCpu() {
            super("getCurrentThreadCpuTime", "ThreadMXBean.getCurrentThreadCpuTime()", "CTCT", 1, Kind.THREAD);
            enable(BEAN);
        }

        @Override public long read() { return BEAN.getCurrentThreadCpuTime(); }
        @Override public void call() { kept = BEAN.getCurrentThreadCpuTime(); }
    }

    static final class ThreadUser extends Clock {
        private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

        ThreadUser() {
            super("getCurrentThreadUserTime", "ThreadMXBean.getCurrentThreadUserTime()", "CTUT", 1, Kind.THREAD);
            enable(BEAN);
        }

        @Override public long read() { return BEAN.getCurrentThreadUserTime(); }
        @Override public void call() { kept = BEAN.getCurrentThreadUserTime(); }
    }

    private static void enable(ThreadMXBean bean) {
        if (!bean.isCurrentThreadCpuTimeSupported()) {
            throw new UnsupportedOperationException("this virtual machine does not report the CPU time of a thread");
        }
        bean.setThreadCpuTimeEnabled(true);
    }

    static final class ProcessCpu extends Clock {
        private static final com.sun.management.OperatingSystemMXBean BEAN =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

        ProcessCpu() {
            super("getProcessCpuTime", "OperatingSystemMXBean.getProcessCpuTime()", "PCT", 1, Kind.PROCESS);
            if (BEAN.getProcessCpuTime() < 0) {
                throw new UnsupportedOperationException("this platform does not report the CPU time of a process");
            }
        }

        @Override public long read() { return BEAN.getProcessCpuTime(); }
        @Override public void call() { kept = BEAN.getProcessCpuTime(); }
    }

    static final class Now extends Clock {
        Now() { super("Instant.now", "Instant.now()", null, 1, Kind.CALENDAR); }
        @Override public long read() { return ticks(Instant.now()); }
        @Override public void call() { keptObject = Instant.now(); }
    }

    static final class Utc extends Clock {
        private static final java.time.Clock CLOCK = java.time.Clock.systemUTC();

        Utc() { super("Clock.systemUTC", "Clock.systemUTC().instant()", null, 1, Kind.CALENDAR); }
        @Override public long read() { return ticks(CLOCK.instant()); }
        @Override public void call() { keptObject = CLOCK.instant(); }
    }

    private static long ticks(Instant instant) {
        return instant.getEpochSecond() * 1_000_000_000L + instant.getNano();
    }
}
