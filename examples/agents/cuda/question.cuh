// Parses a question of the agent protocol, and holds what the answers of several timers share.
#pragma once
#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host.cuh"

// Units of work, or calls, after which a kernel ends and another continues: some 0.1 s.
constexpr Tick MAX_KERNEL = 5000000;
// Values of an answer.
constexpr Tick MAX_VALUES = 10000000;

// A question: the values of each key.
struct Question {
    std::map<std::string, std::vector<std::string>> keys;

    explicit Question(const std::string &line) {
        std::string key;
        for (std::size_t at = 0, end; at < line.size(); at = end) {
            end = at + 1;
            if (line[at] == '"') {
                end = line.find('"', at + 1);
                if (end == std::string::npos) throw Refusal{"the line is no JSON", ""};
                std::string word = line.substr(at + 1, end++ - at - 1);
                std::size_t next = line.find_first_not_of(' ', end);
                if (next != std::string::npos && line[next] == ':') keys[key = word];
                else keys[key].push_back(word);
            } else if (std::isdigit((unsigned char)line[at]) || line[at] == '-') {
                end = std::min(line.find_first_of(",]} ", at), line.size());
                keys[key].push_back(line.substr(at, end - at));
            }
        }
    }

    const std::vector<std::string> &words(const std::string &key) const {
        auto found = keys.find(key);
        if (found == keys.end()) throw Refusal{"the question lacks `" + key + "`", ""};
        return found->second;
    }
    const std::string &word(const std::string &key) const {
        if (words(key).size() != 1) throw Refusal{"`" + key + "` has " + std::to_string(words(key).size()) + " values, not one", ""};
        return words(key)[0];
    }
    Ticks numbers(const std::string &key, Tick most) const {
        Ticks numbers;
        for (const std::string &word : words(key)) {
            std::size_t end;
            numbers.push_back(std::stoll(word, &end));
            if (end != word.size() || numbers.back() < 0) throw Refusal{"`" + key + "` is " + word + ", no count", ""};
            if (numbers.back() > most) throw Refusal{"`" + key + "` is " + word + "; this agent refuses more than " + std::to_string(most), ""};
        }
        return numbers;
    }
    Tick number(const std::string &key, Tick most = MAX_VALUES) const {
        word(key);
        return numbers(key, most)[0];
    }
    // The work of each interval.
    std::vector<unsigned> intervals() const {
        Ticks work = numbers("work", MAX_AMOUNT);
        Tick repeat = number("repeat");
        if (Tick(work.size()) * repeat > MAX_VALUES) throw Refusal{"the answer would have more than 10000000 values", ""};
        std::vector<unsigned> amounts;
        for (Tick units : work) amounts.insert(amounts.end(), repeat, unsigned(units));
        return amounts;
    }
    // Whether the thread that reads sleeps in `advance`; else it computes.
    bool sleeps() const {
        if (word("during") == "other-spin") throw Refusal{"one thread reads and computes", ""};
        return word("during") == "sleep";
    }
    struct Comparisons {
        unsigned units;
        Tick rounds, repeat;
    };
    // Without repetitions there are no rounds.
    Comparisons comparisons() const {
        Tick rounds = number("count"), repeat = number("repeat", MAX_VALUES / std::max<Tick>(1, 3 * rounds));
        return {unsigned(number("work", MAX_AMOUNT)), repeat == 0 ? 0 : rounds, repeat};
    }
};

static void append(Ticks &values, const Ticks &more) { values.insert(values.end(), more.begin(), more.end()); }

// Calls `answer` with the type of a reference.
template <class F> static Ticks with_reference(const std::string &id, F answer) {
    if (id == "globaltimer") return answer(Globaltimer{});
    if (id == "clock64") return answer(Clock64{});
    if (id == "clock") return answer(Clock{});
    throw Refusal{"`" + id + "` is no clock of the device that can be a reference", ""};
}

// Calls `answer` with the beginning and the number of items that a kernel may process, each with its amount of work.
static void in_parts(Tick count, const std::function<Tick(Tick)> &amount, const std::function<void(Tick, int)> &answer) {
    for (Tick begin = 0, end; begin < count; begin = end) {
        Tick sum = 0;
        for (end = begin; end < count && (end == begin || sum + amount(end) < MAX_KERNEL); end++) sum += amount(end) + 10;
        answer(begin, int(end - begin));
    }
}

static Ticks order(const Ticks &readings) {
    if (readings.empty()) throw Refusal{"there is no order of no readings", ""};
    Tick backward = 0, largest = 0;
    for (std::size_t at = 1; at < readings.size(); at++) {
        Tick back = readings[at - 1] - readings[at];
        backward += back > 0;
        largest = std::max(largest, back);
    }
    return {backward, largest, readings.front(), readings.back()};
}
