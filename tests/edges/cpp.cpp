// Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
#include <chrono>
#include <cstdio>
#include <ctime>
template <class Read> void print(const char *id, double unit, Read read) {
    static long long all[20000];
    for (auto &one : all) one = read();
    std::printf("%s %.17g", id, unit);
    for (auto one : all) std::printf(" %lld", one);
    std::puts("");
}
int main() {
    print("steady_clock", 1, [] { return (long long)std::chrono::steady_clock::now().time_since_epoch().count(); });
    print("clock", 1e9 / CLOCKS_PER_SEC, [] { return (long long)clock(); });
}
