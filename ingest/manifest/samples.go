package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/rows"
	"prof/internal/file"
	"prof/schema/rundir"
)

// sample is one line of a file of NVML samples: its time, and the values from sm_ratio on as device_sample takes them.
type sample struct {
	unixNs int64
	device int32
	values []any
}

// kinds of the columns behind time_unix_ns and device_id.
var kinds = map[string]func(text string) (any, error){
	"sm_ratio": ratio, "memory_ratio": ratio, "memory_used_bytes": count, "sm_clock_hz": count, "memory_clock_hz": count,
	"power_w": amount, "temperature_c": number, "throttle_mask": count, "other_process_count": count,
}

// maxLine is longer than any line of samples.
const maxLine = 4096

// samples stores the samples of each pass. A file is read twice, so that one which is broken leaves nothing behind.
func (s *storing) samples() error {
	for _, p := range s.r.Manifest.Passes {
		if p.Samples == "" {
			continue
		}
		n, cut, err := s.read(p, func(sample) error { return nil })
		if err != nil {
			if s.ctx.Err() != nil {
				return s.ctx.Err()
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = errors.New("there is no such file")
			}
			s.warn("%s: %v; the samples of recording %s are not stored", p.Samples, err, p.Name)
			s.part = append(s.part, part{p.Samples, nil, nil, err.Error()})
			continue
		}
		var reason any
		if cut {
			s.warn("%s: the last line is cut off and not stored", p.Samples)
			reason = "the last line is cut off"
		}
		err = s.append("device_sample", func(add rows.Add) error {
			start := p.StartedAt.UnixNano()
			_, _, err := s.read(p, func(v sample) error {
				return add(append([]any{int32(p.ID), v.device, v.unixNs - start}, v.values...)...)
			})
			return err
		})
		if err != nil {
			return err
		}
		s.part = append(s.part, part{p.Samples, n, n, reason})
	}
	return nil
}

// read reads the samples of a pass and gives their number, and whether the last line was cut off.
func (s *storing) read(p rundir.Pass, each func(sample) error) (n int64, cut bool, err error) {
	f, err := file.Open(s.r.path(p.Samples))
	if err != nil {
		return 0, false, err
	}
	defer f.Close()
	seen := 0
	return readSamples(f, func(v sample) error {
		if seen++; seen&1023 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		return each(v)
	})
}

// readSamples reads a file of samples line by line and gives their number. A last line without an end was cut off when prof was
// killed: it is left out. Errors name the line and the column.
func readSamples(in io.Reader, each func(sample) error) (n int64, cut bool, err error) {
	r := bufio.NewReaderSize(in, maxLine)
	for line := 1; ; line++ {
		text, err := r.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			if line == 1 && len(text) == 0 {
				return n, false, errors.New("it is empty")
			}
			return n, len(text) > 0, nil
		case errors.Is(err, bufio.ErrBufferFull):
			return n, false, fmt.Errorf("line %d: it has more than %d bytes", line, maxLine)
		case err != nil:
			return n, false, err
		}
		fields := strings.Split(string(bytes.TrimRight(text, "\r\n")), ",")
		if line == 1 {
			if !slices.Equal(fields, rundir.SampleColumns) {
				return n, false, fmt.Errorf("line 1: the columns are %.200q, want %q", strings.Join(fields, ","), strings.Join(rundir.SampleColumns, ","))
			}
			continue
		}
		v, err := parseSample(fields)
		if err == nil {
			err = each(v)
		}
		if err != nil {
			return n, false, fmt.Errorf("line %d: %w", line, err)
		}
		n++
	}
}

func parseSample(fields []string) (v sample, err error) {
	if len(fields) != len(rundir.SampleColumns) {
		return v, fmt.Errorf("it has %d fields, want %d", len(fields), len(rundir.SampleColumns))
	}
	if v.unixNs, err = strconv.ParseInt(fields[0], 10, 64); err != nil || v.unixNs < 0 {
		return v, fmt.Errorf("time_unix_ns is %.40q, want nanoseconds since 1970", fields[0])
	}
	device, err := strconv.ParseInt(fields[1], 10, 32)
	if err != nil || device < 0 {
		return v, fmt.Errorf("device_id is %.40q, want a number of 0 or more", fields[1])
	}
	v.device = int32(device)
	for i, text := range fields[2:] {
		name := rundir.SampleColumns[i+2]
		if text == "" {
			v.values = append(v.values, nil)
			continue
		}
		value, err := kinds[name](text)
		if err != nil {
			return v, fmt.Errorf("%s is %.40q, want %w", name, text, err)
		}
		v.values = append(v.values, value)
	}
	return v, nil
}

// Errors of the kinds of values, said after "want".
var (
	errRatio  = errors.New("a number from 0 to 1, or nothing")
	errCount  = errors.New("a whole number of 0 or more, or nothing")
	errAmount = errors.New("a number of 0 or more, or nothing")
	errNumber = errors.New("a number, or nothing")
)

func number(text string) (any, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errNumber
	}
	return f, nil
}

func amount(text string) (any, error) {
	v, err := number(text)
	if f, ok := v.(float64); err != nil || !ok || f < 0 {
		return nil, errAmount
	}
	return v, nil
}

func ratio(text string) (any, error) {
	v, err := number(text)
	if f, ok := v.(float64); err != nil || !ok || f < 0 || f > 1 {
		return nil, errRatio
	}
	return v, nil
}

func count(text string) (any, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return nil, errCount
	}
	return n, nil
}
