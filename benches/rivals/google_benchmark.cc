// A read of the monotonic clock as google/benchmark times it: in a row, in a loop of its own.
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
