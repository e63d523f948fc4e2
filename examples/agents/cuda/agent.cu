// Answers questions about the clocks of a CUDA device in the agent protocol, version 1 (docs/agents.md).
#include <iostream>
#include <random>

#include "event.cuh"

// Comparisons with a clock of the host, which computes between the rounds.
template <class C> static Ticks compare_with_host(clockid_t clock, unsigned units, Tick rounds, Tick repeat) {
    Ticks values;
    volatile unsigned kept = 0;
    for (Tick round = 0; round < rounds; round++) {
        Ringing<C> ringing(repeat);
        Ticks host;
        for (Tick at = 0; at < repeat; at++) {
            host.push_back(host_now(clock));
            ringing.wait_for_reading();
            host.push_back(host_now(clock));
        }
        Ticks read = ringing.take();
        for (Tick at = 0; at < repeat; at++) append(values, {host[2 * at], read[at], host[2 * at + 1]});
        kept = work(kept, units);
    }
    return values;
}

template <class C> static Ticks hand_over(const Question &question) {
    auto &places = device().places;
    Ticks asked = question.numbers("cpus", places.size() - 1);
    if (asked.empty()) asked = {0, Tick(places.size()) - 1};
    if (asked.size() % 2 != 0) throw Refusal{"`cpus` is no list of pairs", ""};
    Tick pairs = asked.size() / 2, count = question.number("count", MAX_VALUES / asked.size());
    std::vector<unsigned> chosen;
    for (Tick place : asked) {
        if (std::count(asked.begin(), asked.end(), place) > 1) throw Refusal{"a multiprocessor takes part in one pair only", ""};
        chosen.push_back(places[place]);
    }
    if (count == 0) return {};
    Buffer<unsigned> on(chosen), turns(32 * pairs);
    Buffer<Tick> values(2 * pairs * count);
    device().launch(handoffs<C>, values.at, on.at, int(pairs), turns.at, int(count));
    device().finish(2 * pairs);
    return values.take(2 * pairs * count);
}

template <class C> static Ticks read_all(Tick count) {
    Ticks values;
    in_parts(count, [](Tick) { return 10; }, [&](Tick, int part) { append(values, device().ask(part, readings<C>, part)); });
    return values;
}

// Answers for a clock of the device.
template <class C> static Ticks answer(const std::string &op, const Question &question) {
    Ticks values;
    if (op == "intervals") {
        auto amounts = question.intervals();
        in_parts(amounts.size(), [&](Tick at) { return Tick(amounts[at]); }, [&](Tick begin, int part) {
            Buffer<unsigned> on(std::vector<unsigned>(amounts.begin() + begin, amounts.begin() + begin + part));
            append(values, device().ask(part, intervals<C>, on.at, part));
        });
        return values;
    }
    if (op == "readings") return read_all<C>(question.number("count"));
    if (op == "order") return order(read_all<C>(question.number("count")));
    if (op == "handoffs") return hand_over<C>(question);
    const std::string &reference = question.word("reference");
    if (op == "batches") {
        unsigned calls = question.number("calls", MAX_AMOUNT);
        return with_reference(reference, [&](auto r) {
            in_parts(question.number("repeat"), [&](Tick) { return Tick(calls); }, [&](Tick, int part) {
                append(values, device().ask(part, batches<C, decltype(r)>, calls, part));
            });
            return values;
        });
    }
    if (op == "advance") {
        Tick ns = question.number("ms", 500) * 1000000;
        return with_reference(reference, [&](auto r) {
            Ticks at = device().ask(4, advance<C, decltype(r)>, ns, question.sleeps());
            return Ticks{at[2] - at[0], at[3] - at[1]};
        });
    }
    auto [units, rounds, repeat] = question.comparisons();
    if (reference == "realtime") return compare_with_host<C>(CLOCK_REALTIME, units, rounds, repeat);
    if (reference == "monotonic") return compare_with_host<C>(CLOCK_MONOTONIC, units, rounds, repeat);
    return with_reference(reference, [&, units = units, rounds = rounds, repeat = repeat](auto r) {
        in_parts(rounds, [&](Tick) { return units + 30 * repeat; }, [&](Tick, int part) {
            append(values, device().ask(3 * repeat * part, comparisons<C, decltype(r)>, units, part, int(repeat)));
        });
        return values;
    });
}

static Ticks answer_waiter(bool sleeps, const Question &question) {
    static std::mt19937_64 random{std::random_device{}()};
    Ticks lengths = question.numbers("request_ns", MAX_WAIT), values;
    Tick pause = question.number("pause_ns", MAX_WAIT), repeat = question.number("repeat", MAX_VALUES / 5 / (lengths.size() + 1));
    std::vector<Rest> rests;
    for (Tick at = 0; at < repeat * Tick(lengths.size()); at++)
        rests.push_back({lengths[at % lengths.size()], pause == 0 ? 0 : Tick(random() % pause)});
    in_parts(rests.size(), [&](Tick at) { return (rests[at].ns + rests[at].pause) / 20; }, [&](Tick begin, int part) {
        Buffer<Rest> on(std::vector<Rest>(rests.begin() + begin, rests.begin() + begin + part));
        Ticks at = with_reference(question.word("reference"), [&](auto r) {
            return device().ask(2 * part, waits<decltype(r)>, on.at, part, sleeps);
        });
        for (int which = 0; which < part; which++)
            append(values, {(begin + which) % Tick(lengths.size()), at[2 * which], at[2 * which + 1], -1, -1});
    });
    return values;
}

static Ticks dispatch(const std::string &op, const Question &question) {
    const std::string &id = question.word(question.keys.count("timers") ? "timers" : "timer");
    bool is_waiter = id == "nanosleep" || id == "nothing";
    if (op == "waits" && is_waiter) return answer_waiter(id == "nanosleep", question);
    const char *ops[] = {"intervals", "batches", "readings", "order", "handoffs", "comparisons", "advance"};
    if (is_waiter || std::find(std::begin(ops), std::end(ops), op) == std::end(ops)) throw Refusal{"`" + op + "` of `" + id + "` is not answered", ""};
    if (id == "globaltimer") return answer<Globaltimer>(op, question);
    if (id == "clock64") return answer<Clock64>(op, question);
    if (id == "clock") return answer<Clock>(op, question);
    if (id == "event") return answer_event(op, question);
    if (id == "null") return answer<Null>(op, question);
    throw Refusal{"this agent has no timer `" + id + "`", ""};
}

// Text in JSON.
static std::string quoted(std::string text) {
    for (char &c : text) if (c == '"' || c == '\\' || (unsigned char)c < ' ') c = '\'';
    return '"' + text + '"';
}

static const char *const TIMERS[] = {
    R"("id":"globaltimer","label":"%globaltimer","ns_per_tick":1,"reference":true,"counts":"wall","family":"system-clock")",
    R"("id":"clock64","label":"%clock64","ns_per_tick":null,"reference":false,"family":"cpu-counter","settable":false,"slewed":false)",
    R"("id":"clock","label":"%clock, extended to 64 bits","ns_per_tick":null,"reference":false,"family":"cpu-counter","settable":false,"slewed":false)",
    R"("id":"event","label":"cudaEventElapsedTime","ns_per_tick":3.637978807091713e-06,"reference":false,"host":true,"counts":"wall","family":"other","resolution_ns":500)",
    R"("id":"null","label":"reads nothing","ns_per_tick":null,"reference":false)",
};

static std::string version(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

static void hello() {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    std::string timers, missing, about;
    try {
        device();
        events();
        for (const char *timer : TIMERS) timers += std::string(",{") + timer + "}";
        about = R"(,"device":{"name":)" + quoted(device().properties.name) + R"(,"places":)" + std::to_string(device().places.size()) +
                R"(,"cycles":"clock64"})";
    } catch (const Refusal &refusal) {
        for (const char *timer : TIMERS)
            missing += std::string(",{") + timer + R"(,"reason":)" + quoted(refusal.why) + R"(,"remedy":)" + quoted(refusal.remedy) + "}";
    }
    std::cout << R"({"protocol":1,"runtime":{"name":"CUDA","version":")" << version(runtime) << ", driver " << version(driver)
              << R"("},"timers":[)" << (timers.empty() ? "" : timers.substr(1)) << R"(],"unavailable":[)"
              << (missing.empty() ? "" : missing.substr(1))
              << R"(],"ops":["intervals","batches","readings","order","handoffs","comparisons","advance","waits"],"waiters":[)"
              << (timers.empty() ? "" : R"({"id":"nanosleep","label":"__nanosleep","ops":["waits"],"means":"blocks","unit_ns":1},)"
                                        R"({"id":"nothing","label":"returns at once","ops":["waits"],"means":"spins","unit_ns":1})")
              << "]" << about << "}";
}

static void reply(const std::string &line) {
    Question question(line);
    const std::string &op = question.word("op");
    if (op == "hello") return hello();
    std::string values;
    for (Tick value : dispatch(op, question)) values += ',' + std::to_string(value);
    std::cout << "{\"values\":[" << values.substr(!values.empty()) << "]}";
}

int main() {
    for (std::string line; std::getline(std::cin, line); std::cout << std::endl) {
        try {
            reply(line);
        } catch (const Refusal &refusal) {
            std::cout << "{\"error\":" << quoted(refusal.why + (refusal.remedy.empty() ? "" : "; " + refusal.remedy)) << "}";
        } catch (const std::exception &why) {
            std::cout << "{\"error\":" << quoted(std::string("the question cannot be answered: ") + why.what()) << "}";
        }
    }
}
