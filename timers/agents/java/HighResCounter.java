import jdk.internal.perf.Perf;

/** The counter with which the virtual machine times its performance data. Needs --add-exports java.base/jdk.internal.perf. */
final class HighResCounter extends Clock {
    private static final Perf PERF = Perf.getPerf();

    HighResCounter() {
        super("highResCounter", "jdk.internal.perf.Perf.highResCounter()", "HRC", 1e9 / PERF.highResFrequency(), Kind.STEADY);
    }

    @Override public long read() { return PERF.highResCounter(); }
    @Override public void call() { Clocks.kept = PERF.highResCounter(); }
}
