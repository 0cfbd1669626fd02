// Command load asks a server for something, many times or for something large, and prints how long that took. It speaks
// HTTP/1.1 itself and looks at as little as it can: what is measured should be the server.
//
// It reads one job as JSON from standard input and prints one report as JSON. Exit code 1 when any answer was not the
// expected one.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// job is what to ask. Every request is the same but for its body.
type job struct {
	URL     string      `json:"url"`
	Method  string      `json:"method"`
	Host    string      `json:"host"` // Host header and TLS server name; the URL's own unless given
	Headers [][2]string `json:"headers"`
	CA      string      `json:"ca"` // file with the certificate to trust
	// How many requests in all, over how many connections.
	Requests    int `json:"requests"`
	Connections int `json:"connections"`
	// A file with one body per line, taken in turn; or the length of a body that is made on the way.
	Bodies    string `json:"bodies"`
	BodyBytes int64  `json:"bodyBytes"`
	// Push the body as a blob: POST opens a session, PUT to its Location carries the body and its digest.
	Push   bool `json:"push"`
	Expect int  `json:"expect"`
}

// report is what came of it. Reconnects counts connections beyond the first of each worker: servers that answer
// "Connection: close" pay for a new one per request.
type report struct {
	Requests   int     `json:"requests"`
	Bytes      int64   `json:"bytes"`
	Seconds    float64 `json:"seconds"`
	Reconnects int64   `json:"reconnects"`
	P50Ms      float64 `json:"p50Ms"`
	P99Ms      float64 `json:"p99Ms"`
	CPUSeconds float64 `json:"cpuSeconds"` // of this client: far below Seconds, or the client was the limit
	Digest     string  `json:"digest,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run() error {
	var asked job
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil {
		return fmt.Errorf("expected a job as JSON: %w", err)
	}
	target, err := newTarget(&asked)
	if err != nil {
		return err
	}
	workers := make([]*worker, asked.Connections)
	for i := range workers {
		workers[i] = &worker{target: target}
		if err := workers[i].connect(); err != nil {
			return err
		}
	}
	made, err := drive(workers, asked.Requests)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(made)
}

// drive lets the workers share the requests and adds up what they saw.
func drive(workers []*worker, requests int) (*report, error) {
	var next atomic.Int64
	var group sync.WaitGroup
	failures := make(chan error, len(workers))
	busyBefore, begin := cpuSeconds(), time.Now()
	for _, each := range workers {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(requests); i = next.Add(1) - 1 {
				if err := each.ask(i); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	made := &report{Requests: requests, Seconds: time.Since(begin).Seconds(), CPUSeconds: cpuSeconds() - busyBefore}
	close(failures)
	if err := <-failures; err != nil {
		return nil, err
	}
	var times []time.Duration
	for _, each := range workers {
		times = append(times, each.times...)
		made.Bytes += each.bytes
		made.Reconnects += each.connects - 1
		made.Digest = each.target.digest
	}
	slices.Sort(times)
	made.P50Ms = milliseconds(times[len(times)/2])
	made.P99Ms = milliseconds(times[len(times)*99/100])
	return made, nil
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration.Microseconds()) / 1000
}

func cpuSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
}
