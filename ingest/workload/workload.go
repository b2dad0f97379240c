package workload

import (
	"prof/ingest/load"
	"prof/ingest/reported"
)

// Facts are what a workload says of itself.
type Facts struct {
	Model    string           // name of the model; "" when not said
	Config   map[string]any   // the model's configuration, its numbers as json.Number; nil when not said
	Image    load.ImageSize   // of the pictures that the model of Config sees; zero when not said
	Warmup   *int64           // passes to warm up at the beginning of the capture that Passes does not hold; nil when not said
	Capture  string           // kind of the timelines they are about, which no file says; "" for all of the run's
	Passes   []Pass           // in the order in which they ran, those of a process together
	Process  []Process        // those that ran them, where they are listed apart; Pass.Process is one more than the place in it
	Versions []Version        // of the software that it ran with, as far as it says
	Reported *reported.Report // figures that another tool computed of the passes; nil without any
	Warnings []string         // what is missing or was not taken, and why
}

// Pass is one pass, or what holds for every pass. Nil is what is not said.
type Pass struct {
	Each   bool // it holds for every pass
	Warmup bool // its time is left out

	Process int // which of Facts.Process ran it, from 1; 0 where processes are not told apart

	Prefill *int64 // tokens of each prompt, image tokens included
	Decode  *int64 // decode steps after the prefill
	Images  *int64 // of each prompt
	Crops   *int64 // of each image beside its global view
	Batch   int64  // sequences, at least 1; 0 where options do not say
	Input   string // id of the input that it worked on; "" when not said

	PrefillNs, DecodeNs, VisionNs *int64 // wall time of the prefill, of all decode steps, of the prefill's vision part
}

// Process is one process of a job.
type Process struct {
	PID      int64
	Rank     *int64 // in its job
	World    *int64 // ranks of the job
	Parallel *int64 // ranks that its model is split over by tensor parallelism; nil is not one
}

// Version is that of a piece of software, by its name: python, torch, transformers or torch_cuda, the CUDA that torch was built with.
type Version struct{ Name, Version string }

// Uniform makes the facts of a workload whose passes are all alike, as options of a command give them.
func Uniform(p Pass, warmup *int64) *Facts {
	p.Each = true
	return &Facts{Warmup: warmup, Passes: []Pass{p}}
}
