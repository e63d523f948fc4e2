// The clocks of Go, in words: each line of standard input is a question, each line of standard output its answer.
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

// Room for as many values of the type of one.
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

// What a clock is asked. Each has loops of its own.
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

// Two threads take turns: thread 0 takes 0, 3, 4, 7 …, so that the roles alternate.
func handoffs«n»(count int64) []int64 {
	places := room(read«n»(), 2*count)
	var turn atomic.Int64
	take := func(thread int) {
		for at := range places {
			if (at+1)/2%2 != thread {
				continue
			}
			for spins := 0; turn.Load() != int64(at); spins++ {
				if spins > 1000 {
					runtime.Gosched()
				}
			}
			places[at] = «call»
			turn.Store(int64(at) + 1)
		}
	}
	done := make(chan bool)
	go func() { take(1); done <- true }()
	take(0)
	<-done
	return each(places, ticks«n»)
}

// end each
var clocks = []clock{
	// each clock:
	{intervals«n», batches«n», readings«n», comparisons«n», handoffs«n», func() int64 { return ticks«n»(read«n»()) }},
	// end each
}

var waiters = []func(ns int64){
	// each waiter:
	func(ns int64) { «wait» },
	// end each
}

func compute(ns int64) {
	for end := nanotime() + ns; nanotime() < end; {
		kept = work(kept, 10)
	}
}

// Sleeps, but for the end, as sleeping ends late.
func pause(ns int64) {
	end := nanotime() + ns
	if ns > 200e3 {
		time.Sleep(time.Duration(ns - 200e3))
	}
	compute(end - nanotime())
}

func advance(asked clock, during, ms int64) []int64 {
	var over atomic.Bool
	if during == 2 {
		go func() {
			for !over.Load() {
			}
		}()
	}
	// The first reads of both find cold caches.
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

func waits(wait func(int64), late, most, repeat int64, lengths []int64) (told []int64) {
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
		told = append(told, before, after, 1e3*(micros(used.Utime)+micros(used.Stime)-micros(cpu.Utime)-micros(cpu.Stime)))
		if late >= 0 && after-before > ns+late {
			break
		}
	}
	return
}

func periods(wait func(int64), period, count int64, stalls []int64) (told []int64) {
	for at := int64(0); at < count; at++ {
		wait(period)
		told = append(told, nanotime())
		if len(stalls) > 0 && stalls[0] == at {
			stalls = stalls[1:]
			compute(period * 7 / 2)
		}
	}
	return
}

func answer(op string, amounts []int64) ([]int64, error) {
	// Requests are whole, as the program that asks wrote them; others end in the recovery of `serve`.
	which, rest := amounts[0], amounts[1:]
	switch op {
	case "intervals":
		var told []int64
		for _, units := range rest[1:] {
			told = append(told, clocks[which].intervals(units, rest[0])...)
		}
		return told, nil
	case "batches":
		return clocks[which].batches(rest[0], rest[1]), nil
	case "readings":
		return clocks[which].readings(rest[0]), nil
	case "comparisons":
		return clocks[which].comparisons(rest[0], rest[1]), nil
	case "handoffs":
		return clocks[which].handoffs(rest[0]), nil
	case "advance":
		return advance(clocks[which], rest[0], rest[1]), nil
	case "waits":
		return waits(waiters[which], rest[0], rest[1], rest[2], rest[3:]), nil
	case "periods":
		return periods(waiters[which], rest[0], rest[1], rest[2:]), nil
	}
	return nil, errors.New("this agent does not know that")
}

func serve(line string) (reply string) {
	defer func() {
		if why := recover(); why != nil {
			reply = fmt.Sprint("!", why)
		}
	}()
	words := strings.Fields(line)
	if words[0] == "hello" {
		return "Go\t" + strings.TrimPrefix(runtime.Version(), "go")
	}
	var amounts []int64
	for _, word := range words[1:] {
		amount, why := strconv.ParseInt(word, 10, 64)
		if why != nil {
			return "!" + why.Error()
		}
		amounts = append(amounts, amount)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	told, why := answer(words[0], amounts)
	runtime.ReadMemStats(&after)
	if why != nil {
		return "!" + why.Error()
	}
	var text strings.Builder
	for _, value := range told {
		text.WriteString(strconv.FormatInt(value, 10))
		text.WriteByte(' ')
	}
	if after.NumGC != before.NumGC {
		text.WriteString("| gc")
	}
	return text.String()
}

func main() {
	input := bufio.NewReader(os.Stdin)
	for {
		line, why := input.ReadString('\n')
		if why != nil {
			return
		}
		fmt.Println(serve(line))
	}
}
