import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.locks.LockSupport;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

/** A sleep primitive or a periodic timer. A new one is a line in {@link #ALL}. */
abstract class Waiter {
    private static final long MS = 1_000_000;

    /** The id of the entry that does not wait, which shows the overhead of the measuring loop. */
    static final String FLOOR = "nothing";

    /** The entries by id. */
    static final Map<String, Waiter> ALL = new LinkedHashMap<>();

    static {
        add(new Blocking("Thread.sleep", "Thread.sleep(ms)", MS, ns -> Thread.sleep(ns / MS + (ns % MS == 0 ? 0 : 1))));
        add(new Blocking("Thread.sleep-ns", "Thread.sleep(ms, ns)", 1, ns -> Thread.sleep(ns / MS, (int) (ns % MS))));
        add(new Blocking("parkNanos", "LockSupport.parkNanos(ns)", 1, ns -> LockSupport.parkNanos(ns)));
        add(new Scheduled());
        add(new Blocking(FLOOR, "does not wait", 1, ns -> {}));
        add(new Repeated("scheduleAtFixedRate", (ns, tick) -> Pool.POOL.scheduleAtFixedRate(tick, ns, ns, NANOSECONDS)));
        add(new Repeated("scheduleWithFixedDelay", (ns, tick) -> Pool.POOL.scheduleWithFixedDelay(tick, ns, ns, NANOSECONDS)));
    }

    final String id;
    /** The call itself. */
    final String label;
    /** The unit of requests, in nanoseconds. */
    final long unit;
    /** The questions that the entry answers, as a list of JSON. */
    final String ops;

    Waiter(String id, String label, long unit, String ops) {
        this.id = id;
        this.label = label;
        this.unit = unit;
        this.ops = ops;
    }

    /** The entry in the answer to `hello`. */
    final String declared() {
        return "{\"id\":" + Json.quoted(id) + ",\"label\":" + Json.quoted(label) + ",\"ops\":" + ops + ",\"means\":\"blocks\",\"unit_ns\":"
            + unit + "}";
    }

    private static void add(Waiter waiter) {
        ALL.put(waiter.id, waiter);
    }

    /** Calls `done` when the given number of nanoseconds has passed, perhaps on another thread. */
    void after(long ns, Runnable done) throws InterruptedException {
        throw refusal("waits");
    }

    /** Calls `tick` every `ns` nanoseconds. */
    Future<?> every(long ns, Runnable tick) {
        throw refusal("periods");
    }

    /** Whether expirations are due one period after the one before, however late that was. */
    boolean hasDueTimes() {
        return id.equals("scheduleAtFixedRate");
    }

    /** The CPU time in nanoseconds of the threads that take part; negative if not reported. */
    long cpu() {
        return Cpu.KNOWN ? Cpu.BEAN.getCurrentThreadCpuTime() : -1;
    }

    private IllegalArgumentException refusal(String op) {
        return new IllegalArgumentException(label + " does not support `" + op + '`');
    }

    /** In its own class, because the management classes take long to load. */
    private static final class Cpu {
        static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
        static final boolean KNOWN = BEAN.isThreadCpuTimeSupported() && BEAN.isThreadCpuTimeEnabled();
    }

    /** Blocks the calling thread for the given number of nanoseconds. */
    interface Wait {
        void block(long ns) throws InterruptedException;
    }

    private static final class Blocking extends Waiter {
        private final Wait wait;

        Blocking(String id, String label, long unit, Wait wait) {
            super(id, label, unit, "[\"waits\"]");
            this.wait = wait;
        }

        @Override void after(long ns, Runnable done) throws InterruptedException {
            wait.block(ns);
            done.run();
        }
    }

    /** An executor with one thread, which does not keep the process alive and is started before the first task. */
    private static final class Pool {
        static final Thread ASKING = Thread.currentThread();
        static Thread working;
        static final ScheduledThreadPoolExecutor POOL = new ScheduledThreadPoolExecutor(1, task -> {
            working = new Thread(task);
            working.setDaemon(true);
            return working;
        });

        static {
            POOL.prestartCoreThread();
        }
    }

    private static final class Scheduled extends Waiter {
        Scheduled() {
            super("schedule", "ScheduledThreadPoolExecutor.schedule()", 1, "[\"waits\"]");
        }

        @Override void after(long ns, Runnable done) {
            Pool.POOL.schedule(done, ns, NANOSECONDS);
        }

        /** The sum for both threads, because the CPU time of the process is reported in ticks of 10 ms. */
        @Override long cpu() {
            return Cpu.KNOWN ? Cpu.BEAN.getThreadCpuTime(Pool.ASKING.getId()) + Cpu.BEAN.getThreadCpuTime(Pool.working.getId()) : -1;
        }
    }

    /** Schedules a task every `ns` nanoseconds. */
    interface Repetition {
        Future<?> every(long ns, Runnable tick);
    }

    private static final class Repeated extends Waiter {
        private final Repetition repetition;

        Repeated(String method, Repetition repetition) {
            super(method, "ScheduledThreadPoolExecutor." + method + "()", 1, "[\"periods\"]");
            this.repetition = repetition;
        }

        @Override Future<?> every(long ns, Runnable tick) {
            return repetition.every(ns, tick);
        }
    }
}
