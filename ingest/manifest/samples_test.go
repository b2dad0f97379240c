package manifest

import (
	"strings"
	"testing"

	"prof/schema/rundir"
)

// TestReadSamples holds what a file of samples may hold, and where an error says that it does not.
func TestReadSamples(t *testing.T) {
	head := strings.Join(rundir.SampleColumns, ",") + "\n"
	for text, want := range map[string]struct {
		n     int64
		cut   bool
		error string
	}{
		head: {},
		head + "5,0,0.5,1,4096,1000,2000,70.5,-3.5,4,1\n5,1,,,,,,,,,\n": {n: 2},
		strings.ReplaceAll(head, "\n", "\r\n") + "5,0,,,,,,,,,\r\n":     {n: 1},
		head + "5,0,,,,,,,,,\n6,0,,,":                                   {n: 1, cut: true},
		head + "5,0,,,,,,,,,\n6,0,,,,,,,,,":                             {n: 1, cut: true}, // the last value may go on
		head[:9]:                                                        {cut: true},
		"":                                                              {error: "it is empty"},
		"time,device\n":                                                 {error: `line 1: the columns are "time,device"`},
		head + "5,0,,,,,,,,\n":                                          {error: "line 2: it has 10 fields, want 11"},
		head + "5,0,,,,,,,,,\n\n":                                       {n: 1, error: "line 3: it has 1 fields"},
		head + "x,0,,,,,,,,,\n":                                         {error: `line 2: time_unix_ns is "x"`},
		head + "5,,,,,,,,,,\n":                                          {error: `line 2: device_id is ""`},
		head + "5,-1,,,,,,,,,\n":                                        {error: `line 2: device_id is "-1"`},
		head + "5,0,1.5,,,,,,,,\n":                                      {error: `line 2: sm_ratio is "1.5", want a number from 0 to 1`},
		head + "5,0,,-0.1,,,,,,,\n":                                     {error: `line 2: memory_ratio is "-0.1"`},
		head + "5,0,,,1.5,,,,,,\n":                                      {error: `line 2: memory_used_bytes is "1.5", want a whole number of 0 or more`},
		head + "5,0,,,,,,NaN,,,\n":                                      {error: `line 2: power_w is "NaN", want a number of 0 or more`},
		head + "5,0,,,,,,,Inf,,\n":                                      {error: `line 2: temperature_c is "Inf", want a number`},
		head + "5,0,,,,,,,,-4,\n":                                       {error: `line 2: throttle_mask is "-4"`},
		head + strings.Repeat("x", 5000):                                {error: "line 2: it has more than 4096 bytes"},
		head + strings.Repeat("\x00", 40):                               {cut: true},
		head + strings.Repeat("\x00", 9) + "\n":                         {error: "line 2: it has 1 fields"},
	} {
		seen := int64(0)
		n, cut, err := readSamples(strings.NewReader(text), func(sample) error { seen++; return nil })
		if err == nil && want.error != "" || err != nil && (want.error == "" || !strings.Contains(err.Error(), want.error)) {
			t.Errorf("%.200q: %v, want %q", text, err, want.error)
		}
		if n != want.n || seen != n || cut != want.cut {
			t.Errorf("%.200q: %d lines (%d seen), cut %v; want %d, %v", text, n, seen, cut, want.n, want.cut)
		}
	}
	_, _, err := readSamples(strings.NewReader(head+"7,1,0.5,0.25,4096,1000,2000,70.5,-3.5,4,1\n"), func(v sample) error {
		if v.unixNs != 7 || v.device != 1 || len(v.values) != 9 || v.values[0] != 0.5 || v.values[2] != int64(4096) || v.values[6] != -3.5 || v.values[8] != int64(1) {
			t.Errorf("%+v", v)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// FuzzReadSamples holds that whatever a file holds is read in bounded memory, and that each line that is taken is one of numbers.
func FuzzReadSamples(f *testing.F) {
	head := strings.Join(rundir.SampleColumns, ",") + "\n"
	for _, text := range []string{"", head, head + "5,0,0.5,1,4096,1000,2000,70.5,-3.5,4,1\n", head + "5,0,,,,,,,,,\n6,0", head + "5,0,1e-400,0x1p-2,,,,,,,\n", head + "9223372036854775807,2147483647,,,,,,,,9223372036854775807,\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, cut, err := readSamples(strings.NewReader(text), func(v sample) error {
			if v.unixNs < 0 || v.device < 0 || len(v.values) != len(rundir.SampleColumns)-2 {
				t.Errorf("%+v", v)
			}
			return nil
		})
		if lines := int64(strings.Count(text, "\n")); n > max(lines-1, 0) || err == nil && !cut && n != lines-1 {
			t.Errorf("%d of %d lines, cut %v, %v", n, lines, cut, err)
		}
	})
}
