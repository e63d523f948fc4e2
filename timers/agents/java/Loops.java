/**
 * The hot loops. The class is loaded again for each pair of a timer and a reference ({@link Pairs}), so that the
 * compiler treats both as constants and inlines their calls, and its profile contains no calls of other timers.
 */
public final class Loops implements Questions {
    private static final Clock TIMER = Pairs.timer;
    private static final Clock REFERENCE = Pairs.reference;
    /** Multiplier of a linear congruential generator (Steele and Vigna 2022, table 5). */
    private static final long MULTIPLIER = 0xd1342543de82ef95L;
    /** Always 1. The compiler does not know the value, so that it can neither unroll nor shorten a loop that counts by it. */
    private static long one = 1;
    private static long state = 1;

    @Override
    public void intervals(long work, long[] differences) {
        long worked = state;
        for (int at = 0; at < differences.length; at++) {
            long first = TIMER.read();
            for (long left = work; left != 0; left -= one) {
                worked = worked * MULTIPLIER + left;
            }
            differences[at] = TIMER.read() - first;
        }
        state = worked;
    }

    @Override
    public void batches(long calls, long[] differences) {
        for (int at = 0; at < differences.length; at++) {
            long first = REFERENCE.read();
            for (long left = calls; left != 0; left -= one) {
                TIMER.call();
            }
            differences[at] = REFERENCE.read() - first;
        }
    }

    @Override
    public void readings(long[] readings) {
        for (int at = 0; at < readings.length; at++) {
            readings[at] = TIMER.read();
        }
    }

    @Override
    public void comparisons(long work, long[] values) {
        long worked = state;
        for (int at = 0; at + 2 < values.length; at += 3) {
            values[at] = REFERENCE.read();
            values[at + 1] = TIMER.read();
            values[at + 2] = REFERENCE.read();
            for (long left = work; left != 0; left -= one) {
                worked = worked * MULTIPLIER + left;
            }
        }
        state = worked;
    }
}
