using System;
using System.Collections.Generic;
using System.Threading;

/// <summary>The questions that are answered by loops.</summary>
abstract class Questions
{
    /// <summary>Reads the timer by a virtual call, for code that does not measure the cost of the read.</summary>
    public abstract long Read();
    public abstract void Intervals(long work, long[] differences);
    public abstract void Batches(long calls, long[] differences);
    public abstract void Readings(long[] readings);
    public abstract void Comparisons(long work, long[] values);
    public abstract long[] Handoffs(int count);
    public abstract long[] Advance(string during, int ms);

    static readonly Dictionary<string, Questions> Warm = new Dictionary<string, Questions>();

    /// <summary>The loops of a timer and a reference, compiled.</summary>
    public static Questions Of(string timer, string reference = Entry.Reference)
    {
        Questions loops;
        string pair = timer + "/" + reference;
        if (!Warm.TryGetValue(pair, out loops))
        {
            Type[] clocks = { Entry.Of(timer).Clock, Entry.Of(reference).Clock };
            loops = (Questions)Activator.CreateInstance(typeof(Loops<,>).MakeGenericType(clocks));
            for (int turn = 0; turn < 50; turn++)
            {
                var few = new long[10];
                loops.Batches(turn % 7, few);
                loops.Intervals(turn % 5 * 10, few);
                loops.Readings(few);
            }
            Warm[pair] = loops;
        }
        return loops;
    }
}

/// <summary>
/// The hot loops. The type arguments are structures, so that the runtime compiles the loops for each pair of them.
/// </summary>
sealed class Loops<T, R> : Questions where T : struct, IClock where R : struct, IClock
{
    T timer;
    R reference;
    long state = 1;
    /// <summary>The result of the last call, stored so that the call is not removed.</summary>
    public long Kept;
    volatile bool over;

    public override long Read() { return timer.Read(); }

    public override void Intervals(long work, long[] differences)
    {
        long worked = state;
        for (int at = 0; at < differences.Length; at++)
        {
            long first = timer.Read();
            for (long left = work; left != 0; left--) worked = worked * 6364136223846793005L + left;
            differences[at] = timer.Read() - first;
        }
        state = worked;
    }

    public override void Batches(long calls, long[] differences)
    {
        for (int at = 0; at < differences.Length; at++)
        {
            long first = reference.Read();
            for (long left = calls; left != 0; left--) Kept = timer.Read();
            differences[at] = reference.Read() - first;
        }
    }

    public override void Readings(long[] readings)
    {
        for (int at = 0; at < readings.Length; at++) readings[at] = timer.Read();
    }

    /// <summary>For each three elements: stores readings of the reference, the timer and the reference, then works.</summary>
    public override void Comparisons(long work, long[] values)
    {
        long worked = state;
        for (int at = 0; at + 2 < values.Length; at += 3)
        {
            values[at] = reference.Read();
            values[at + 1] = timer.Read();
            values[at + 2] = reference.Read();
            for (long left = work; left != 0; left--) worked = worked * 6364136223846793005L + left;
        }
        state = worked;
    }

    public override long[] Handoffs(int count)
    {
        var readings = new long[2 * count];
        var turn = new int[1];
        var other = new Thread(() => Take(turn, readings, 1));
        other.Start();
        Take(turn, readings, 0);
        other.Join();
        return readings;
    }

    /// <summary>Does the reads of one of two threads. The roles alternate: thread 0 makes the readings 0, 3, 4, 7, 8 ...</summary>
    void Take(int[] turn, long[] readings, int thread)
    {
        for (int at = 0; at < readings.Length; at++)
        {
            if ((at + 1) / 2 % 2 != thread) continue;
            var wait = new SpinWait();
            while (Volatile.Read(ref turn[0]) != at) wait.SpinOnce();
            readings[at] = timer.Read();
            Volatile.Write(ref turn[0], at + 1);
        }
    }

    public override long[] Advance(string during, int ms)
    {
        if (during != "spin" && during != "sleep" && during != "other-spin")
            throw new Refusal("`" + during + "` is none of spin, sleep, other-spin");
        over = false;
        var other = new Thread(() => { while (!over) {} });
        if (during == "other-spin") other.Start();
        // The first read of each clock is dropped, because it finds cold caches.
        reference.Read();
        timer.Read();
        long startReference = reference.Read(), start = timer.Read();
        if (during == "spin")
            for (long end = DateTime.UtcNow.Ticks + ms * 10000L; DateTime.UtcNow.Ticks < end;) {}
        else
            Thread.Sleep(ms);
        long endReference = reference.Read(), timerEnd = timer.Read();
        over = true;
        if (during == "other-spin") other.Join();
        return new[] { timerEnd - start, endReference - startReference };
    }
}
