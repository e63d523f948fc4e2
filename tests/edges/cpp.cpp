// Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
#include <chrono>
#include <cstdio>
#include <ctime>
#ifdef _OPENMP
#include <omp.h>
#endif
template <class Read> void print(const char *id, double unit, Read read) {
    static long long all[20000];
    for (auto &one : all) one = read();
    std::printf("%s %.17g", id, unit);
    for (auto one : all) std::printf(" %lld", one);
    std::puts("");
}
int main() {
    print("steady_clock", 1, [] { return (long long)std::chrono::steady_clock::now().time_since_epoch().count(); });
    print("system_clock", 1, [] { return (long long)std::chrono::system_clock::now().time_since_epoch().count(); });
    print("high_resolution_clock", 1, [] { return (long long)std::chrono::high_resolution_clock::now().time_since_epoch().count(); });
    print("timespec_get", 1, [] { timespec now; timespec_get(&now, TIME_UTC); return now.tv_sec * 1000000000LL + now.tv_nsec; });
    print("clock", 1e9 / CLOCKS_PER_SEC, [] { return (long long)clock(); });
#ifdef _OPENMP
    print("omp_get_wtime", 1, [] { return (long long)(omp_get_wtime() * 1e9 + 0.5); });
#endif
}
