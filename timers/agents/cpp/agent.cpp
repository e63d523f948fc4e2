// Answers questions about the clocks of C and C++ in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are
// filled in from clocks.json.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cmath>
#include <ctime>
#include <iostream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>
#ifdef _OPENMP
#include <omp.h>
#define HAS_OPENMP 1
#endif
#ifdef WITH_MPI
#include <mpi.h>
#define HAS_MPI 1
#endif
#if __has_include(<gnu/libc-version.h>)
#include <gnu/libc-version.h>
#endif

using Ticks = std::vector<std::int64_t>;
struct Refusal { const char *why; };

template <class Point> std::int64_t ns(Point at) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

template <class Clock> double period() { return 1e9 * Clock::period::num / Clock::period::den; }

// Rounds nanoseconds that a clock returned as a double of seconds; the rounding is exact as long as doubles hold nanoseconds.
inline std::int64_t whole(double ticks) {
    if (std::abs(ticks) > 4e15) throw Refusal{"its double no longer holds nanoseconds"};
    return std::llround(ticks);
}

inline timespec of_timespec() {
    timespec now;
    timespec_get(&now, TIME_UTC);
    return now;
}

void wait_for(std::int64_t ns) {
    static std::mutex mutex;
    static std::condition_variable never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, std::chrono::nanoseconds(ns), [] { return false; });
}

// A clock is a type, so that the loops are compiled for each clock.
template <int> struct Clock;
// each clock:
#if «if»
template <> struct Clock<«n»> {
    using Value = decltype(«call»);
    static Value read() { return «call»; }
    static std::int64_t ticks(Value v) { return «ticks»; }
};
#endif
// end each
using Reference = Clock<0>;
const char *const REFERENCE = "steady_clock";
template <int> struct Waiter;
// each waiter:
template <> struct Waiter<«n»> { static void wait([[maybe_unused]] std::int64_t ns) { «wait»; } };
// end each

static volatile std::uint64_t kept_work;

static inline std::uint64_t work(std::uint64_t state, std::uint64_t units) {
    for (; units > 0; units--) {
        state = state * 6364136223846793005u + units;
#ifdef __GNUC__
        asm volatile("" : "+r"(state));
#endif
    }
    return state;
}

// Hides from the compiler that a result is unused, so that the call is not removed.
template <class Value> static inline void keep(Value &value) {
#ifdef __GNUC__
    asm volatile("" : : "g"(&value) : "memory");
#endif
}

template <class Clock> Ticks intervals(std::uint64_t units, std::size_t repeat) {
    std::vector<typename Clock::Value> first(repeat), second(repeat);
    std::uint64_t state = kept_work;
    for (std::size_t at = 0; at < repeat; at++) {
        first[at] = Clock::read();
        state = work(state, units);
        second[at] = Clock::read();
    }
    kept_work = state;
    Ticks values(repeat);
    for (std::size_t at = 0; at < repeat; at++) values[at] = Clock::ticks(second[at]) - Clock::ticks(first[at]);
    return values;
}

template <class Clock> Ticks batches(std::uint64_t calls, std::size_t repeat) {
    std::vector<Reference::Value> first(repeat), second(repeat);
    for (std::size_t at = 0; at < repeat; at++) {
        first[at] = Reference::read();
        for (std::uint64_t left = calls; left > 0; left--) {
            auto value = Clock::read();
            keep(value);
        }
        second[at] = Reference::read();
    }
    Ticks values(repeat);
    for (std::size_t at = 0; at < repeat; at++) values[at] = Reference::ticks(second[at]) - Reference::ticks(first[at]);
    return values;
}

template <class Clock> Ticks readings(std::size_t count) {
    std::vector<typename Clock::Value> first(count);
    for (auto &value : first) value = Clock::read();
    Ticks values;
    for (auto value : first) values.push_back(Clock::ticks(value));
    return values;
}

template <class Clock> Ticks comparisons(std::uint64_t units, std::size_t count) {
    std::vector<Reference::Value> before(count), after(count);
    std::vector<typename Clock::Value> first(count);
    std::uint64_t state = kept_work;
    for (std::size_t at = 0; at < count; at++) {
        before[at] = Reference::read();
        first[at] = Clock::read();
        after[at] = Reference::read();
        state = work(state, units);
    }
    kept_work = state;
    Ticks values;
    for (std::size_t at = 0; at < count; at++)
        values.insert(values.end(), {Reference::ticks(before[at]), Clock::ticks(first[at]), Reference::ticks(after[at])});
    return values;
}

static std::int64_t now() { return Reference::ticks(Reference::read()); }

static void compute(std::int64_t ns) {
    for (std::int64_t end = now() + ns; now() < end;) kept_work = work(kept_work, 10);
}

template <class Clock> Ticks advance(int during, std::int64_t ms) {
    std::atomic<bool> over{during != 2};
    std::thread other([&over] { while (!over) kept_work = work(kept_work, 100); });
    auto read = [] { return std::pair(Reference::read(), Clock::read()); };
    // The first read of each clock is dropped, because it finds cold caches.
    read();
    auto start = read();
    during == 0 ? compute(ms * 1000000) : std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    auto end = read();
    over = true;
    other.join();
    return {Clock::ticks(end.second) - Clock::ticks(start.second), Reference::ticks(end.first) - Reference::ticks(start.first)};
}

// Two threads read in turn. Thread 0 makes the readings 0, 3, 4, 7 ..., so that the roles alternate.
template <class Clock> Ticks handoffs(std::size_t count) {
    std::vector<typename Clock::Value> readings(2 * count);
    std::atomic<std::size_t> turn{0};
    auto take = [&](std::size_t thread) {
        for (std::size_t at = 0; at < readings.size(); at++) {
            if ((at + 1) / 2 % 2 != thread) continue;
            // On one CPU the other thread runs only after a yield.
            for (int spins = 0; turn.load(std::memory_order_acquire) != at; spins++) if (spins > 1000) std::this_thread::yield();
            readings[at] = Clock::read();
            turn.store(at + 1, std::memory_order_release);
        }
    };
    std::thread other(take, 1);
    take(0);
    other.join();
    Ticks values;
    for (auto value : readings) values.push_back(Clock::ticks(value));
    return values;
}

static std::int64_t cpu_ns() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
#else
    return 0;
#endif
}

// Waits for a pause. Its end is computed, because sleeping ends late.
static void pause_for(std::int64_t ns) {
    std::int64_t end = now() + ns;
    if (ns > 200000) std::this_thread::sleep_for(std::chrono::nanoseconds(ns - 200000));
    compute(end - now());
}

template <class Waiter> Ticks waits(std::int64_t pause, std::size_t repeat, const Ticks &lengths) {
    static std::mt19937_64 random{std::random_device{}()};
    Ticks values;
    for (std::size_t turn = 0; turn < repeat * lengths.size(); turn++) {
        std::int64_t ns = lengths[turn % lengths.size()];
        pause_for(pause == 0 ? 0 : random() % pause);
        std::int64_t cpu = cpu_ns();
        auto before = Reference::read();
        Waiter::wait(ns);
        auto after = Reference::read();
        cpu = cpu_ns() - cpu;
        values.insert(values.end(), {std::int64_t(turn % lengths.size()), Reference::ticks(before), Reference::ticks(after), cpu, -1});
    }
    return values;
}

template <class Waiter> Ticks periods(std::int64_t period, std::size_t count) {
    Ticks values;
    for (std::size_t at = 0; at < count; at++) {
        Waiter::wait(period);
        values.insert(values.end(), {now(), 1});
    }
    return values;
}

template <class Clock> Ticks answer(const std::string &op, const Ticks &amounts) {
    auto at = [&amounts](std::size_t which) { return amounts.at(which); };
    if (op == "intervals") {
        Ticks values;
        for (std::size_t row = 1; row < amounts.size(); row++)
            for (auto value : intervals<Clock>(at(row), at(0))) values.push_back(value);
        return values;
    }
    if (op == "batches") return batches<Clock>(at(0), at(1));
    if (op == "readings") return readings<Clock>(at(0));
    if (op == "comparisons") return comparisons<Clock>(at(0), at(1) * at(2));
    if (op == "advance") return advance<Clock>(at(0), at(1));
    if (op == "handoffs") {
        if (amounts.size() > 1) throw Refusal{"C++ cannot choose the CPUs of its threads"};
        return handoffs<Clock>(at(0));
    }
    throw Refusal{"this agent does not know the question"};
}

static Ticks dispatch(const std::string &op, const std::string &id, const Ticks &amounts) {
    bool is_waits = op == "waits";
// each waiter:
    if (id == "«id»" && (is_waits || op == "periods"))
        return is_waits ? waits<Waiter<«n»>>(amounts.at(0), amounts.at(1), Ticks(amounts.begin() + 2, amounts.end()))
                        : periods<Waiter<«n»>>(amounts.at(0), amounts.at(1));
// end each
// each clock:
#if «if»
    if (id == "«id»") return answer<Clock<«n»>>(op, amounts);
#endif
// end each
    throw Refusal{"this agent has no such timer"};
}

static void hello() {
    std::cout << "{\"protocol\":1,\"ops\":[],\"runtime\":{";
#ifdef __clang__
    std::cout << "\"name\":\"Clang\",\"version\":\"" << __clang_version__;
#elif defined(__GNUC__)
    std::cout << "\"name\":\"GCC\",\"version\":\"" << __VERSION__;
#else
    std::cout << "\"name\":\"C++\",\"version\":\"" << __cplusplus;
#endif
#ifdef __GLIBCXX__
    std::cout << ", libstdc++ " << __GLIBCXX__;
#elif defined(_LIBCPP_VERSION)
    std::cout << ", libc++ " << _LIBCPP_VERSION;
#endif
#ifdef __GLIBC__
    std::cout << ", glibc " << gnu_get_libc_version();
#endif
#ifdef HAS_MPI
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    if (MPI_Get_library_version(library, &length) == MPI_SUCCESS)
        std::cout << ", " << std::string(library, length).substr(0, std::string(library, length).find(','));
#endif
    std::string timers, missing;
// each clock:
#if «if»
    timers += ",{\"id\":\"«id»\",\"resolution_ns\":" + (double(«resolution») > 0 ? std::to_string(double(«resolution»)) : "null") + "}";
#else
    missing += ",{\"id\":\"«id»\",\"reason\":\"«lacks»\",\"remedy\":\"«remedy»\"}";
#endif
// end each
    std::cout << "\"},\"timers\":[" << timers.substr(1) << "],\"unavailable\":[" << (missing.empty() ? "" : missing.substr(1)) << "]}";
}

// The keys and values of a line of JSON, in their order.
static std::vector<std::string> words_of(std::string line) {
    for (std::size_t at = 0; (at = line.find("\":")) != std::string::npos;) line.replace(at, 2, "  ");
    for (char &c : line) if (std::string("{}[]\",").find(c) != std::string::npos) c = ' ';
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), {}};
}

static void reply(const std::string &line) {
    auto words = words_of(line);
    std::string op = words.at(1);
    if (op == "hello") return hello();
    Ticks amounts;
    for (std::size_t at = 4; at < words.size(); at++) {
        const std::string &word = words[at];
        if (word == "reference" && words.at(at + 1) != REFERENCE) throw Refusal{"this agent has one reference only"};
        if (word == "during") amounts.push_back(words.at(at + 1) == "spin" ? 0 : words[at + 1] == "sleep" ? 1 : 2);
        if (std::isdigit(word[0]) || word[0] == '-') amounts.push_back(std::stoll(word));
    }
    std::string values;
    for (auto value : dispatch(op, words.at(3), amounts)) values += ',' + std::to_string(value);
    // All are loops of waits.
    std::cout << (op == "periods" ? "{\"start\":null," : "{") << "\"values\":[" << values.substr(!values.empty()) << "]}";
}

int main() {
    for (std::string line; std::getline(std::cin, line); std::cout << std::endl) {
        try {
            reply(line);
        } catch (const Refusal &refusal) {
            std::cout << "{\"error\":\"" << refusal.why << "\"}";
        } catch (const std::exception &why) {
            std::cout << "{\"error\":\"the question cannot be answered: " << why.what() << "\"}";
        }
    }
}
