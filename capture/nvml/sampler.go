package nvml

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"prof/internal/file"
	"prof/schema/rundir"
)

// flushEvery is how much of the samples a kill can cost.
const flushEvery = time.Second

// Sampler writes down what NVML tells of each GPU, at a fixed rate, until it is stopped.
type Sampler struct {
	stop   context.CancelFunc
	done   chan struct{}
	rows   int
	failed int   // samples that came with an error
	first  error // of them
	fatal  error // why it ended early: nothing can be written
	seen   map[int]*sampleSums
}

// sampleSums is what a GPU's samples say together.
type sampleSums struct {
	told      int64 // samples with a throttle mask
	throttled int64 // of them with a bit that holds work down
	mask      int64 // all those bits
	others    int64 // most processes of others at a time
}

// StartSampler begins to write a file of samples (CSV, rundir.SampleColumns), hz times a second a row for each of NVML's devices. own
// reports whether a process is the workload's. It does not fail: what is wrong Stop tells. The caller stops it; the end of ctx does too.
func StartSampler(ctx context.Context, n Library, hz float64, path string, own func(pid int) bool) *Sampler {
	ctx, stop := context.WithCancel(ctx)
	s := &Sampler{stop: stop, done: make(chan struct{}), seen: map[int]*sampleSums{}}
	go func() {
		defer close(s.done)
		s.fatal = s.run(ctx, n, hz, path, own)
	}()
	return s
}

// Stop ends the sampling and gives the number of rows. An error says how many samples were incomplete and why the first was, or why
// there are none; the rows that were written stay. It may be called again.
func (s *Sampler) Stop() (n int, err error) {
	s.stop()
	<-s.done
	if s.failed > 0 {
		err = fmt.Errorf("%d NVML samples are incomplete, the first: %w", s.failed, s.first)
	}
	return s.rows, errors.Join(s.fatal, err)
}

// Findings says of each GPU what makes its times doubtful: that it throttled, or was shared. It is for after Stop.
func (s *Sampler) Findings() (out []string) {
	for _, index := range slices.Sorted(maps.Keys(s.seen)) {
		sums := s.seen[index]
		if sums.throttled > 0 {
			out = append(out, fmt.Sprintf("GPU %d throttled in %d of %d samples: %s", index, sums.throttled, sums.told, strings.Join(ThrottleNames(sums.mask), ", ")))
		}
		if sums.others > 0 {
			out = append(out, fmt.Sprintf("GPU %d was shared with up to %d other process(es)", index, sums.others))
		}
	}
	return out
}

// sum adds a sample to those of its GPU.
func (s *Sampler) sum(index int, v Sample) {
	sums := s.seen[index]
	if sums == nil {
		sums = &sampleSums{}
		s.seen[index] = sums
	}
	if v.ThrottleMask != nil {
		sums.told++
		if slowing := *v.ThrottleMask & SlowingMask(); slowing != 0 {
			sums.throttled++
			sums.mask |= slowing
		}
	}
	if v.OtherProcesses != nil {
		sums.others = max(sums.others, *v.OtherProcesses)
	}
}

func (s *Sampler) run(ctx context.Context, n Library, hz float64, path string, own func(pid int) bool) (err error) {
	period := time.Duration(float64(time.Second) / hz)
	if !(hz > 0) || math.IsInf(hz, 1) || period <= 0 {
		return fmt.Errorf("%g samples per second is not a possible rate", hz)
	}
	devices, failed := n.Devices()
	s.note(failed)
	if len(devices) == 0 {
		return nil
	}
	f, err := file.Create(path)
	if err != nil {
		return fmt.Errorf("write NVML samples: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	// The writer keeps the first error; Flush gives it.
	fmt.Fprintln(w, strings.Join(rundir.SampleColumns, ","))
	tick := time.NewTicker(period) // it drops ticks for a slow reader: a late sample is not followed by a burst
	defer tick.Stop()
	var row []byte
	for flushed := (time.Time{}); ; {
		for _, d := range devices {
			row = s.sample(row[:0], n, d.Index, own)
			w.Write(row)
		}
		if now := time.Now(); now.Sub(flushed) >= flushEvery {
			if err := w.Flush(); err != nil {
				return fmt.Errorf("write NVML samples: %w", err)
			}
			flushed = now
		}
		select {
		case <-ctx.Done():
			return w.Flush()
		case <-tick.C:
		}
	}
}

// sample appends the row of one GPU. A sample that failed leaves its row, with what could be read.
func (s *Sampler) sample(row []byte, n Library, index int, own func(pid int) bool) []byte {
	at := time.Now()
	v, err := n.Sample(index, own)
	s.note(err)
	s.sum(index, v)
	s.rows++
	row = strconv.AppendInt(row, at.UnixNano(), 10)
	row = strconv.AppendInt(append(row, ','), int64(index), 10)
	row = appendFloat(row, v.SMRatio)
	row = appendFloat(row, v.MemoryRatio)
	row = appendInt(row, v.MemoryUsedBytes)
	row = appendInt(row, v.SMClockHz)
	row = appendInt(row, v.MemoryClockHz)
	row = appendFloat(row, v.PowerW)
	row = appendFloat(row, v.TemperatureC)
	row = appendInt(row, v.ThrottleMask)
	row = appendInt(row, v.OtherProcesses)
	return append(row, '\n')
}

func (s *Sampler) note(err error) {
	if err == nil {
		return
	}
	if s.failed++; s.first == nil {
		s.first = err
	}
}

func appendFloat(row []byte, v *float64) []byte {
	row = append(row, ',')
	if v == nil {
		return row
	}
	return strconv.AppendFloat(row, *v, 'g', -1, 64)
}

func appendInt(row []byte, v *int64) []byte {
	row = append(row, ',')
	if v == nil {
		return row
	}
	return strconv.AppendInt(row, *v, 10)
}
