// Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
package main

import (
	"fmt"
	"time"
)

func main() {
	var all [20000]int64
	start := time.Now()
	for at := range all {
		all[at] = time.Since(start).Nanoseconds()
	}
	fmt.Print("Since 1")
	for _, one := range all {
		fmt.Print(" ", one)
	}
	fmt.Println()
}
