// Reads the clocks of a CUDA device: the instructions, the places where they run, and the loops of the agent.
#pragma once
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

using Tick = std::int64_t;

#ifdef __CUDACC__
// Registers and accesses that PTX has and CUDA C++ does not name. `volatile` and `memory` keep their order; ptxas removes a read all the
// same if its result is unused.
__device__ __forceinline__ Tick read_globaltimer() {
    Tick now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) : : "memory");
    return now;
}
__device__ __forceinline__ Tick read_clock64() {
    Tick now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now) : : "memory");
    return now;
}
__device__ __forceinline__ std::uint32_t read_clock() {
    std::uint32_t now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now) : : "memory");
    return now;
}
__device__ __forceinline__ unsigned multiprocessor() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}
// Handovers within the device, and between host and device.
__device__ __forceinline__ unsigned load_acquire(const unsigned *from) {
    unsigned value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}
__device__ __forceinline__ void store_release(unsigned *to, unsigned value) {
    asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}
__device__ __forceinline__ unsigned load_from_host(const unsigned *from) {
    unsigned value;
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}
__device__ __forceinline__ void store_to_host(unsigned *to, unsigned value) {
    asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(to), "r"(value) : "memory");
}
#endif

// A clock is a type, so that the loops are compiled for each clock. `call` is a read in a batch, `widen` makes 64 bits of a reading.
struct Globaltimer {
    using Value = Tick;
    static __device__ __forceinline__ Value read() { return read_globaltimer(); }
    static __device__ __forceinline__ Value call(unsigned) { return read(); }
    static __device__ __forceinline__ Tick widen(Value now) { return now; }
};
struct Clock64 {
    using Value = Tick;
    static __device__ __forceinline__ Value read() { return read_clock64(); }
    static __device__ __forceinline__ Value call(unsigned) { return read(); }
    static __device__ __forceinline__ Tick widen(Value now) { return now; }
};
struct Clock {
    using Value = std::uint32_t;
    static __device__ __forceinline__ Value read() { return read_clock(); }
    static __device__ __forceinline__ Value call(unsigned) { return read(); }
    // %clock is the lower half of %clock64, which is read less than 2^31 cycles later.
    static __device__ __forceinline__ Tick widen(Value now) {
        Tick later = read_clock64();
        return later - Value(Value(later) - now);
    }
};
struct Null {
    using Value = Tick;
    static __device__ __forceinline__ Value read() { return 0; }
    // Not a constant, because ptxas would remove the loop around it.
    static __device__ __forceinline__ Value call(unsigned left) { return left; }
    static __device__ __forceinline__ Tick widen(Value now) { return now; }
};

template <class Value> __device__ __forceinline__ Tick difference(Value first, Value second) {
    return std::make_signed_t<Value>(second - first);
}

// More units of work, or calls, between two reads are refused: they take up to a second, %clock wraps after two, and a device with a display
// ends kernels after two.
constexpr unsigned MAX_AMOUNT = 50000000;
// The longest sleep of __nanosleep, in nanoseconds.
constexpr unsigned MAX_SLEEP = 1000000;
// A longer wait, in nanoseconds, is refused.
constexpr Tick MAX_WAIT = 500000000;
// Cycles after which a block no longer waits for another.
constexpr Tick PATIENCE = Tick(1) << 31;

// A unit depends on the previous one; the empty instruction hides from the compiler what it computes.
__host__ __device__ __forceinline__ unsigned work(unsigned state, unsigned units) {
#pragma unroll 1
    for (; units > 0; units--) {
        state = state * 1664525u + units;
        asm volatile("" : "+r"(state));
    }
    return state;
}

// What a kernel leaves. `kept` has all bits of a reading: ptxas reads no others.
struct Report {
    unsigned arrived, answered;
    Tick kept;
};

// Where a kernel answers: all multiprocessors get a block, because a launch cannot choose one, and only that of `place` continues.
struct Stage {
    Report *report;
    unsigned place;

    // Blocks fill a multiprocessor each, so no block is the second on one once all have arrived.
    __device__ bool all_arrive() const {
        Tick begin = read_clock64();
        atomicAdd(&report->arrived, 1);
        while (load_acquire(&report->arrived) < gridDim.x)
            if (read_clock64() - begin > PATIENCE) return false;
        return true;
    }
    __device__ bool enter() const { return all_arrive() && multiprocessor() == place; }
    __device__ void leave() const { atomicAdd(&report->answered, 1); }
    __device__ void leave(Tick kept) const {
        report->kept = kept;
        leave();
    }
};

// In the loops, negative turns warm up the caches, and comparisons with MAX_AMOUNT wait for an amount before the first read.
template <class C> __global__ void intervals(Stage stage, Tick *values, const unsigned *amounts, int count) {
    if (!stage.enter()) return;
    unsigned state = stage.place;
#pragma unroll 1
    for (int at = -2; at < count; at++) {
        unsigned units = at < 0 ? at + 2 : amounts[at];
        if (units > MAX_AMOUNT) break;
        auto first = C::read();
        state = work(state, units);
        auto second = C::read();
        values[at < 0 ? 0 : at] = difference(first, second);
    }
    stage.leave(state);
}

template <class C, class R> __global__ void batches(Stage stage, Tick *values, unsigned calls, int count) {
    if (!stage.enter()) return;
    typename C::Value kept = 0;
#pragma unroll 1
    for (int at = -2; at < count; at++) {
        unsigned left = at < 0 ? at + 2 : calls;
        if (left > MAX_AMOUNT) break;
        auto first = R::read();
#pragma unroll 1
        for (; left > 0; left--) kept ^= C::call(left);
        auto second = R::read();
        values[at < 0 ? 0 : at] = difference(first, second);
    }
    stage.leave(kept);
}

template <class C> __global__ void readings(Stage stage, Tick *values, int count) {
    if (!stage.enter()) return;
#pragma unroll 1
    for (int at = -2; at < count; at++) {
        auto now = C::read();
        values[at < 0 ? 0 : at] = C::widen(now);
    }
    stage.leave();
}

template <class C, class R> __global__ void comparisons(Stage stage, Tick *values, unsigned units, int rounds, int repeat) {
    if (!stage.enter()) return;
    unsigned state = stage.place;
#pragma unroll 1
    for (int round = -1; round < rounds; round++) {
        Tick *to = values + 3 * Tick(repeat) * (round < 0 ? 0 : round);
#pragma unroll 1
        for (int at = 0; at < repeat; at++, to += 3) {
            auto before = R::read();
            auto now = C::read();
            auto after = R::read();
            to[0] = R::widen(before);
            to[1] = C::widen(now);
            to[2] = R::widen(after);
        }
        state = work(state, round < 0 ? 1 : units);
    }
    stage.leave(state);
}

template <class C, class R> __global__ void advance(Stage stage, Tick *values, Tick ns, bool sleeps) {
    if (!stage.enter()) return;
    unsigned state = stage.place;
#pragma unroll 1
    for (int turn = -1; turn < 2; turn++) {
        auto reference = R::read();
        auto now = C::read();
        Tick *to = values + (turn > 0 ? 2 : 0);
        to[0] = C::widen(now);
        to[1] = R::widen(reference);
        if (turn != 0) continue;
        for (Tick end = read_globaltimer() + ns; read_globaltimer() < end;) {
            if (sleeps) __nanosleep(MAX_SLEEP / 10);
            else state = work(state, 10);
        }
    }
    stage.leave(state);
}

// `places` are the multiprocessors of all pairs, `turns` a number for each pair, 128 bytes apart. Side 0 of a pair makes the readings 0, 3,
// 4, 7 ..., so that the roles alternate.
template <class C> __global__ void handoffs(Stage stage, Tick *values, const unsigned *places, int pairs, unsigned *turns, int count) {
    Tick begin = read_clock64();
    if (!stage.all_arrive()) return;
    int part = 0;
    while (part < 2 * pairs && places[part] != multiprocessor()) part++;
    if (part == 2 * pairs) return;
    unsigned *turn = turns + part / 2 * 32;
    values += Tick(part / 2) * 2 * count;
#pragma unroll 1
    for (int at = 0; at < 2 * count; at++) {
        if ((at + 1) / 2 % 2 != part % 2) continue;
        while (load_acquire(turn) != unsigned(at))
            if (read_clock64() - begin > PATIENCE) return;
        auto now = C::read();
        values[at] = C::widen(now);
        store_release(turn, at + 1);
    }
    stage.leave();
}

// Lengths of waits and of the pauses before them, in nanoseconds.
struct Rest { Tick ns, pause; };

// Without `sleeps` the wait returns at once. A long wait is a sequence of sleeps, because __nanosleep shortens requests.
template <class R> __global__ void waits(Stage stage, Tick *values, const Rest *rests, int count, bool sleeps) {
    if (!stage.enter()) return;
    unsigned state = stage.place;
#pragma unroll 1
    for (int at = -1; at < count; at++) {
        Rest rest = at < 0 ? Rest{0, 0} : rests[at];
        for (Tick end = read_globaltimer() + rest.pause; read_globaltimer() < end;) state = work(state, 10);
        Tick left = sleeps ? rest.ns : -1;
        if (left > MAX_WAIT) break;
        auto before = R::read();
        for (; left >= 0; left = left > MAX_SLEEP ? left - MAX_SLEEP : -1) __nanosleep(left > MAX_SLEEP ? MAX_SLEEP : unsigned(left));
        auto after = R::read();
        Tick *to = values + 2 * (at < 0 ? 0 : at);
        to[0] = R::widen(before);
        to[1] = R::widen(after);
    }
    stage.leave(state);
}

// Makes a reading for each ring of the host, between two readings of the host.
template <class C> __global__ void answer_host(Stage stage, Tick *values, const unsigned *rings, unsigned *answers, unsigned count) {
    if (!stage.enter()) return;
    for (unsigned at = 0; at < count; at++) {
        for (Tick since = read_clock64(); load_from_host(rings) <= at;)
            if (read_clock64() - since > PATIENCE) return;
        auto now = C::read();
        values[at] = C::widen(now);
        store_to_host(answers, at + 1);
    }
    stage.leave();
}

static __global__ void find_place(Stage stage, unsigned *places) {
    if (!stage.all_arrive()) return;
    places[blockIdx.x] = multiprocessor();
    stage.leave();
}

static __global__ void compute(unsigned units, unsigned *kept) { *kept = work(units, units); }
