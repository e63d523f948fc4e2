import java.io.InputStream;
import java.util.HashMap;
import java.util.Map;

/** A copy of {@link Loops} for each pair of a timer and a reference, warm before it is used. */
public final class Pairs {
    /** What the copy that is being loaded reads. */
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
            loops = (Questions) new Copy().again("Loops").getDeclaredConstructor().newInstance();
            warm(loops);
            WARM.put(pair, loops);
        }
        return loops;
    }

    /**
     * Long enough for the optimising compiler, with all kinds of amounts, so that none is new to the compiled code. The
     * runner sees in the log when that was not enough.
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

        Class<?> again(String name) throws Exception {
            try (InputStream code = getParent().getResourceAsStream(name + ".class")) {
                byte[] bytes = code.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            }
        }
    }
}
