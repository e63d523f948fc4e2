// Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
import java.lang.management.ManagementFactory;
import java.time.Instant;
import java.util.Arrays;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

class Java {
    static void show(String id, long unit, LongSupplier read) {
        long[] all = new long[20000];
        for (int at = 0; at < all.length; at++) all[at] = read.getAsLong();
        System.out.println(id + " " + unit + " " + Arrays.stream(all).mapToObj(Long::toString).collect(Collectors.joining(" ")));
    }

    public static void main(String[] arguments) {
        var threads = ManagementFactory.getThreadMXBean();
        show("nanoTime", 1, System::nanoTime);
        show("getCurrentThreadCpuTime", 1, threads::getCurrentThreadCpuTime);
        show("Instant.now", 1, () -> {
            Instant now = Instant.now();
            return now.getEpochSecond() * 1_000_000_000L + now.getNano();
        });
    }
}
