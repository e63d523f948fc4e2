// Times a read of the monotonic clock with google/benchmark: successive reads in its loop.
#include <benchmark/benchmark.h>

#include <ctime>

static void monotonic(benchmark::State& state) {
    timespec now;
    for (auto _ : state) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        benchmark::DoNotOptimize(now);
    }
}
BENCHMARK(monotonic);
BENCHMARK_MAIN();
