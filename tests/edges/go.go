// Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
package main

import (
	"fmt"
	"syscall"
	"time"
)

var all [20000]int64

func show(id string, unit int) {
	fmt.Print(id, " ", unit)
	for _, one := range all {
		fmt.Print(" ", one)
	}
	fmt.Println()
}

func main() {
	start := time.Now()
	for at := range all {
		all[at] = time.Since(start).Nanoseconds()
	}
	show("Since", 1)
	for at := range all {
		all[at] = time.Now().Sub(start).Nanoseconds()
	}
	show("Now.Sub", 1)
	for at := range all {
		all[at] = time.Now().UnixNano()
	}
	show("Now", 1)
	// Reads each time until the clock has moved.
	for at := range all[:100] {
		for all[at] = time.Now().UnixMilli(); at > 0 && all[at] == all[at-1]; {
			all[at] = time.Now().UnixMilli()
		}
	}
	for at := range all[100:] {
		all[100+at] = all[99]
	}
	show("Now.UnixMilli", 1000000)
	for at := range all {
		var used syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &used)
		all[at] = (used.Utime.Sec+used.Stime.Sec)*1000000 + used.Utime.Usec + used.Stime.Usec
	}
	show("Getrusage", 1000)
}
