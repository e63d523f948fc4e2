import java.util.concurrent.atomic.AtomicLong;

/** Answers the questions `handoffs` and `advance`, which need a second thread. */
final class TwoThreads {
    private static volatile boolean over;
    private static volatile long sink;

    private TwoThreads() {}

    /** Two threads read in turn: one reads and hands over, then the other reads. */
    static long[] handoffs(Clock timer, int count) throws InterruptedException {
        long[] pairs = new long[2 * count];
        AtomicLong turn = new AtomicLong();
        Thread other = new Thread(() -> take(timer, turn, pairs, 1));
        other.start();
        take(timer, turn, pairs, 0);
        other.join();
        return pairs;
    }

    /** Does the reads of one thread. The roles alternate: thread 0 makes the readings 0, 3, 4, 7, 8 ..., thread 1 the others. */
    private static void take(Clock timer, AtomicLong turn, long[] pairs, int thread) {
        for (int at = 0; at < pairs.length; at++) {
            if (((at + 1) / 2) % 2 != thread) {
                continue;
            }
            for (int spins = 0; turn.get() != at; spins++) {
                // On one CPU the other thread runs only after a yield.
                if (spins < 1_000) {
                    Thread.onSpinWait();
                } else {
                    Thread.yield();
                }
            }
            pairs[at] = timer.read();
            turn.set(at + 1);
        }
    }

    /** The ticks by which timer and reference move while this thread computes, sleeps, or sleeps while another thread computes. */
    static long[] advance(Clock timer, Clock reference, String during, long ms) throws InterruptedException {
        over = false;
        Thread other = null;
        if (during.equals("other-spin")) {
            other = new Thread(TwoThreads::spin);
            other.start();
        } else if (!during.equals("spin") && !during.equals("sleep")) {
            throw new IllegalArgumentException("`" + during + "` is none of spin, sleep, other-spin");
        }
        // The first read of each clock is dropped, because it finds cold caches.
        reference.read();
        timer.read();
        long startReference = reference.read();
        long start = timer.read();
        if (during.equals("spin")) {
            spin(ms);
        } else {
            Thread.sleep(ms);
        }
        long endReference = reference.read();
        long end = timer.read();
        over = true;
        if (other != null) {
            other.join();
        }
        return new long[] {end - start, endReference - startReference};
    }

    private static void spin(long ms) {
        long end = System.nanoTime() + ms * 1_000_000;
        while (System.nanoTime() < end) {
            sink++;
        }
    }

    private static void spin() {
        while (!over) {
            sink++;
        }
    }
}
