package nsys

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzFramesOf: what is read of a payload writes one that reads the same; other domains, too many functions and what is no such payload are refused.
func FuzzFramesOf(f *testing.F) {
	f.Add(`{"Python Periodic Sampling":{"Thread state ID":1,"Thread state":"Running","Frames count":1,"Frames":[{"Function":30,"File":31,"Line":134}]}}`)
	f.Add(`{"Python Periodic Sampling":{"Frames":[]}}`)
	f.Add(`{"Python Periodic Sampling":{"Frames":[{"Function":1e3,"File":-1,"Line":99999999999999999999}]}}`)
	f.Add(`{"Python Periodic Sampling":{"Frames":[{"Function":1`)
	f.Add(`{"Python Backtrace on CUDA":{"Frames":[{"Function":1,"File":2,"Line":3}]}}`)
	f.Add(`{"Python Periodic Sampling":null}`)
	f.Add(`[[[[`)
	f.Add(`{"Python Periodic Sampling":{"Frames":[` + strings.Repeat(`{},`, maxFrames) + `{}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		frames, ok := framesOf(text, sampleDomain)
		if !ok {
			return
		}
		if len(frames) > maxFrames || len(frames) > len(text)/2 || !strings.Contains(text, "Python") && !strings.Contains(text, `\u`) {
			t.Fatalf("%q has %d functions", text, len(frames))
		}
		again, err := json.Marshal(map[string]any{sampleDomain: map[string]any{"Frames": frames}})
		if err != nil {
			t.Fatal(err)
		}
		same, ok := framesOf(string(again), sampleDomain)
		if !ok || len(same) != len(frames) {
			t.Fatalf("%s gives %d functions, %q %d", again, len(same), text, len(frames))
		}
		for i := range same {
			if same[i] != frames[i] {
				t.Fatalf("function %d is %v, then %v", i, frames[i], same[i])
			}
		}
	})
}

// TestFramesOf: what payloads that cannot be read have in common.
func TestFramesOf(t *testing.T) {
	for _, text := range []string{"", "[1", "7", "null", `{"Mine":{"Frames":[]}}`, `{"Python Periodic Sampling":{"Frames":7}}`, `{"Python Periodic Sampling":{"Frames":[{"Function":"x"}]}}`,
		`{"Python Periodic Sampling":{"Frames":[{"Line":99999999999999999999}]}}`, `{"Python Periodic Sampling":{"Frames":[` + strings.Repeat(`{},`, maxFrames) + `{}]}}`} {
		if frames, ok := framesOf(text, sampleDomain); ok {
			t.Errorf("%.60q gives %v", text, frames)
		}
	}
	if frames, ok := framesOf(`{"Python Periodic Sampling":{"Frames":[{"Function":1,"File":2,"Line":3},{"Function":4,"File":5,"Line":6}]}}`, sampleDomain); !ok || len(frames) != 2 || frames[0] != (pythonFrame{1, 2, 3}) || frames[1] != (pythonFrame{4, 5, 6}) {
		t.Errorf("frames are %v, %v", frames, ok)
	}
}
