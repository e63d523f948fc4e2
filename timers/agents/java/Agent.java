import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Answers questions about the timers of the Java platform in the agent protocol, version 1 (docs/agents.md). The arguments
 * are ids of timers; their loops are warmed up before the first answer.
 */
public final class Agent {
    private static final int MAX_VALUES = 1_000_000;
    private static final Map<String, Clock> OPEN = new HashMap<>();
    /** The ids that the answer to `hello` names: those of the arguments; all if there are no arguments. */
    private static final Set<String> SERVED = new LinkedHashSet<>();
    private static final Set<String> SERVED_WAITERS = new LinkedHashSet<>();
    private static final Set<Waiter> WARM = new HashSet<>();

    private Agent() {}

    public static void main(String[] ids) throws Exception {
        for (String id : ids) {
            prepare(id);
        }
        SERVED.addAll(ids.length == 0 ? Clocks.ALL.keySet() : Arrays.asList(ids));
        SERVED_WAITERS.addAll(Waiter.ALL.keySet());
        if (ids.length > 0) {
            SERVED_WAITERS.retainAll(SERVED);
            SERVED.removeAll(SERVED_WAITERS);
            SERVED_WAITERS.add(Waiter.FLOOR);
        }
        SERVED.addAll(Arrays.asList(Clocks.REFERENCE, Clocks.FLOOR));
        BufferedReader in = new BufferedReader(
            new InputStreamReader(new FileInputStream(FileDescriptor.in), StandardCharsets.UTF_8));
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = answer(Json.words(line));
            } catch (Exception | Error why) {
                boolean refused = why instanceof IllegalArgumentException && !(why instanceof NumberFormatException);
                answer = "{\"error\":" + Json.quoted(refused ? why.getMessage() : why.toString()) + '}';
            }
            out.write((answer + '\n').getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
    }

    private static void prepare(String id) {
        try {
            if (Waiter.ALL.containsKey(id)) {
                waiter(id);
                return;
            }
            Clock reference = clock(Clocks.REFERENCE);
            Pairs.of(clock(id), reference);
            Pairs.of(clock(Clocks.FLOOR), reference);
        } catch (Exception | Error why) {
            // A request for this timer reports the reason.
        }
    }

    private static String answer(Map<String, List<String>> request) throws Exception {
        String op = text(request, "op");
        if (op.equals("hello")) {
            return hello(number(request, "protocol"));
        }
        Clock reference = clock(Clocks.REFERENCE);
        if (request.containsKey("reference")) {
            reference = clock(text(request, "reference"));
        }
        if (op.equals("periods")) {
            return periods(waiter(text(request, "timer")), reference, number(request, "period_ns"), product(2, number(request, "count")) / 2);
        }
        return "{\"values\":" + list(values(op, request, reference)) + '}';
    }

    private static String periods(Waiter waiter, Clock reference, long periodNs, int count) throws InterruptedException {
        long[] start = new long[2];
        long[] values = Waits.periods(waiter, reference, periodNs, count, start);
        return "{\"start\":" + (waiter.hasDueTimes() ? list(start) : "null") + ",\"values\":" + list(values) + '}';
    }

    private static long[] values(String op, Map<String, List<String>> request, Clock reference) throws Exception {
        switch (op) {
            case "intervals": return intervals(Pairs.of(timer(request), reference), amounts(request, "work"), count(request, "repeat"));
            case "batches": {
                long[] batches = new long[count(request, "repeat")];
                Pairs.of(timer(request), reference).batches(number(request, "calls"), batches);
                return batches;
            }
            case "readings": {
                long[] readings = new long[count(request, "count")];
                Pairs.of(timer(request), reference).readings(readings);
                return readings;
            }
            case "handoffs": return handoffs(timer(request), amounts(request, "cpus"), count(request, "count"));
            case "comparisons": {
                long[] flat = new long[product(3 * count(request, "repeat"), count(request, "count"))];
                Pairs.of(clock(text(request, "timers")), reference).comparisons(number(request, "work"), flat);
                return flat;
            }
            case "advance": return TwoThreads.advance(clock(text(request, "timers")), reference, text(request, "during"), count(request, "ms"));
            case "waits": {
                long[] lengths = amounts(request, "request_ns");
                int repeat = count(request, "repeat");
                product(5 * lengths.length, repeat);
                return Waits.waits(waiter(text(request, "timer")), reference, lengths, repeat, number(request, "pause_ns"));
            }
            default: throw new IllegalArgumentException("this agent does not know `" + op + '`');
        }
    }

    private static String hello(long protocol) {
        if (protocol != 1) {
            throw new IllegalArgumentException("this agent speaks protocol 1, not " + protocol);
        }
        StringBuilder timers = new StringBuilder();
        StringBuilder missing = new StringBuilder();
        for (String id : SERVED) {
            try {
                Clock clock = clock(id);
                timers.append(timers.length() == 0 ? "" : ",").append("{\"id\":").append(Json.quoted(id))
                    .append(",\"label\":").append(Json.quoted(clock.label))
                    .append(",\"legend\":").append(clock.legend == null ? "null" : Json.quoted(clock.legend))
                    .append(clock.kind == null ? "" : clock.kind.declared())
                    .append(",\"ns_per_tick\":").append(Double.isNaN(clock.nsPerTick) ? "null" : clock.nsPerTick)
                    .append(",\"reference\":").append(id.equals(Clocks.REFERENCE)).append('}');
            } catch (ClockUnavailable why) {
                missing.append(missing.length() == 0 ? "" : ",").append(missing(id, why.getMessage(), why.remedy));
            } catch (Exception | Error why) {
                missing.append(missing.length() == 0 ? "" : ",").append(missing(id, why.toString(), null));
            }
        }
        StringBuilder waiters = new StringBuilder();
        for (String id : SERVED_WAITERS) {
            waiters.append(waiters.length() == 0 ? "" : ",").append(Waiter.ALL.get(id).declared());
        }
        String name = System.getProperty("java.vm.name").startsWith("OpenJDK") ? "OpenJDK" : System.getProperty("java.vm.name");
        return "{\"protocol\":1,\"runtime\":{\"name\":" + Json.quoted(name) + ",\"version\":"
            + Json.quoted(System.getProperty("java.version")) + "},\"timers\":[" + timers + "],\"waiters\":[" + waiters
            + "],\"unavailable\":[" + missing + "],\"ops\":[\"intervals\",\"batches\",\"readings\",\"handoffs\",\"comparisons\","
            + "\"advance\",\"waits\",\"periods\"]}";
    }

    private static String missing(String id, String reason, String remedy) {
        return "{\"id\":" + Json.quoted(id) + ",\"label\":" + Json.quoted(id) + ",\"reason\":" + Json.quoted(reason)
            + ",\"remedy\":" + (remedy == null ? "null" : Json.quoted(remedy)) + '}';
    }

    private static long[] intervals(Questions loops, long[] work, int repeat) {
        long[] all = new long[product(work.length, repeat)];
        long[][] rows = new long[work.length][repeat];
        for (int at = 0; at < rows.length; at++) {
            loops.intervals(work[at], rows[at]);
        }
        for (int at = 0; at < rows.length; at++) {
            System.arraycopy(rows[at], 0, all, at * repeat, repeat);
        }
        return all;
    }

    private static long[] handoffs(Clock timer, long[] cpus, int count) throws InterruptedException {
        if (timer.isPerThread()) {
            throw new IllegalArgumentException(timer.label + " counts for one thread only; readings of two threads cannot be compared");
        }
        if (cpus.length > 0) {
            throw new IllegalArgumentException("Java cannot choose the CPUs of its threads");
        }
        return TwoThreads.handoffs(timer, count);
    }

    /** The sleep primitive or periodic timer with this id, warmed up. */
    private static Waiter waiter(String id) throws Exception {
        Waiter waiter = Waiter.ALL.get(id);
        if (waiter == null) {
            throw new IllegalArgumentException("this agent has no sleep primitive or periodic timer `" + id + '`');
        }
        if (WARM.add(waiter)) {
            Waits.warm(waiter, clock(Clocks.REFERENCE));
        }
        return waiter;
    }

    private static Clock timer(Map<String, List<String>> request) throws Exception {
        return clock(text(request, "timer"));
    }

    private static Clock clock(String id) throws Exception {
        Clock clock = OPEN.get(id);
        if (clock == null) {
            Clocks.Opener opener = Clocks.ALL.get(id);
            if (opener == null) {
                throw new IllegalArgumentException("there is no timer `" + id + "` here");
            }
            clock = opener.open();
            OPEN.put(id, clock);
        }
        return clock;
    }

    /** The value of a key that has a single value. */
    private static String text(Map<String, List<String>> request, String key) {
        List<String> words = request.get(key);
        if (words == null || words.size() != 1) {
            throw new IllegalArgumentException("the request needs a single value for `" + key + '`');
        }
        return words.get(0);
    }

    private static long number(Map<String, List<String>> request, String key) {
        return amount(text(request, key));
    }

    private static int count(Map<String, List<String>> request, String key) {
        return product(1, number(request, key));
    }

    /** The product of both numbers, if an answer may hold so many values. */
    private static int product(int times, long count) {
        if (count > MAX_VALUES / Math.max(times, 1)) {
            throw new IllegalArgumentException("at most " + MAX_VALUES + " values fit one answer");
        }
        return times * (int) count;
    }

    private static long[] amounts(Map<String, List<String>> request, String key) {
        if (!request.containsKey(key)) {
            throw new IllegalArgumentException("the request has no list `" + key + '`');
        }
        return request.get(key).stream().mapToLong(Agent::amount).toArray();
    }

    private static long amount(String word) {
        long number = -1;
        try {
            number = Long.parseLong(word);
        } catch (NumberFormatException why) {
            // The number stays negative, which is refused below.
        }
        if (number < 0) {
            throw new IllegalArgumentException("`" + word + "` is not a non-negative integer of 63 bits");
        }
        return number;
    }

    private static StringBuilder list(long[] values) {
        StringBuilder list = new StringBuilder(8 * values.length + 2).append('[');
        for (int at = 0; at < values.length; at++) {
            if (at > 0) {
                list.append(',');
            }
            list.append(values[at]);
        }
        return list.append(']');
    }
}
