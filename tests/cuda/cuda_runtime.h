// Stands in for the CUDA runtime, so that a C++ compiler builds the agent of examples/agents/cuda for a machine without a GPU: a device of
// four multiprocessors, whose blocks are threads. %globaltimer is CLOCK_REALTIME in steps of 32 ns. %clock64 counts nanoseconds
// of CLOCK_MONOTONIC; multiprocessor n is 50 n million cycles ahead.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline

enum cudaError_t { cudaSuccess, cudaErrorNoDevice, cudaErrorInsufficientDriver, cudaErrorNoKernelImageForDevice, cudaErrorUnsupportedPtxVersion, cudaErrorMemoryAllocation };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaHostAllocMapped, cudaFuncAttributeMaxDynamicSharedMemorySize, cudaLaunchAttributeCooperative, cudaStreamNonBlocking };

constexpr unsigned STANDIN_PLACES = 4;
struct dim3 { unsigned x; dim3(unsigned x = 1) : x(x) {} };
inline thread_local dim3 blockIdx, gridDim;
inline thread_local unsigned standin_place;

struct cudaDeviceProp { char name[256]; int multiProcessorCount; std::size_t sharedMemPerBlockOptin; };
struct cudaLaunchAttribute { int id; struct { int cooperative; } val; };
struct StandinStream;
using cudaStream_t = StandinStream *;
struct cudaLaunchConfig_t { dim3 gridDim, blockDim; std::size_t dynamicSmemBytes; cudaStream_t stream; cudaLaunchAttribute *attrs; unsigned numAttrs; };
struct StandinEvent { std::int64_t ns; };
using cudaEvent_t = StandinEvent *;

inline std::int64_t standin_now(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return std::int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

inline std::int64_t read_globaltimer() { return standin_now(CLOCK_REALTIME) / 32 * 32; }
inline std::int64_t read_clock64() { return standin_now(CLOCK_MONOTONIC) + 50000000 * std::int64_t(standin_place) + (std::int64_t(7) << 40); }
inline std::uint32_t read_clock() { return std::uint32_t(read_clock64()); }
inline unsigned multiprocessor() { return standin_place; }
inline unsigned load_acquire(const unsigned *from) {
    static thread_local unsigned loads;
    if (++loads % 64 == 0) std::this_thread::yield();
    return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
inline void store_release(unsigned *to, unsigned value) { __atomic_store_n(to, value, __ATOMIC_RELEASE); }
inline unsigned load_from_host(const unsigned *from) { return load_acquire(from); }
inline void store_to_host(unsigned *to, unsigned value) { store_release(to, value); }
inline unsigned atomicAdd(unsigned *to, unsigned value) { return __atomic_fetch_add(to, value, __ATOMIC_SEQ_CST); }
inline void __nanosleep(unsigned ns) {
    timespec length{0, long(ns / 64 * 64)};
    nanosleep(&length, nullptr);
}

// The kernel of a stream that runs; all that follows in the stream, and each access of the host to memory, wait for its end.
struct StandinStream {
    std::vector<std::thread> blocks;
    void finish() {
        for (auto &block : blocks) block.join();
        blocks.clear();
    }
    ~StandinStream() { finish(); }
};
inline StandinStream standin_streams[2];

inline const char *cudaGetErrorString(cudaError_t error) { return error == cudaErrorNoDevice ? "no CUDA-capable device is detected" : "the stand-in refuses"; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int) {
    if (std::getenv("CUDA_VISIBLE_DEVICES")) return cudaErrorNoDevice;
    *properties = {"Stand-in", STANDIN_PLACES, 65536};
    return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int *version) { return *version = 13000, cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *version) { return *version = 13000, cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, int) { return *stream = &standin_streams[1], cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() {
    for (auto &stream : standin_streams) stream.finish();
    return cudaSuccess;
}
template <class T> cudaError_t cudaMalloc(T **at, std::size_t bytes) {
    *at = static_cast<T *>(std::malloc(bytes));
    return *at ? cudaSuccess : cudaErrorMemoryAllocation;
}
template <class T> cudaError_t cudaHostAlloc(T **at, std::size_t bytes, int) { return cudaMalloc(at, bytes); }
inline cudaError_t cudaFree(void *at) { return cudaDeviceSynchronize(), std::free(at), cudaSuccess; }
inline cudaError_t cudaFreeHost(void *at) { return cudaFree(at); }
inline cudaError_t cudaMemset(void *at, int value, std::size_t bytes) { return cudaDeviceSynchronize(), std::memset(at, value, bytes), cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void *at, int value, std::size_t bytes) { return cudaMemset(at, value, bytes); }
inline cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, int) { return cudaDeviceSynchronize(), std::memcpy(to, from, bytes), cudaSuccess; }
template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel *, int, int) { return cudaSuccess; }

// Blocks get their multiprocessors in reverse order.
template <class... P, class... A> cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), const A &...arguments) {
    StandinStream &stream = config->stream ? *config->stream : standin_streams[0];
    stream.finish();
    unsigned blocks = config->gridDim.x;
    std::tuple<P...> all(arguments...);
    for (unsigned block = 0; block < blocks; block++)
        stream.blocks.emplace_back([=] {
            blockIdx = dim3(block);
            gridDim = dim3(blocks);
            standin_place = STANDIN_PLACES - 1 - block;
            std::apply(kernel, all);
        });
    return cudaSuccess;
}

// Times of events are multiples of 32 ns.
inline cudaError_t cudaEventCreate(cudaEvent_t *event) { return *event = new StandinEvent{}, cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return stream->finish(), event->ns = standin_now(CLOCK_MONOTONIC) / 32 * 32, cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) { return *ms = float(double(to->ns - from->ns) / 1e6), cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
