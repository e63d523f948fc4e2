using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using System.Threading.Tasks;

/// <summary>A sleep primitive or periodic timer.</summary>
abstract class Waiter
{
    public readonly string Id, Label, Missing;
    public readonly string[] Ops;
    /// <summary>The clock id of the CPU time: of the process if another thread than the calling one waits.</summary>
    readonly int cpuClock;

    protected Waiter(string id, string label, int cpuClock, string missing, params string[] ops)
    {
        Id = id;
        Label = label;
        Missing = missing;
        Ops = ops;
        this.cpuClock = cpuClock;
    }

    /// <summary>All entries. A new one is a class below and a line here.</summary>
    public static readonly Waiter[] All = { new Sleep(), new Delay(), new Timers(), new Periodic(), new Nothing() };

    /// <summary>The id of the entry that does not wait, which shows the overhead of the measuring loop.</summary>
    public const string Floor = "nothing";

    static readonly HashSet<string> Warm = new HashSet<string>();

    /// <summary>The entry with this id, its code compiled.</summary>
    public static Waiter Of(string id, string op)
    {
        Waiter found = All.FirstOrDefault(one => one.Id == id);
        if (found == null) throw new Refusal("this agent has no sleep primitive or periodic timer `" + id + "`");
        if (found.Missing != null) throw new Refusal(found.Label + ": " + found.Missing);
        if (!found.Ops.Contains(op)) throw new Refusal(found.Label + " does not support `" + op + "`");
        if (Warm.Add(id)) Waits.WarmUp(found);
        return found;
    }

    /// <summary>The entry as a member of `waiters` or `unavailable` in the answer to `hello`.</summary>
    public string Declared
    {
        get
        {
            string known = "{\"id\":" + Json.Quoted(Id) + ",\"label\":" + Json.Quoted(Label)
                + ",\"ops\":[" + string.Join(",", Ops.Select(Json.Quoted)) + "]";
            if (Missing != null) return known + ",\"reason\":" + Json.Quoted(Missing) + "}";
            return known + ",\"means\":\"blocks\",\"unit_ns\":1000000}";
        }
    }

    /// <summary>Calls `done` when the given number of milliseconds has passed, perhaps on another thread.</summary>
    public virtual void After(int ms, Action done) { throw new NotSupportedException(); }

    /// <summary>Calls `tick` every `ms` milliseconds until it returns false.</summary>
    public virtual void Every(int ms, Func<bool> tick) { throw new NotSupportedException(); }

    protected const int ProcessCpu = 2, ThreadCpu = 3;
    public static readonly bool OnLinux = File.Exists("/proc/self/stat");

    [StructLayout(LayoutKind.Sequential)]
    struct Timespec { public IntPtr Seconds, Nanoseconds; }

    [DllImport("libc", EntryPoint = "clock_gettime")]
    static extern int Read(int clock, out Timespec time);

    static readonly bool ReadsCpuTime = OnLinux && CanRead();

    static bool CanRead()
    {
        try
        {
            Timespec time;
            return Read(ProcessCpu, out time) == 0;
        }
        catch (Exception)
        {
            return false;
        }
    }

    /// <summary>The CPU time in nanoseconds, negative if not reported. By libc, because .NET reports it in ticks of 10 ms.</summary>
    public long Cpu()
    {
        Timespec time;
        return ReadsCpuTime && Read(cpuClock, out time) == 0 ? (long)time.Seconds * 1000000000 + (long)time.Nanoseconds : -1;
    }

    sealed class Nothing : Waiter
    {
        public Nothing() : base(Floor, "does not wait", ThreadCpu, null, "waits") {}

        public override void After(int ms, Action done) { done(); }
    }

    sealed class Sleep : Waiter
    {
        public Sleep() : base("Thread.Sleep", "Thread.Sleep(ms)", ThreadCpu, null, "waits") {}

        public override void After(int ms, Action done)
        {
            Thread.Sleep(ms);
            done();
        }
    }

    sealed class Delay : Waiter
    {
        public Delay() : base("Task.Delay", "await Task.Delay(ms)", ProcessCpu, null, "waits") {}

        public override async void After(int ms, Action done)
        {
            await Task.Delay(ms);
            done();
        }
    }

    sealed class Timers : Waiter
    {
        readonly Timer timer;
        Action called;

        public Timers() : base("Timer", "System.Threading.Timer(f, ms)", ProcessCpu, null, "waits", "periods")
        {
            timer = new Timer(_ => called());
        }

        public override void After(int ms, Action done)
        {
            called = done;
            timer.Change(ms, Timeout.Infinite);
        }

        public override void Every(int ms, Func<bool> tick)
        {
            // A new timer each time, because a last tick may still come after a timer was stopped.
            Timer ticking = null;
            ticking = new Timer(_ => { if (!tick()) ticking.Dispose(); });
            ticking.Change(ms, ms);
        }
    }

    sealed class Periodic : Waiter
    {
#if NET6_0_OR_GREATER
        public Periodic() : base("PeriodicTimer", "await PeriodicTimer.WaitForNextTickAsync()", ProcessCpu, null, "periods") {}

        public override async void Every(int ms, Func<bool> tick)
        {
            using (var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(ms)))
                do await timer.WaitForNextTickAsync();
                while (tick());
        }
#else
        public Periodic() : base("PeriodicTimer", "await PeriodicTimer.WaitForNextTickAsync()", ProcessCpu, "this runtime does not have it; .NET 6 and later do", "periods") {}
#endif
    }
}

/// <summary>Answers questions about sleep primitives and periodic timers.</summary>
static class Waits
{
    public const int MaxQuestionMs = 3600000;
    const long Ms = 1000000;
    /// <summary>The length of the busy loop at the end of a pause, because sleeping ends late.</summary>
    const double ComputedNs = 200000;
    static readonly Random Random = new Random();

    public static void WarmUp(Waiter waiter)
    {
        var reference = Questions.Of(Entry.Reference);
        if (waiter.Ops.Contains("waits")) MeasureWaits(waiter, reference, new long[] { 0, 1 }, 20, 0);
        if (waiter.Ops.Contains("periods")) Periods(waiter, reference, Ms, 20, new long[2]);
    }

    /// <summary>Returns five values per wait.</summary>
    public static List<long> MeasureWaits(Waiter waiter, Questions reference, long[] lengths, int repeat, long pauseNs)
    {
        CheckLength(repeat * lengths.Sum(length => (double)length + pauseNs));
        var values = new List<long>(5 * repeat * lengths.Length);
        var over = new AutoResetEvent(false);
        long after = 0, cpu = 0;
        Action done = () =>
        {
            after = reference.Read();
            cpu = waiter.Cpu();
            over.Set();
        };
        for (int at = 0; at < repeat * lengths.Length; at++)
        {
            int row = at % lengths.Length;
            Pause(Random.NextDouble() * pauseNs);
            int ms = RoundedUp(lengths[row]);
            long start = waiter.Cpu(), before = reference.Read();
            waiter.After(ms, done);
            over.WaitOne();
            values.AddRange(new[] { row, before, after, start < 0 ? -1 : cpu - start, -1 });
        }
        return values;
    }

    /// <summary>Returns two values per tick: the reading of the reference, and the number of expirations, always 1.
    /// Sets `start` to readings before and after the timer was armed.</summary>
    public static long[] Periods(Waiter waiter, Questions reference, long periodNs, int count, long[] start)
    {
        if (periodNs == 0) throw new Refusal("the period must not be 0");
        CheckLength((double)periodNs * count);
        var told = new long[2 * count];
        if (count == 0) return told;
        var over = new ManualResetEvent(false);
        int ticks = 0;
        start[0] = reference.Read();
        waiter.Every(RoundedUp(periodNs), () =>
        {
            int at;
            // If the timer expires during the last tick, it calls this function on another thread.
            lock (told)
            {
                if (ticks == count) return false;
                at = ticks++;
                told[2 * at] = reference.Read();
                told[2 * at + 1] = 1;
            }
            if (at == count - 1) over.Set();
            return at < count - 1;
        });
        start[1] = reference.Read();
        over.WaitOne();
        return told;
    }

    public static bool IsWhole(long ns)
    {
        return ns % Ms == 0;
    }

    static int RoundedUp(long ns)
    {
        return (int)((ns + Ms - 1) / Ms);
    }

    static void Pause(double ns)
    {
        long start = Stopwatch.GetTimestamp();
        if (ns > ComputedNs) Thread.Sleep((int)((ns - ComputedNs) / Ms));
        Compute(ns - (Stopwatch.GetTimestamp() - start) * (1e9 / Stopwatch.Frequency));
    }

    static void Compute(double ns)
    {
        long end = Stopwatch.GetTimestamp() + (long)(ns / 1e9 * Stopwatch.Frequency);
        while (Stopwatch.GetTimestamp() < end) {}
    }

    static void CheckLength(double ns)
    {
        if (ns > MaxQuestionMs * (double)Ms) throw new Refusal((long)(ns / 1e9) + " s are too long for one question, which takes at most " + MaxQuestionMs / 1000 + " s");
    }
}
