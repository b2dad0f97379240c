// Package workload reads what a program says of the passes it ran while it was profiled: how many tokens went in and came out, how
// many images, in what batch, which passes were there to warm up, and the configuration of its model. A timeline knows none of it,
// and FLOPs, MFU and MBU need it.
//
// The facts are a JSON object that the program writes beside its capture, in a file named workload.json, NAME.workload.json or
// NAME-workload.json. A file of the same form whose name has the word baseline says how long the passes took without a profiler, and
// nothing else is taken of it:
//
//	{
//	  "model": "dsocr",
//	  "config": {"model_type": "deepseek_v2", "hidden_size": 1280, ...},
//	  "warmup": 1,
//	  "batch": 1,
//	  "runs": [
//	    {"prefill_len": 681, "new_tokens": 16, "prefill_ms": 45.75, "decode_ms": 291.33},
//	    {"prefill_len": 681, "new_tokens": 16, "prefill_ms": 46.07, "decode_ms": 286.87}
//	  ]
//	}
//
// # Fields of the object
//
// Every field may be left out or be null, which means that it is not said. Fields that are not listed here are passed over.
//
//	model       text    name of the model, for display
//	config      object  the model's configuration as Hugging Face's config.json has it: config.to_dict() of transformers
//	image_size  list    height and width of each image in pixels, from 1 to 65536, for a vision tower in config that takes any size;
//	                    the option --image-size goes before it
//	warmup      count   passes to warm up at the beginning of the capture that are not listed in runs
//	batch       count   sequences of a pass, at least 1; 1 when not said
//	images      count   images of each prompt
//	crops       count   crops of each image beside its global view
//	runs        list    the passes, in the order in which they ran; also named passes
//	processes   list    in place of runs: the processes of the job, each with passes of its own
//	marks       object  texts: python, torch, cuda (that torch was built with) and transformers are versions of the software that ran
//
// # Fields of a process
//
//	pid              count  the process, as the capture has it
//	rank             count  its rank
//	world_size       count  ranks of its job
//	tensor_parallel  count  ranks that share each layer of the model, and so each pass; left out where that is not known
//	runs             list   its passes
//
// The passes of a process are those of its own ranges. Ranks that share their passes count once.
//
// # Fields of a pass
//
// Each of runs is an object. Its batch, images and crops go before those of the whole object.
//
//	prefill_len  count         tokens of each prompt, those of its images included; also named prefill_tokens or tokens_in
//	new_tokens   count         decode steps after the prefill; also named decode_tokens or tokens_out
//	batch        count         sequences, at least 1
//	images       count         images of each prompt
//	crops        count         crops of each image beside its global view
//	warmup       true, false   whether the pass is one to warm up, whose time is left out; false when not said
//	input        text          id of the input that it worked on, of those of prof capture --inputs
//	prefill_ms   milliseconds  wall time of the prefill
//	decode_ms    milliseconds  wall time of all decode steps
//	vision_ms    milliseconds  wall time of the vision part of the prefill
//
// Tokens are those of one sequence, whatever the batch. The token that the prefill itself yields is no decode step: a program that
// generates 17 tokens says new_tokens 16. Where a pass has a count under several of its names, the one listed first is taken.
//
// Counts are whole numbers from 0 to 2^31. Milliseconds are numbers from 0 to 10^12, fractions included, and are kept as whole
// nanoseconds. Anything else is an error that names the field. A file has at most 64 MiB and 2^20 passes.
//
// An object without runs whose batch, images or crops are said makes one row that holds for every pass.
//
// # Means over passes
//
// A metrics.json holds means over the passes of one capture only:
//
//	{
//	  "aggregates": {
//	    "prefill_ms": {"mean": 46.0, "std": 0.2}, "decode_ms": {"mean": 289.1, "std": 2.2},
//	    "tokens": {"mean": 16.0, "std": 0.0}, "tokens_per_s": {"mean": 55.3, "std": 0.4},
//	    "stage_ms": {"prefill": {"mean": 46.0, "std": 0.2}}
//	  },
//	  "mfu_model_level": 0.1, "mfu_per_stage": {}, "model_dims": {}, "peak_tflops": 989.0
//	}
//
// It makes one row that holds for every pass. tokens are decode steps; they are taken where every pass had as many: where their mean
// is a whole number and their standard deviation 0 or not there. The length of the prompts is not in it. Its times belong to no
// single pass and its figures of MFU follow other formulas: both are stored as reported, by ingest/reported, and nothing is computed from them. An object with both runs and aggregates is read by its
// runs.
package workload
