// Answers questions about the clocks of Go in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are filled
// in from clocks.json.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	_ "unsafe" // For go:linkname.
)

//go:linkname nanotime runtime.nanotime
func nanotime() int64

var (
	start = time.Now()
	kept  uint64
	sink  any
)

func usage() (told syscall.Rusage) {
	syscall.Getrusage(syscall.RUSAGE_SELF, &told)
	return
}

// each clock:
func ticks«n»(v «type») int64 { return «ticks» }
func read«n»() «type»         { return «call» }

// end each
func micros(time syscall.Timeval) int64 { return int64(time.Sec)*1e6 + int64(time.Usec) }

func work(state uint64, units int64) uint64 {
	for ; units > 0; units-- {
		state = state*6364136223846793005 + uint64(units)
	}
	return state
}

// A slice for the given number of readings of the type of the first argument.
func room[T any](_ T, count int64) []T { return make([]T, count) }

func each[T any](values []T, ticks func(T) int64) []int64 {
	told := make([]int64, len(values))
	for at, value := range values {
		told[at] = ticks(value)
	}
	return told
}

func differences(first, second []int64) []int64 {
	for at := range first {
		first[at] = second[at] - first[at]
	}
	return first
}

// The functions that answer the questions about a clock, generated for each clock.
type clock struct {
	intervals   func(units, repeat int64) []int64
	batches     func(calls, repeat int64) []int64
	readings    func(count int64) []int64
	comparisons func(units, count int64) []int64
	handoffs    func(count int64) []int64
	read        func() int64
}

// each clock:
func intervals«n»(units, repeat int64) []int64 {
	first := room(read«n»(), repeat)
	second := room(read«n»(), repeat)
	state := kept
	for at := range first {
		first[at] = «call»
		state = work(state, units)
		second[at] = «call»
	}
	kept = state
	return differences(each(first, ticks«n»), each(second, ticks«n»))
}

func batches«n»(calls, repeat int64) []int64 {
	first := make([]int64, repeat)
	second := make([]int64, repeat)
	last := read«n»()
	for at := range first {
		first[at] = nanotime()
		for left := calls; left > 0; left-- {
			last = «call»
		}
		second[at] = nanotime()
	}
	sink = last
	return differences(first, second)
}

func readings«n»(count int64) []int64 {
	first := room(read«n»(), count)
	for at := range first {
		first[at] = «call»
	}
	return each(first, ticks«n»)
}

func comparisons«n»(units, count int64) []int64 {
	before := make([]int64, count)
	first := room(read«n»(), count)
	after := make([]int64, count)
	state := kept
	for at := range first {
		before[at] = nanotime()
		first[at] = «call»
		after[at] = nanotime()
		state = work(state, units)
	}
	kept = state
	told := make([]int64, 0, 3*count)
	for at := range first {
		told = append(told, before[at], ticks«n»(first[at]), after[at])
	}
	return told
}

// Two threads read in turn. Thread 0 makes the readings 0, 3, 4, 7 ..., so that the roles alternate.
func handoffs«n»(count int64) []int64 {
	values := room(read«n»(), 2*count)
	var turn atomic.Int64
	take := func(thread int) {
		for at := range values {
			if (at+1)/2%2 != thread {
				continue
			}
			for spins := 0; turn.Load() != int64(at); spins++ {
				if spins > 1000 {
					runtime.Gosched()
				}
			}
			values[at] = «call»
			turn.Store(int64(at) + 1)
		}
	}
	done := make(chan bool)
	go func() { take(1); done <- true }()
	take(0)
	<-done
	return each(values, ticks«n»)
}

// end each
var clocks = map[string]*clock{
	// each clock:
	"«id»": {intervals«n», batches«n», readings«n», comparisons«n», handoffs«n», func() int64 { return ticks«n»(read«n»()) }},
	// end each
}

var waiters = map[string]func(ns int64){
	// each waiter:
	"«id»": func(ns int64) { «wait» },
	// end each
}

func compute(ns int64) {
	for end := nanotime() + ns; nanotime() < end; {
		kept = work(kept, 10)
	}
}

// Waits for a pause. Its end is computed, because sleeping ends late.
func pause(ns int64) {
	end := nanotime() + ns
	if ns > 200e3 {
		time.Sleep(time.Duration(ns - 200e3))
	}
	compute(end - nanotime())
}

func advance(asked *clock, during, ms int64) []int64 {
	var over atomic.Bool
	if during == 2 {
		go func() {
			for !over.Load() {
			}
		}()
	}
	// The first read of each clock is dropped, because it finds cold caches.
	nanotime()
	asked.read()
	startReference, start := nanotime(), asked.read()
	if during == 0 {
		compute(ms * 1e6)
	} else {
		time.Sleep(time.Duration(ms) * time.Millisecond)
	}
	endReference, end := nanotime(), asked.read()
	over.Store(true)
	return []int64{end - start, endReference - startReference}
}

func waits(wait func(int64), most, repeat int64, lengths []int64) (values []int64) {
	for turn := 0; turn < int(repeat)*len(lengths); turn++ {
		ns := lengths[turn%len(lengths)]
		if most > 0 {
			pause(rand.Int63n(most))
		}
		cpu := usage()
		before := nanotime()
		wait(ns)
		after := nanotime()
		used := usage()
		took := 1e3 * (micros(used.Utime) + micros(used.Stime) - micros(cpu.Utime) - micros(cpu.Stime))
		values = append(values, int64(turn%len(lengths)), before, after, took, -1)
	}
	return
}

func periods(wait func(int64), period, count int64) (values []int64) {
	for at := int64(0); at < count; at++ {
		wait(period)
		values = append(values, nanotime(), 1)
	}
	return
}

func answer(op, id string, amounts []int64) ([]int64, error) {
	// If amounts are missing, the index is out of range and `reply` recovers.
	if wait := waiters[id]; wait != nil && op == "waits" {
		return waits(wait, amounts[0], amounts[1], amounts[2:]), nil
	} else if wait != nil && op == "periods" {
		return periods(wait, amounts[0], amounts[1]), nil
	}
	asked := clocks[id]
	if asked == nil {
		return nil, errors.New("this agent has no such timer")
	}
	switch op {
	case "intervals":
		var values []int64
		for _, units := range amounts[1:] {
			values = append(values, asked.intervals(units, amounts[0])...)
		}
		return values, nil
	case "batches":
		return asked.batches(amounts[0], amounts[1]), nil
	case "readings":
		return asked.readings(amounts[0]), nil
	case "comparisons":
		return asked.comparisons(amounts[0], amounts[1]*amounts[2]), nil
	case "handoffs":
		if len(amounts) > 1 {
			return nil, errors.New("Go cannot choose the CPUs of its threads")
		}
		return asked.handoffs(amounts[0]), nil
	case "advance":
		return advance(asked, amounts[0], amounts[1]), nil
	}
	return nil, errors.New("this agent does not know the question")
}

// Answers a question, a line of JSON, whose keys and values are read as words.
func reply(line string) (text string) {
	refuse := func(why any) string { return fmt.Sprintf("{\"error\":%q}", fmt.Sprint(why)) }
	defer func() {
		if why := recover(); why != nil {
			text = refuse(why)
		}
	}()
	words := strings.FieldsFunc(strings.ReplaceAll(line, "\":", " "), func(one rune) bool { return strings.ContainsRune("{}[]\", \n", one) })
	if words[1] == "hello" {
		version := strings.TrimPrefix(runtime.Version(), "go")
		return fmt.Sprintf("{\"protocol\":1,\"ops\":[],\"timers\":[],\"runtime\":{\"name\":\"Go\",\"version\":%q}}", version)
	}
	var amounts []int64
	for at, word := range words[4:] {
		during := map[string]int64{"spin": 0, "sleep": 1, "other-spin": 2}
		if number, known := during[word]; known {
			amounts = append(amounts, number)
		} else if number, why := strconv.ParseInt(word, 10, 64); why == nil {
			amounts = append(amounts, number)
		} else if word == "reference" && words[at+5] != "nanotime" {
			return refuse("this agent has one reference only")
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	values, why := answer(words[1], words[3], amounts)
	runtime.ReadMemStats(&after)
	if why != nil {
		return refuse(why)
	}
	start := ""
	if words[1] == "periods" { // all are loops of waits
		start = "\"start\":null,"
	}
	list := strings.Join(strings.Fields(strings.Trim(fmt.Sprint(values), "[]")), ",")
	if after.NumGC != before.NumGC {
		return fmt.Sprintf("{%s\"values\":[%s],\"disturbed\":[\"gc\"]}", start, list)
	}
	return fmt.Sprintf("{%s\"values\":[%s]}", start, list)
}

func main() {
	input := bufio.NewReader(os.Stdin)
	for {
		line, why := input.ReadString('\n')
		if why != nil {
			return
		}
		fmt.Println(reply(line))
	}
}
