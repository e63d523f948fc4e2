import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;

/** Copies of {@link Loops}, one for each pair of a timer and a reference, warmed up before use. */
public final class Pairs {
    /** The timer and the reference of the copy that is being loaded. */
    public static Clock timer;
    public static Clock reference;

    private static final Map<String, Questions> WARM = new HashMap<>();

    private Pairs() {}

    static Questions of(Clock timer, Clock reference) throws Exception {
        String pair = timer.id + '/' + reference.id;
        Questions loops = WARM.get(pair);
        if (loops == null) {
            Pairs.timer = timer;
            Pairs.reference = reference;
            loops = (Questions) new Copy().loadAgain("Loops").getDeclaredConstructor().newInstance();
            warm(loops);
            WARM.put(pair, loops);
        }
        return loops;
    }

    /**
     * Runs the loops until the optimising compiler has compiled them, with various amounts, so that no amount is new to the
     * compiled code. If this is not enough, timermeter finds later compilations in the log.
     */
    private static void warm(Questions loops) {
        for (int round = 0; round < 1_000; round++) {
            long[] few = new long[1 + round % 4];
            loops.batches(round % 7, few);
            loops.intervals(round % 5 * 10, few);
            loops.readings(few);
        }
        loops.batches(1, new long[500]);
        loops.intervals(50, new long[500]);
        loops.readings(new long[500]);
    }

    private static final class Copy extends ClassLoader {
        Copy() {
            super(Pairs.class.getClassLoader());
        }

        Class<?> loadAgain(String name) throws Exception {
            try (InputStream code = getParent().getResourceAsStream(name + ".class")) {
                byte[] bytes = code.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
    }
}
