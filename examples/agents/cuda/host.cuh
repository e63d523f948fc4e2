// Runs kernels on the device and checks all calls of the CUDA runtime.
#pragma once
#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device.cuh"

using Ticks = std::vector<Tick>;
struct Refusal {
    std::string why, remedy;
};

static std::string remedy(cudaError_t error) {
    switch (error) {
    case cudaErrorNoDevice:
        return "run it on a machine with an NVIDIA GPU; give a container its GPU (docker run --gpus all); see CUDA_VISIBLE_DEVICES";
    case cudaErrorInsufficientDriver:
        return "build with an nvcc that is not newer than the CUDA version that `nvidia-smi` prints, or install a newer driver";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
        return "build the agent on this machine, or with -arch=sm_NN of its device";
    default:
        return "";
    }
}

static void check(cudaError_t error, const char *call) {
    if (error == cudaSuccess) return;
    std::string name(call);
    throw Refusal{name.substr(0, name.find('(')) + ": " + cudaGetErrorString(error), remedy(error)};
}
#define CHECK(call) check(call, #call)

// Memory of the device.
template <class T> struct Buffer {
    T *at = nullptr;
    explicit Buffer(std::size_t count) {
        CHECK(cudaMalloc(&at, count * sizeof(T)));
        CHECK(cudaMemset(at, 0, count * sizeof(T)));
    }
    explicit Buffer(const std::vector<T> &values) : Buffer(values.size()) {
        CHECK(cudaMemcpy(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    Buffer(const Buffer &) = delete;
    ~Buffer() { cudaFree(at); }
    std::vector<T> take(std::size_t count) const {
        std::vector<T> values(count);
        CHECK(cudaMemcpy(values.data(), at, count * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
};

struct Device {
    cudaDeviceProp properties{};
    // The ids of the multiprocessors, which may have gaps.
    std::vector<unsigned> places;
    std::unique_ptr<Buffer<Report>> report;

    Device() {
        int driver = 0;
        CHECK(cudaDriverGetVersion(&driver));
        if (driver == 0) throw Refusal{"there is no NVIDIA driver", "install one; in a container, start it with its GPU (docker run --gpus all)"};
        CHECK(cudaGetDeviceProperties(&properties, 0));
        report = std::make_unique<Buffer<Report>>(1);
        unsigned count = properties.multiProcessorCount;
        Buffer<unsigned> found(count);
        places = {0};
        launch(find_place, found.at);
        finish(count);
        places = found.take(count);
        std::sort(places.begin(), places.end());
        if (std::unique(places.begin(), places.end()) != places.end())
            throw Refusal{"two blocks shared a multiprocessor although each fills one", "run nothing else on the device, and no MPS"};
    }

    // Starts a block on every multiprocessor. Each has more than half of its shared memory.
    template <class... P, class... A> void launch(void (*kernel)(Stage, P...), const A &...arguments) {
        cudaLaunchAttribute together{};
        together.id = cudaLaunchAttributeCooperative;
        together.val.cooperative = 1;
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(properties.multiProcessorCount);
        config.blockDim = dim3(1);
        config.dynamicSmemBytes = properties.sharedMemPerBlockOptin;
        config.attrs = &together;
        config.numAttrs = 1;
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(config.dynamicSmemBytes)));
        CHECK(cudaMemsetAsync(report->at, 0, sizeof(Report)));
        CHECK(cudaLaunchKernelEx(&config, kernel, Stage{report->at, places[0]}, arguments...));
    }

    void finish(unsigned blocks) {
        CHECK(cudaDeviceSynchronize());
        if (report->take(1)[0].answered != blocks) throw Refusal{"not all multiprocessors answered in time", "run nothing else on the device"};
    }

    template <class... P, class... A> Ticks ask(std::size_t count, void (*kernel)(Stage, Tick *, P...), const A &...arguments) {
        Buffer<Tick> values(count);
        launch(kernel, values.at, arguments...);
        finish(1);
        return values.take(count);
    }
};

static Device &device() {
    static Device only;
    return only;
}

static Tick host_now(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return Tick(now.tv_sec) * 1000000000 + now.tv_nsec;
}

// A kernel that reads a clock each time the host rings.
template <class C> class Ringing {
    unsigned count, *ring = nullptr, *answer = nullptr;
    Buffer<Tick> values;

public:
    explicit Ringing(unsigned count) : count(count), values(count) {
        CHECK(cudaHostAlloc(&ring, 256, cudaHostAllocMapped));
        answer = ring + 32;
        *ring = *answer = 0;
        device().launch(answer_host<C>, values.at, ring, answer, count);
    }
    Ringing(const Ringing &) = delete;
    ~Ringing() {
        cudaDeviceSynchronize();
        cudaFreeHost(ring);
    }
    // Returns as soon as the device has read its clock.
    void wait_for_reading() {
        unsigned next = *ring + 1;
        __atomic_store_n(ring, next, __ATOMIC_RELEASE);
        Tick since = host_now(CLOCK_MONOTONIC);
        for (int turn = 0; __atomic_load_n(answer, __ATOMIC_ACQUIRE) < next; turn++) {
            if (turn > 1000) std::this_thread::yield();
            if (host_now(CLOCK_MONOTONIC) - since > 4000000000) throw Refusal{"the device did not read its clock within four seconds", ""};
        }
    }
    Ticks take() {
        device().finish(1);
        return values.take(count);
    }
};
