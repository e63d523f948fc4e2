using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

/// <summary>
/// The timers of .NET over the agent protocol, version 1. Arguments are ids of timers that will be asked for: their loops
/// are compiled before the first answer.
/// </summary>
static class Agent
{
    const int MostValues = 1000000;

    static int Main(string[] ids)
    {
        foreach (string id in ids)
            try
            {
                var waiter = Waiter.All.FirstOrDefault(one => one.Id == id);
                if (waiter != null) Waiter.Of(id, waiter.Ops[0]);
                else Questions.Of(id);
                Questions.Of(Entry.Floor);
            }
            catch (Exception)
            {
                // Who asks for it will hear why.
            }
        var served = ids.Length == 0 ? null : new HashSet<string>(ids) { Entry.Reference, Entry.Floor, Waiter.Floor };
        var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
        var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false));
        for (string line = input.ReadLine(); line != null; line = input.ReadLine())
        {
            string answer;
            int before = GC.CollectionCount(0);
            try
            {
                answer = Answer(Json.Object(line), served, () => GC.CollectionCount(0) != before);
            }
            catch (Exception why)
            {
                answer = "{\"error\":" + Json.Quoted(why is Refusal ? why.Message : why.GetType().Name + ": " + why.Message) + "}";
            }
            output.Write(answer);
            output.Write('\n');
            output.Flush();
        }
        return 0;
    }

    static string Answer(Dictionary<string, object> request, HashSet<string> served, Func<bool> collected)
    {
        string op = Text(request, "op");
        if (op == "hello") return Hello(Number(request, "protocol"), served);
        // What a question needs is made before it is asked, so that its garbage is not that of the loops.
        if (op == "intervals")
        {
            var loops = Questions.Of(Text(request, "timer"));
            long[] work = Amounts(request, "work");
            int repeat = Several(work.Length, request, "repeat");
            long[][] rows = work.Select(_ => new long[repeat]).ToArray();
            for (int at = 0; at < rows.Length; at++) loops.Intervals(work[at], rows[at]);
            string disturbed = Disturbed(collected());
            return "{\"intervals\":[" + string.Join(",", rows.Select(row => List(row))) + "]" + disturbed + "}";
        }
        if (op == "batches")
        {
            var loops = Questions.Of(Text(request, "timer"), Text(request, "reference"));
            long calls = Number(request, "calls");
            var batches = new long[Count(request, "repeat")];
            loops.Batches(calls, batches);
            string disturbed = Disturbed(collected());
            return "{\"batches\":" + List(batches) + disturbed + "}";
        }
        if (op == "readings")
        {
            var loops = Questions.Of(Text(request, "timer"));
            var readings = new long[Count(request, "count")];
            loops.Readings(readings);
            string disturbed = Disturbed(collected());
            return "{\"readings\":" + List(readings) + disturbed + "}";
        }
        if (op == "handoffs")
        {
            long[] flat = Questions.Of(Text(request, "timer")).Handoffs(Count(request, "count"));
            return "{\"handoffs\":" + Lists(2, flat) + "}";
        }
        if (op == "comparisons")
        {
            var loops = Questions.Of(Text(request, "timer"), Text(request, "reference"));
            long work = Number(request, "work");
            var flat = new long[3 * Several(3, request, "count")];
            loops.Comparisons(work, flat);
            return "{\"comparisons\":" + Lists(3, flat) + "}";
        }
        if (op == "advance")
        {
            var loops = Questions.Of(Text(request, "timer"), Text(request, "reference"));
            long[] moved = loops.Advance(Text(request, "during"), Count(request, "ms"));
            return "{\"timer\":" + moved[0] + ",\"reference\":" + moved[1] + "}";
        }
        if (op == "waits" || op == "arms" || op == "periods")
        {
            var waiter = Waiter.Of(Text(request, "timer"), op);
            string timedBy = Text(request, "reference");
            var reference = Questions.Of(timedBy);
            if (op == "arms") return "{\"arms\":" + List(Waits.Arms(waiter, reference, Count(request, "repeat"))) + "}";
            if (op == "periods")
                return "{\"periods\":" + Lists(2, Waits.Periods(
                    waiter, reference, Number(request, "period_ns"), Several(2, request, "count"), Amounts(request, "stalls"))) + "}";
            long[] lengths = Amounts(request, "request_ns");
            long pause = request.ContainsKey("pause_ns") ? Number(request, "pause_ns") : 0;
            double late = request.ContainsKey("break_ns") ? Number(request, "break_ns") : double.PositiveInfinity;
            return Waits.Countdown(
                waiter, reference, Entry.Of(timedBy).NsPerTick, lengths, Several(4 * lengths.Length, request, "repeat"), pause, late);
        }
        throw new Refusal("this agent does not know `" + op + "`");
    }

    static string Disturbed(bool collected)
    {
        return collected ? ",\"disturbed\":[\"gc\"]" : "";
    }

    static string Hello(long protocol, HashSet<string> served)
    {
        if (protocol != 1) throw new Refusal("this agent speaks protocol 1, not " + protocol);
        var shown = Entry.All.Where(entry => served == null || served.Contains(entry.Id)).ToArray();
        var timers = shown.Where(entry => entry.Missing == null).Select(entry =>
            "{\"id\":" + Json.Quoted(entry.Id) + ",\"label\":" + Json.Quoted(entry.Label)
            + ",\"legend\":" + Json.Quoted(entry.Legend)
            + ",\"ns_per_tick\":" + (double.IsNaN(entry.NsPerTick) ? "null" : entry.NsPerTick.ToString("R", CultureInfo.InvariantCulture))
            + entry.Declared
            + ",\"reference\":" + (entry.Id == Entry.Reference ? "true" : "false") + "}");
        var missing = shown.Where(entry => entry.Missing != null).Select(entry =>
            "{\"id\":" + Json.Quoted(entry.Id) + ",\"label\":" + Json.Quoted(entry.Label)
            + ",\"reason\":" + Json.Quoted(entry.Missing) + "}");
        var waiters = Waiter.All.Where(waiter => served == null || served.Contains(waiter.Id)).ToArray();
        return "{\"protocol\":1,\"runtime\":" + Runtime() + ",\"timers\":[" + string.Join(",", timers) + "],\"waiters\":["
            + string.Join(",", waiters.Where(waiter => waiter.Missing == null).Select(waiter => waiter.Declared)) + "],\"unavailable\":["
            + string.Join(",", missing.Concat(waiters.Where(waiter => waiter.Missing != null).Select(waiter => waiter.Declared)))
            + "],\"ops\":[\"intervals\",\"batches\",\"readings\",\"handoffs\",\"comparisons\",\"advance\",\"waits\",\"arms\",\"periods\"]}";
    }

    static string Runtime()
    {
        Type mono = Type.GetType("Mono.Runtime");
        if (mono == null) return "{\"name\":\".NET\",\"version\":" + Json.Quoted(Environment.Version.ToString()) + "}";
        var shown = mono.GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static);
        string name = shown == null ? "" : (string)shown.Invoke(null, null);
        return "{\"name\":\"Mono\",\"version\":" + Json.Quoted(name.Split(' ')[0]) + "}";
    }

    static string Text(Dictionary<string, object> request, string key)
    {
        object value;
        request.TryGetValue(key, out value);
        if (value is string) return (string)value;
        throw new Refusal("the request has no text `" + key + "`");
    }

    static long Number(Dictionary<string, object> request, string key)
    {
        object value;
        if (request.TryGetValue(key, out value)) return Amount(value);
        throw new Refusal("the request has no number `" + key + "`");
    }

    static int Count(Dictionary<string, object> request, string key)
    {
        return Several(1, request, key);
    }

    /// <summary>So many, if an answer may hold so many times as many values.</summary>
    static int Several(int times, Dictionary<string, object> request, string key)
    {
        long count = Number(request, key);
        if (count > MostValues / Math.Max(times, 1)) throw new Refusal("at most " + MostValues + " values fit an answer");
        return (int)count;
    }

    static long[] Amounts(Dictionary<string, object> request, string key)
    {
        var list = request.ContainsKey(key) ? request[key] as List<object> : null;
        if (list == null) throw new Refusal("the request has no list `" + key + "`");
        return list.Select(Amount).ToArray();
    }

    static long Amount(object number)
    {
        if (number is long && (long)number >= 0) return (long)number;
        throw new Refusal("`" + number + "` is no amount");
    }

    /// <summary>Lists of so many values each.</summary>
    static string Lists(int length, long[] values)
    {
        var lists = Enumerable.Range(0, values.Length / length).Select(at =>
        {
            var list = new long[length];
            Array.Copy(values, at * length, list, 0, length);
            return List(list);
        });
        return "[" + string.Join(",", lists) + "]";
    }

    static StringBuilder List(long[] values)
    {
        var list = new StringBuilder("[");
        for (int at = 0; at < values.Length; at++)
        {
            if (at > 0) list.Append(',');
            list.Append(values[at]);
        }
        return list.Append(']');
    }
}
