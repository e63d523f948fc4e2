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
 * The timers of the Java platform over the agent protocol, version 1. Arguments are ids of timers that will be asked for:
 * their loops are warm before the first answer.
 */
public final class Agent {
    private static final int MOST_VALUES = 1_000_000;
    private static final Map<String, Clock> OPEN = new HashMap<>();
    /** What `hello` names: all, or those that were asked for. */
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
                answer = answer(Json.object(line));
            } catch (Exception | Error why) {
                boolean told = why instanceof IllegalArgumentException && !(why instanceof NumberFormatException);
                answer = "{\"error\":" + Json.quoted(told ? why.getMessage() : why.toString()) + '}';
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
            // Who asks for it will hear why.
        }
    }

    private static String answer(Map<?, ?> request) throws Exception {
        Object op = request.get("op");
        if ("hello".equals(op)) {
            return hello(number(request, "protocol"));
        }
        Clock reference = clock(Clocks.REFERENCE);
        if ("intervals".equals(op)) {
            return intervals(Pairs.of(timer(request), reference), amounts(request, "work"), count(request, "repeat"));
        }
        if ("batches".equals(op)) {
            long calls = number(request, "calls");
            long[] batches = new long[count(request, "repeat")];
            Pairs.of(timer(request), clock(text(request, "reference"))).batches(calls, batches);
            return "{\"batches\":" + list(batches) + '}';
        }
        if ("readings".equals(op)) {
            long[] readings = new long[count(request, "count")];
            Pairs.of(timer(request), reference).readings(readings);
            return "{\"readings\":" + list(readings) + '}';
        }
        if ("handoffs".equals(op)) {
            return handoffs(timer(request), count(request, "count"));
        }
        if ("comparisons".equals(op)) {
            long work = number(request, "work");
            long[] flat = new long[several(3, count(request, "count"))];
            Pairs.of(timer(request), clock(text(request, "reference"))).comparisons(work, flat);
            return "{\"comparisons\":" + lists(3, flat) + '}';
        }
        if ("advance".equals(op)) {
            long[] moved = Together.advance(
                timer(request), clock(text(request, "reference")), text(request, "during"), count(request, "ms"));
            return "{\"timer\":" + moved[0] + ",\"reference\":" + moved[1] + '}';
        }
        if ("waits".equals(op)) {
            long[] lengths = amounts(request, "request_ns");
            int repeat = count(request, "repeat");
            several(4 * lengths.length, repeat);
            long pause = request.containsKey("pause_ns") ? number(request, "pause_ns") : 0;
            double late = request.get("break_ns") == null ? Double.POSITIVE_INFINITY : number(request, "break_ns");
            return Waits.waits(waiter(text(request, "timer")), clock(text(request, "reference")), lengths, repeat, pause, late);
        }
        if ("arms".equals(op)) {
            return "{\"arms\":" + list(Waits.arms(waiter(text(request, "timer")), clock(text(request, "reference")), count(request, "repeat"))) + '}';
        }
        if ("periods".equals(op)) {
            long[] told = Waits.periods(waiter(text(request, "timer")), clock(text(request, "reference")), number(request, "period_ns"),
                several(2, number(request, "count")) / 2, amounts(request, "stalls"));
            return "{\"periods\":" + lists(2, told) + '}';
        }
        throw new IllegalArgumentException("this agent does not know `" + op + '`');
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
            } catch (NotHere why) {
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
            + "\"advance\",\"waits\",\"arms\",\"periods\"]}";
    }

    private static String missing(String id, String reason, String remedy) {
        return "{\"id\":" + Json.quoted(id) + ",\"label\":" + Json.quoted(id) + ",\"reason\":" + Json.quoted(reason)
            + ",\"remedy\":" + (remedy == null ? "null" : Json.quoted(remedy)) + '}';
    }

    private static String intervals(Questions loops, long[] work, int repeat) {
        several(work.length, repeat);
        long[][] rows = new long[work.length][repeat];
        for (int at = 0; at < rows.length; at++) {
            loops.intervals(work[at], rows[at]);
        }
        StringBuilder answer = new StringBuilder("{\"intervals\":[");
        for (int at = 0; at < rows.length; at++) {
            answer.append(at == 0 ? "" : ",").append(list(rows[at]));
        }
        return answer.append("]}").toString();
    }

    private static String handoffs(Clock timer, int count) throws InterruptedException {
        if (timer.isPerThread()) {
            throw new IllegalArgumentException(timer.label + " counts for one thread only");
        }
        return "{\"handoffs\":" + lists(2, Together.handoffs(timer, count)) + '}';
    }

    /** Warm. */
    private static Waiter waiter(String id) throws Exception {
        Waiter waiter = Waiter.ALL.get(id);
        if (waiter == null) {
            throw new IllegalArgumentException("there is no timer `" + id + "` that waits here");
        }
        if (WARM.add(waiter)) {
            Waits.warm(waiter, clock(Clocks.REFERENCE));
        }
        return waiter;
    }

    private static Clock timer(Map<?, ?> request) throws Exception {
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

    private static String text(Map<?, ?> request, String key) {
        if (!(request.get(key) instanceof String)) {
            throw new IllegalArgumentException("the request has no text `" + key + '`');
        }
        return (String) request.get(key);
    }

    private static long number(Map<?, ?> request, String key) {
        if (!request.containsKey(key)) {
            throw new IllegalArgumentException("the request has no number `" + key + '`');
        }
        return amount(request.get(key));
    }

    private static int count(Map<?, ?> request, String key) {
        return several(1, number(request, key));
    }

    /** So many times as many values, if an answer may hold them. */
    private static int several(int times, long count) {
        if (count > MOST_VALUES / Math.max(times, 1)) {
            throw new IllegalArgumentException("at most " + MOST_VALUES + " values fit an answer");
        }
        return times * (int) count;
    }

    private static long[] amounts(Map<?, ?> request, String key) {
        if (!(request.get(key) instanceof List)) {
            throw new IllegalArgumentException("the request has no list `" + key + '`');
        }
        return ((List<?>) request.get(key)).stream().mapToLong(Agent::amount).toArray();
    }

    private static long amount(Object number) {
        if (!(number instanceof Long) || (Long) number < 0) {
            throw new IllegalArgumentException("`" + number + "` is no amount");
        }
        return (Long) number;
    }

    /** Lists of so many values each. */
    private static StringBuilder lists(int length, long[] values) {
        StringBuilder lists = new StringBuilder("[");
        for (int at = 0; at < values.length; at += length) {
            lists.append(at == 0 ? "" : ",").append(list(Arrays.copyOfRange(values, at, at + length)));
        }
        return lists.append(']');
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
