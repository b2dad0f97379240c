package judge

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"prof/queries/caveat"
	"prof/queries/frame"
)

// Report is what the reports of a run are made from: the answers to its queries, each asked once.
type Report struct {
	Name     string      // the run's
	Source   string      // the kind of capture that all of it is of; "" for the counted one
	Within   float64     // steady passes repeat where nine tenths of them are within this share of their median; 0 for a tenth
	Facts    [][2]string // what the run is, in words
	Sections []Section
	Frames   map[string]*frame.Frame // answers by key: those of sections, and those that figures and files need beside them
	Whole    map[string]*frame.Frame // what the summary follows from, where Frames holds other numbers of rows of it; nil for none
	Timeline *Timeline               // nil unless asked for
	Static   *Static                 // what the run's model needs; nil without a model

	summary *Summary
	worded  []Finding // those of the answer to findings
}

// Section is one part of a report: a query's answer, or why there is none.
type Section struct {
	ID    string // how it is asked for; also its key in Frames
	Title string
	Frame *frame.Frame
	// Findings are the rows of findings, in words.
	Findings []Finding
	Kernels  []LargeKernel // the rows of large-kernels, in words
	Hint     string        // what its rows count that one may not think of; "" where there is no such thing
	Missing  string        // why Frame has no rows; "" when it has some, or none are the answer
	Page     bool          // only the page of HTML shows it, as a picture
}

// Frame returns an answer by its key; nil when it was not asked for.
func (r *Report) Frame(key string) *frame.Frame { return r.Frames[key] }

// GroupedKey is the key of an answer with rows grouped by something else than by default; without that it is the query's name.
func GroupedKey(query, by string) string { return strings.TrimSpace(query + " " + by) }

// Lacking says that the run has no facts, and what derives them; "" where it has. Every answer does.
func (r *Report) Lacking() string {
	for _, f := range r.Frames {
		if f != nil && f.Warns(caveat.FactsLacking) {
			return strings.Join(f.Said(caveat.Facts), "; ")
		}
	}
	return ""
}

// Summary is what the answers come to, made the first time. Neither it nor the answers may be changed then.
func (r *Report) Summary() (Summary, error) {
	if r.summary == nil {
		s := newSummariser(r)
		if err := s.summarise(); err != nil {
			return Summary{}, err
		}
		r.summary, r.worded = &s.out, s.out.Findings
		if r.Whole["findings"] != nil {
			var err error
			if r.worded, err = s.refined(r.Frame("findings")); err != nil {
				return Summary{}, err
			}
		}
	}
	return *r.summary, nil
}

// Timeline is what a picture of a run's devices over time is drawn from.
type Timeline struct {
	Blocks  *frame.Frame // timeline-blocks: work by GPU and kind
	Passes  *frame.Frame // timeline-passes: passes of stages by GPU
	Gaps    *frame.Frame // longest-gaps
	Windows *frame.Frame // timeline-windows: where single kernels are known
	Kernels *frame.Frame // timeline-kernels: those kernels
	Calls   *frame.Frame // timeline-calls: the CUDA calls that launched them, and others of their threads
	Ranges  *frame.Frame // timeline-ranges: the longest ranges of threads
	Clocks  *frame.Frame // clock-offsets; nil for a single source
	Parts   int64        // equal parts of the time of the capture: what begins in the same one is drawn as one
}

func passesKey(device int64) string { return "passes of GPU " + strconv.FormatInt(device, 10) }
func gapsKey(stage string) string   { return "longest-gaps of " + stage }

// More returns what the first answers call for, by the key in Frames that its answer belongs to: who is slow where ranks exchange data,
// where the gaps are that hold nearly all idle time, and the passes of the GPU that is judged
// where there are several.
func (r *Report) More(run string) (map[string]frame.Question, error) {
	s := newSummariser(r)
	if err := s.readParts(); err != nil {
		return nil, err
	}
	out := map[string]frame.Question{}
	ask := func(key, query string, more ...string) {
		args := frame.Args{"run": run}
		for i, more := 0, append(more, "source", r.Source); i < len(more); i += 2 {
			if more[i+1] != "" {
				args[more[i]] = more[i+1]
			}
		}
		out[key] = frame.Question{Query: query, Args: args}
	}
	if err := s.readSources(); err != nil {
		return nil, err
	}
	if len(s.parts) == 0 && s.kinds["ncu"] { // which is all there is
		for query, top := range map[string]string{"bottlenecks": "20", "ncu-rules": "0"} {
			if s.r.Frame(query) == nil {
				out[query] = frame.Question{Query: query, Args: frame.Args{"run": run, "top": top}}
			}
		}
	}
	for stage, gpus := range s.parts {
		if s.r.Frame(lateKey) == nil && slices.ContainsFunc(gpus, func(d deviceParts) bool {
			return d.named("collective-exposed").total+d.named("collective-overlapped").total > 0
		}) {
			ask(lateKey, lateKey)
		}
		if stage == wholeCapture && len(s.parts) > 1 {
			continue
		}
		gpu := gpus[0]
		if stage != wholeCapture && len(gpus) > 1 {
			for _, device := range []int64{gpu.device, leastExposed(gpus)} {
				ask(passesKey(device), "passes", "device", strconv.FormatInt(device, 10))
			}
		}
		few, err := s.areFewGaps(stage, gpu)
		if err != nil {
			return nil, err
		}
		if few {
			place := "in-pass"
			if stage == wholeCapture {
				place = ""
			}
			ask(gapsKey(stage), "longest-gaps", "stage", strings.TrimSuffix(stage, wholeCapture), "place", place, "device", strconv.FormatInt(gpu.device, 10), "top", strconv.Itoa(2*fewGaps))
		}
	}
	return out, nil
}

// leastExposed is the GPU whose collectives run alone for the shortest time: where others wait, likely the one that they wait for.
func leastExposed(gpus []deviceParts) int64 {
	return slices.MinFunc(gpus, byKey(func(d deviceParts) float64 { return d.named("collective-exposed").total })).device
}

// keys are the fields by which things are found, of which none is of the run.
var keys = []string{"ID", "Query", "Unit", "Kind", "Topic", "Source"}

// Rewrite changes every text of a report: names, facts, answers and notes, and so the Summary, which is made of them anew.
func (r *Report) Rewrite(change func(string) string) {
	r.summary, r.worded = nil, nil
	rewrite(reflect.ValueOf(r).Elem(), change, map[any]bool{})
}

// rewrite changes the texts that a value holds, each thing that is pointed to once.
func rewrite(v reflect.Value, change func(string) string, done map[any]bool) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(change(v.String()))
		}
	case reflect.Pointer:
		if v.IsNil() || !v.CanInterface() || done[v.Interface()] {
			return
		}
		done[v.Interface()] = true
		rewrite(v.Elem(), change, done)
	case reflect.Interface:
		if text, ok := v.Interface().(string); ok {
			v.Set(reflect.ValueOf(change(text)))
		} else if !v.IsNil() {
			rewrite(v.Elem(), change, done)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !slices.Contains(keys, f.Name) && f.Type != reflect.TypeFor[[]frame.Column]() {
				rewrite(v.Field(i), change, done)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			rewrite(v.Index(i), change, done)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if e := v.MapIndex(key); e.Kind() == reflect.Pointer {
				rewrite(e, change, done)
			}
		}
	}
}
