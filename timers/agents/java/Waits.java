import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;

/** Answers questions about sleep primitives and periodic timers. */
final class Waits {
    private static final long MAX_QUESTION_NS = 3_600_000_000_000L;
    /** The length of the busy loop at the end of a pause, because sleeping ends late. */
    private static final long COMPUTED_NS = 200_000;
    /** The length of a warm-up, in which both compilers compile the code. */
    private static final long WARM_NS = 100_000_000;
    private static final Random RANDOM = new Random();

    private Waits() {}

    /** The measurement of one wait. */
    private static final class Watch implements Runnable {
        private final Waiter waiter;
        private final Clock reference;
        private final Semaphore over = new Semaphore(0);
        long before;
        long after;
        long cpu;

        Watch(Waiter waiter, Clock reference) {
            this.waiter = waiter;
            this.reference = reference;
        }

        void once(long ns) throws InterruptedException {
            long start = waiter.cpu();
            before = reference.read();
            waiter.after(ns, this);
            over.acquire();
            cpu -= start;
        }

        @Override public void run() {
            after = reference.read();
            cpu = waiter.cpu();
            over.release();
        }
    }

    /** Runs waits of length 0, or short periods, until the compilers have compiled the code. */
    static void warm(Waiter waiter, Clock reference) throws InterruptedException {
        if (waiter.ops.contains("periods")) {
            periods(waiter, reference, WARM_NS / 2_000, 2_000, new long[2]);
            return;
        }
        Watch watch = new Watch(waiter, reference);
        for (long end = System.nanoTime() + WARM_NS; System.nanoTime() < end;) {
            watch.once(0);
        }
    }

    /** Returns five values per wait. */
    static long[] waits(Waiter waiter, Clock reference, long[] lengths, int repeat, long pauseNs) throws InterruptedException {
        double all = 0;
        for (long length : lengths) {
            all += (double) length + pauseNs;
        }
        checkLength(all * repeat);
        Watch watch = new Watch(waiter, reference);
        long[] values = new long[5 * repeat * lengths.length];
        for (int at = 0; at < repeat * lengths.length; at++) {
            int row = at % lengths.length;
            pause((long) (RANDOM.nextDouble() * pauseNs));
            watch.once(lengths[row]);
            long[] wait = {row, watch.before, watch.after, waiter.cpu() < 0 ? -1 : watch.cpu, -1};
            System.arraycopy(wait, 0, values, 5 * at, 5);
        }
        return values;
    }

    /**
     * Returns two values per tick: the reading of the reference, and the number of expirations, which is always 1. Sets
     * `start` to readings before and after the timer was armed.
     */
    static long[] periods(Waiter waiter, Clock reference, long periodNs, int count, long[] start) throws InterruptedException {
        if (periodNs == 0) {
            throw new IllegalArgumentException("the period must not be 0");
        }
        checkLength((double) periodNs * count);
        long[] told = new long[2 * count];
        Semaphore over = new Semaphore(count == 0 ? 1 : 0);
        int[] ticks = {0};
        start[0] = reference.read();
        Future<?> repeated = waiter.every(periodNs, () -> {
            int at = ticks[0]++;
            if (at < count) {
                told[2 * at] = reference.read();
                told[2 * at + 1] = 1;
                if (at == count - 1) {
                    over.release();
                }
            }
        });
        start[1] = reference.read();
        over.acquire();
        repeated.cancel(false);
        return told;
    }

    private static void pause(long ns) throws InterruptedException {
        long end = System.nanoTime() + ns;
        if (ns > COMPUTED_NS) {
            Thread.sleep((ns - COMPUTED_NS) / 1_000_000);
        }
        compute(end - System.nanoTime());
    }

    private static void compute(long ns) {
        long end = System.nanoTime() + ns;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    private static void checkLength(double ns) {
        if (ns > MAX_QUESTION_NS) {
            throw new IllegalArgumentException((long) (ns / 1e9) + " s are too long for one question, which takes at most " + MAX_QUESTION_NS / 1_000_000_000 + " s");
        }
    }
}
