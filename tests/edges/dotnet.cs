// Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
using System;
using System.Diagnostics;
using System.Linq;

static class Edges {
    static void Show(string id, double unit, Func<long> read) {
        var all = new long[20000];
        for (int at = 0; at < all.Length; at++) all[at] = read();
        Console.WriteLine(id + " " + unit.ToString("R") + " " + string.Join(" ", all.Select(one => one.ToString())));
    }

    static void Main() {
        Show("Stopwatch", 1e9 / Stopwatch.Frequency, Stopwatch.GetTimestamp);
        Show("DateTime.UtcNow", 100, () => DateTime.UtcNow.Ticks);
        Show("DateTime.Now", 100, () => DateTime.Now.Ticks);
    }
}
