using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;

/// <summary>
/// Answers questions about the timers of .NET in the agent protocol, version 1 (docs/agents.md). The arguments are ids of
/// timers; their loops are compiled before the first answer.
/// </summary>
static class Agent
{
    const int MaxValues = 1000000;

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
                // A request for this timer reports the reason.
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
                answer = Answer(Json.Words(line), served, () => GC.CollectionCount(0) != before);
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

    static string Answer(Dictionary<string, List<string>> request, HashSet<string> served, Func<bool> collected)
    {
        string op = Text(request, "op");
        if (op == "hello") return Hello(Number(request, "protocol"), served);
        if (op == "periods") return Periods(request);
        var values = Values(op, request);
        // A garbage collection disturbs only the questions that are answered by hot loops.
        string disturbed = collected() && (op == "intervals" || op == "batches" || op == "readings") ? ",\"disturbed\":[\"gc\"]" : "";
        return "{\"values\":[" + string.Join(",", values) + "]" + disturbed + "}";
    }

    static string Periods(Dictionary<string, List<string>> request)
    {
        var waiter = Waiter.Of(Text(request, "timer"), "periods");
        var start = new long[2];
        long periodNs = Number(request, "period_ns");
        var values = Waits.Periods(waiter, Questions.Of(Text(request, "reference")), periodNs, CheckedCount(2, request, "count"), start);
        // Periods are rounded up to milliseconds: only those that are whole have the due times that were asked for.
        string known = Waits.IsWhole(periodNs) ? "\"start\":[" + start[0] + "," + start[1] + "]," : "";
        return "{" + known + "\"values\":[" + string.Join(",", values) + "]}";
    }

    static IEnumerable<long> Values(string op, Dictionary<string, List<string>> request)
    {
        string timedBy = request.ContainsKey("reference") ? Text(request, "reference") : Entry.Reference;
        if (op == "intervals")
        {
            var loops = Questions.Of(Text(request, "timer"));
            long[] work = Amounts(request, "work");
            int repeat = CheckedCount(work.Length, request, "repeat");
            long[][] rows = work.Select(_ => new long[repeat]).ToArray();
            for (int at = 0; at < rows.Length; at++) loops.Intervals(work[at], rows[at]);
            return rows.SelectMany(row => row);
        }
        if (op == "batches")
        {
            var loops = Questions.Of(Text(request, "timer"), timedBy);
            long calls = Number(request, "calls");
            var batches = new long[Count(request, "repeat")];
            loops.Batches(calls, batches);
            return batches;
        }
        if (op == "readings")
        {
            var loops = Questions.Of(Text(request, "timer"));
            var readings = new long[Count(request, "count")];
            loops.Readings(readings);
            return readings;
        }
        if (op == "handoffs")
        {
            if (Amounts(request, "cpus").Length > 0) throw new Refusal(".NET cannot choose the CPUs of its threads");
            return Questions.Of(Text(request, "timer")).Handoffs(Count(request, "count"));
        }
        if (op == "comparisons")
        {
            var loops = Questions.Of(Text(request, "timers"), timedBy);
            long work = Number(request, "work");
            var flat = new long[3 * Count(request, "repeat") * CheckedCount(3 * Count(request, "repeat"), request, "count")];
            loops.Comparisons(work, flat);
            return flat;
        }
        if (op == "advance")
            return Questions.Of(Text(request, "timers"), timedBy).Advance(Text(request, "during"), Count(request, "ms"));
        if (op != "waits") throw new Refusal("this agent does not know `" + op + "`");
        var waiter = Waiter.Of(Text(request, "timer"), op);
        var reference = Questions.Of(timedBy);
        long[] lengths = Amounts(request, "request_ns");
        return Waits.MeasureWaits(waiter, reference, lengths, CheckedCount(5 * lengths.Length, request, "repeat"),
            Number(request, "pause_ns"));
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
            + "],\"ops\":[\"intervals\",\"batches\",\"readings\",\"handoffs\",\"comparisons\",\"advance\",\"waits\",\"periods\"]}";
    }

    static string Runtime()
    {
        Type mono = Type.GetType("Mono.Runtime");
        if (mono == null) return "{\"name\":\".NET\",\"version\":" + Json.Quoted(Environment.Version.ToString()) + "}";
        var shown = mono.GetMethod("GetDisplayName", BindingFlags.NonPublic | BindingFlags.Static);
        string name = shown == null ? "" : (string)shown.Invoke(null, null);
        return "{\"name\":\"Mono\",\"version\":" + Json.Quoted(name.Split(' ')[0]) + "}";
    }

    /// <summary>The value of a key that has a single value.</summary>
    static string Text(Dictionary<string, List<string>> request, string key)
    {
        List<string> words;
        if (request.TryGetValue(key, out words) && words.Count == 1) return words[0];
        throw new Refusal("the request needs a single value for `" + key + "`");
    }

    static long Number(Dictionary<string, List<string>> request, string key)
    {
        return Amount(Text(request, key));
    }

    static int Count(Dictionary<string, List<string>> request, string key)
    {
        return CheckedCount(1, request, key);
    }

    /// <summary>The number of a key, if an answer may hold `times` times as many values.</summary>
    static int CheckedCount(int times, Dictionary<string, List<string>> request, string key)
    {
        long count = Number(request, key);
        if (count > MaxValues / Math.Max(times, 1)) throw new Refusal("at most " + MaxValues + " values fit one answer");
        return (int)count;
    }

    static long[] Amounts(Dictionary<string, List<string>> request, string key)
    {
        List<string> words;
        if (!request.TryGetValue(key, out words)) throw new Refusal("the request has no list `" + key + "`");
        return words.Select(Amount).ToArray();
    }

    static long Amount(string word)
    {
        long number;
        if (long.TryParse(word, NumberStyles.None, CultureInfo.InvariantCulture, out number)) return number;
        throw new Refusal("`" + word + "` is not a non-negative integer of 63 bits");
    }
}
