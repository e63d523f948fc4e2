// Answers for cudaEventElapsedTime, whose events a thread of the host records.
#pragma once
#include <chrono>
#include <cmath>
#include <thread>

#include "question.cuh"

// Events, recorded in turn in a stream of their own. The reading of an event is the sum of all times from each to the next.
struct Events {
    // A time of cudaEventElapsedTime is a float of milliseconds. In this unit all from 32 ns on are whole.
    static constexpr int TICKS_PER_MS_LOG2 = 38;
    static constexpr int COUNT = 256;
    cudaEvent_t events[COUNT];
    cudaStream_t stream;
    Buffer<unsigned> kept{1};
    Tick reading = 0;

    Events() {
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (auto &event : events) CHECK(cudaEventCreate(&event));
        record(0);
    }
    void record(int at) { CHECK(cudaEventRecord(events[at], stream)); }
    // Makes the device compute between two events.
    void compute_between(unsigned units) {
        cudaLaunchConfig_t config{};
        config.gridDim = config.blockDim = dim3(1);
        config.stream = stream;
        CHECK(cudaLaunchKernelEx(&config, compute, units, kept.at));
    }
    Tick elapsed(int from, int to) {
        float ms;
        CHECK(cudaEventElapsedTime(&ms, events[from], events[to]));
        return std::llround(std::ldexp(double(ms), TICKS_PER_MS_LOG2));
    }
    void wait_for(int at) { CHECK(cudaEventSynchronize(events[at])); }
    // Returns the readings of the events from 1 on. The last of them becomes event 0.
    Ticks take(int count) {
        wait_for(count);
        Ticks values;
        for (int at = 1; at <= count; at++) values.push_back(reading += elapsed(at - 1, at));
        std::swap(events[0], events[count]);
        return values;
    }
};

static Events &events() {
    static Events all;
    return all;
}

static Ticks event_intervals(const Question &question) {
    constexpr std::size_t MAX_PART = Events::COUNT / 2 - 1;
    Ticks values;
    auto amounts = question.intervals();
    for (std::size_t begin = 0; begin < amounts.size(); begin += MAX_PART) {
        int part = int(std::min(amounts.size() - begin, MAX_PART));
        for (int at = 0; at < part; at++) {
            events().record(2 * at + 1);
            events().compute_between(amounts[begin + at]);
            events().record(2 * at + 2);
        }
        events().wait_for(2 * part);
        for (int at = 0; at < part; at++) values.push_back(events().elapsed(2 * at + 1, 2 * at + 2));
    }
    return values;
}

static Ticks event_readings(Tick count) {
    Ticks values;
    for (Tick left = count; left > 0; left -= Events::COUNT - 1) {
        int part = int(std::min<Tick>(left, Events::COUNT - 1));
        for (int at = 1; at <= part; at++) events().record(at);
        append(values, events().take(part));
    }
    return values;
}

// The device reads R before and after the host records events.
template <class R> static Ticks event_batches(Tick calls, Tick repeat) {
    Ticks values;
    in_parts(repeat, [&](Tick) { return calls * 100; }, [&](Tick, int part) {
        Ringing<R> ringing(2 * part);
        for (int at = 0; at < part; at++) {
            ringing.wait_for_reading();
            for (Tick call = 0; call < calls; call++) events().record(1 + call % (Events::COUNT - 1));
            ringing.wait_for_reading();
        }
        Ticks read = ringing.take();
        for (int at = 0; at < part; at++) values.push_back(read[2 * at + 1] - read[2 * at]);
    });
    return values;
}

// An event happens when the device has executed it, so the host waits for it before the device reads R again.
template <class R> static Ticks event_comparisons(unsigned units, Tick rounds, Tick repeat) {
    Ticks values;
    for (Tick round = 0; round < rounds; round++) {
        Ringing<R> ringing(2 * repeat);
        Ticks readings;
        for (Tick at = 0; at < repeat; at++) {
            ringing.wait_for_reading();
            events().record(1);
            append(readings, events().take(1));
            ringing.wait_for_reading();
        }
        Ticks read = ringing.take();
        for (Tick at = 0; at < repeat; at++) append(values, {read[2 * at], readings[at], read[2 * at + 1]});
        events().compute_between(units);
    }
    return values;
}

template <class R> static Ticks event_advance(bool sleeps, Tick ms) {
    Ringing<R> ringing(3);
    Tick end = 0;
    for (int turn = 0; turn < 3; turn++) {
        if (turn == 2 && sleeps) std::this_thread::sleep_for(std::chrono::milliseconds(ms));
        while (host_now(CLOCK_MONOTONIC) < end) {}
        ringing.wait_for_reading();
        events().record(1 + turn);
        events().wait_for(1 + turn);
        if (turn == 1) end = host_now(CLOCK_MONOTONIC) + ms * 1000000;
    }
    Ticks read = ringing.take();
    return {events().elapsed(2, 3), read[2] - read[1]};
}

static Ticks answer_event(const std::string &op, const Question &question) {
    if (op == "intervals") return event_intervals(question);
    if (op == "readings") return event_readings(question.number("count"));
    if (op == "order") return order(event_readings(question.number("count")));
    if (op == "handoffs") throw Refusal{"one thread of the host records events", ""};
    return with_reference(question.word("reference"), [&](auto r) {
        using R = decltype(r);
        if (op == "batches") return event_batches<R>(question.number("calls", MAX_AMOUNT / 1000), question.number("repeat"));
        if (op == "advance") return event_advance<R>(question.sleeps(), question.number("ms", 500));
        auto [units, rounds, repeat] = question.comparisons();
        return event_comparisons<R>(units, rounds, repeat);
    });
}
