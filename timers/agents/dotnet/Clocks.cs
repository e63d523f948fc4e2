using System;
using System.Diagnostics;

/// <summary>A timer method. Implemented by structures, so that the runtime compiles the loops for each and inlines its call.</summary>
interface IClock
{
    /// <summary>Makes the call and returns the reading in ticks.</summary>
    long Read();
}

struct Nothing : IClock { public long Read() { return 0; } }

struct StopwatchClock : IClock { public long Read() { return Stopwatch.GetTimestamp(); } }

struct NowClock : IClock { public long Read() { return DateTime.Now.Ticks; } }

struct UtcNowClock : IClock { public long Read() { return DateTime.UtcNow.Ticks; } }

struct OffsetClock : IClock { public long Read() { return DateTimeOffset.UtcNow.Ticks; } }

struct TickCountClock : IClock { public long Read() { return Environment.TickCount; } }

#if NETCOREAPP
struct TickCount64Clock : IClock { public long Read() { return Environment.TickCount64; } }
#endif

struct ProcessorTimeClock : IClock
{
    static readonly Process Own = Process.GetCurrentProcess();

    public long Read()
    {
        // Without this call a process object returns the value of its first read again.
        Own.Refresh();
        return Own.TotalProcessorTime.Ticks;
    }
}

/// <summary>A timer as described in the answer to `hello`.</summary>
sealed class Entry
{
    public readonly string Id, Label, Legend, Missing;
    /// <summary>The documented properties, as members of a timer in the answer to `hello`.</summary>
    public readonly string Declared;
    public readonly double NsPerTick;
    public readonly Type Clock;

    Entry(string id, string label, string legend, double nsPerTick, string declared, Type clock, string missing)
    {
        Id = id;
        Label = label;
        Legend = legend;
        NsPerTick = nsPerTick;
        Declared = declared;
        Clock = clock;
        Missing = missing;
    }

    public const string Floor = "null", Reference = "Stopwatch";

    /// <summary>Properties that are known on Unix only. (Whether TickCount runs while suspended differs between versions.)</summary>
    static string OnLinux(string declared)
    {
        return Environment.OSVersion.Platform == PlatformID.Unix ? declared : "";
    }

    static readonly string
        Steady = ",\"family\":\"system-clock\",\"counts\":\"wall\",\"settable\":false,\"needs_fence\":false",
        Calendar = ",\"family\":\"system-clock\",\"counts\":\"wall\",\"settable\":true,\"needs_fence\":false"
            + OnLinux(",\"slewed\":true,\"runs_in_suspend\":true"),
        CpuTime = ",\"family\":\"cpu-time\",\"counts\":\"process-cpu\",\"settable\":false,\"needs_fence\":false"
            + OnLinux(",\"slewed\":false,\"runs_in_suspend\":false,\"reads_by\":\"system-call\"");

    /// <summary>All timers. A new one is a structure above and a line here.</summary>
    public static readonly Entry[] All = {
        new Entry(Reference, "Stopwatch.GetTimestamp()", ".STO", 1e9 / Stopwatch.Frequency, Steady + OnLinux(",\"slewed\":true,\"runs_in_suspend\":false"), typeof(StopwatchClock), null),
        new Entry("DateTime.Now", "DateTime.Now", ".DAT", 100, Calendar, typeof(NowClock), null),
        new Entry("DateTime.UtcNow", "DateTime.UtcNow", null, 100, Calendar, typeof(UtcNowClock), null),
        new Entry("DateTimeOffset.UtcNow", "DateTimeOffset.UtcNow", null, 100, Calendar, typeof(OffsetClock), null),
        new Entry("TickCount", "Environment.TickCount", null, 1e6, Steady + OnLinux(",\"slewed\":true"), typeof(TickCountClock), null),
#if NETCOREAPP
        new Entry("TickCount64", "Environment.TickCount64", null, 1e6, Steady + OnLinux(",\"slewed\":true"), typeof(TickCount64Clock), null),
#else
        new Entry("TickCount64", "Environment.TickCount64", null, 1e6, Steady + OnLinux(",\"slewed\":true"), null, "this runtime does not have it; .NET Core 3 and later do"),
#endif
        new Entry("TotalProcessorTime", "Process.TotalProcessorTime", null, 100, CpuTime, typeof(ProcessorTimeClock), null),
        new Entry(Floor, "reads nothing", null, double.NaN, "", typeof(Nothing), null),
    };

    public static Entry Of(string id)
    {
        foreach (Entry entry in All)
            if (entry.Id == id)
            {
                if (entry.Missing != null) throw new Refusal(entry.Label + ": " + entry.Missing);
                return entry;
            }
        throw new Refusal("this agent has no timer `" + id + "`");
    }
}

/// <summary>The reason why a request is refused.</summary>
sealed class Refusal : Exception
{
    public Refusal(string why) : base(why) {}
}
