package queries_test

// findingCases are the rules, each with runs in which it finds what is known, and others in which it must not.
var findingCases = []struct {
	rule, what string
	stmts      []string
	want       map[string]int64
}{
	{"launch-bound", "inside calls and between them", []string{idle("kernel_ns = 500000, launch_ns = 300000, launch_delay_ns = 200000"), ran(1, 1, 0, 10, 200, "")}, map[string]int64{"": 500_000}},
	{"launch-bound", "launched when the GPU had run dry", []string{idle("kernel_ns = 500000, launch_ns = 300000, launch_latency_ns = 200000"), ran(1, 1, 0, 10, 200, "")}, map[string]int64{"": 500_000}},
	{"device-latency", "launched when the GPU had run dry", []string{idle("launch_latency_ns = 300000, queued_ns = 5")}, map[string]int64{"": 5}},
	{"launch-bound", "graphs launch half of the work", []string{idle("launch_ns = 300000"), ran(1, 1, 0, 10, 200, ""), ran(1, 1, 20, 10, 200, "graph")}, map[string]int64{"": 300_000}},
	{"launch-bound", "graphs launch more", []string{idle("launch_ns = 300000"), ran(1, 1, 0, 10, 200, ""), ran(1, 1, 20, 11, 200, "graph")}, nil},
	{"launch-bound", "other idle time", []string{idle("wait_ns = 1, call_ns = 2, host_ns = 3, profiler_ns = 4, queued_ns = 5, unknown_ns = 6")}, nil},
	{"graph-gaps", "graphs launch more than half", []string{idle("launch_ns = 300000, launch_delay_ns = 1"), ran(1, 1, 0, 10, 200, ""), ran(1, 1, 20, 11, 200, "graph"), replayed(3)}, map[string]int64{"": 300_001}},
	{"graph-gaps", "graphs whose kernels were not traced launch more", []string{idle("launch_ns = 300000, graph_ns = 11"), ran(1, 1, 0, 10, 200, "")}, map[string]int64{"": 300_000}},
	{"graph-gaps", "graphs launch half of the work", []string{idle("launch_ns = 300000"), ran(1, 1, 0, 10, 200, ""), ran(1, 1, 20, 10, 200, "graph")}, nil},
	{"graph-gaps", "nothing is idle", []string{ran(1, 1, 20, 10, 200, "graph")}, nil},
	{"host-waits", "by calls", []string{idle("wait_ns = 400000"), called(1, 1, 3, 1000), called(2, 3, 5, 1)}, map[string]int64{"": 400_000}},
	{"host-waits", "without calls that wait", []string{idle("wait_ns = 7")}, map[string]int64{"": 7}},
	{"host-waits", "calls that cost nothing", []string{called(1, 1, 3, 1000)}, nil},
	{"cuda-calls", "allocations most of all", []string{idle("call_ns = 90"), called(1, 2, 3, 1000), called(1, 5, 1, 2999), called(1, 3, 9, 9999), called(1, 1, 9, 99999)}, map[string]int64{"cudaMalloc": 90}},
	{"cuda-calls", "launches that load code", []string{idle("call_ns = 90"), called(1, 2, 3, 1000), called(1, 3, 9, 100_000)}, map[string]int64{"cudaLaunchKernel": 90}},
	{"cuda-calls", "calls of a process without work on the GPU", []string{idle("call_ns = 90"), called(1, 2, 3, 1000), "UPDATE api_call SET pid = 2"}, map[string]int64{"": 90}},
	{"cuda-calls", "outside the passes", []string{idle("call_ns = 90"), called(0, 2, 3, 1000)}, map[string]int64{"": 90}},
	{"cuda-calls", "during work", []string{called(1, 2, 3, 1000)}, nil},
	{"host-bound", "in a range", []string{idle("host_ns = 5000"), spare, waitedFor(100, 4000, 1), waitedFor(1_500_000, 900_000, 2)}, map[string]int64{"decode": 5000}},
	{"host-bound", "where no gap of the passes was kept", []string{idle("host_ns = 5000"), spare, waitedFor(1_500_000, 900_000, 2)}, map[string]int64{"": 5000}},
	{"host-bound", "other idle time", []string{idle("launch_ns = 5000")}, nil},
	{"device-latency", "after launches", []string{idle("queued_ns = 5000")}, map[string]int64{"": 5000}},
	{"device-latency", "other idle time", []string{idle("launch_delay_ns = 5000")}, nil},
	{"elementwise-chains", "all but the first of each chain", []string{ran(1, 2, 0, 3000, 200, ""), ran(1, 3, 5000, 2000, 200, ""), ran(1, 2, 8000, 1000, 200, ""), ran(1, 1, 10000, 500, 200, ""), ran(1, 2, 11000, 400, 200, ""),
		ran(2, 2, 20000, 30, 200, ""), ran(2, 2, 21000, 20, 200, "")}, map[string]int64{"family of activation": 3020}},
	{"elementwise-chains", "side by side on two streams", []string{ran(1, 2, 0, 4000, 200, ""), ran(1, 2, 4000, 4000, 200, ""), ran(1, 2, 1, 4000, 200, "other"), ran(1, 2, 4001, 4000, 200, "other"), "UPDATE device_time SET kernel_ns = CASE range_id WHEN 1 THEN 8000 ELSE 0 END"},
		map[string]int64{"family of elementwise": 4000}},
	{"elementwise-chains", "too long, alone, on two streams, in two passes, or with a copy between",
		[]string{ran(1, 2, 0, 5000, 200, ""), ran(1, 2, 6000, 5000, 200, ""), ran(1, 1, 12000, 10, 200, ""), ran(1, 2, 13000, 10, 200, "other"), ran(1, 2, 14000, 10, 200, ""), ran(2, 2, 15000, 10, 200, ""),
			ran(1, 1, 16000, 10, 200, ""), ran(1, 2, 99, 10, 200, "other"), hostCopy(1, "'Pinned'", 10), "UPDATE memop SET stream_id = 8"}, nil},
	{"small-grids", "half of the SMs", []string{ran(1, 1, 0, 20000, 50, ""), ran(2, 1, 0, 10000, 75, "")}, map[string]int64{"gemm<1>": 10000 + 2500}},
	{"small-grids", "on eight streams at once", sideBySide(1, 50), map[string]int64{"gemm<1>": 450_000}},
	{"small-grids", "enough blocks, too short, or a collective", []string{ran(1, 1, 0, 20000, 100, ""), ran(1, 2, 0, 4999, 1, ""), ran(1, 4, 0, 20000, 1, "")}, nil},
	{"small-grids", "SMs not known", []string{ran(1, 1, 0, 20000, 50, ""), "UPDATE device SET sm_count = NULL"}, nil},
	{"wave-tail", "a wave and a quarter", []string{ran(1, 1, 0, 20000, 1000, "")}, map[string]int64{"gemm<1>": 7500}}, // 8 blocks of 8 warps an SM
	{"wave-tail", "on eight streams at once", sideBySide(1, 1000), map[string]int64{"gemm<1>": 337_500}},
	{"wave-tail", "whole waves, less than one, many, short, or a collective", []string{ran(1, 1, 0, 20000, 1600, ""), ran(1, 1, 0, 20000, 800, ""), ran(1, 1, 0, 20000, 3201, ""), ran(1, 2, 0, 4999, 1000, ""), ran(1, 4, 0, 20000, 1000, "")}, nil},
	{"wave-tail", "limits not known", []string{ran(1, 1, 0, 20000, 1000, ""), "UPDATE device SET compute_capability = NULL"}, nil},
	{"below-roof", "40 %", append(ncuOf(map[string]float64{smShare: 10, memoryShare: 40, warpShare: 90, wavesMetric: 2}), ran(1, 1, 0, 1000, 100, ""), ran(2, 1, 0, 2000, 100, ""), ran(2, 1, 0, 5000, 101, "")), map[string]int64{"gemm<1>": 1800}},
	{"below-roof", "on eight streams at once", append(ncuOf(map[string]float64{smShare: 10, memoryShare: 40, warpShare: 90, wavesMetric: 2}), sideBySide(1, 100)...), map[string]int64{"gemm<1>": 540_000}},
	{"below-roof", "near the roof", append(ncuOf(map[string]float64{smShare: 10, memoryShare: 60, warpShare: 90, wavesMetric: 2}), ran(1, 1, 0, 1000, 100, "")), nil},
	{"below-roof", "not measured", append(ncuOf(map[string]float64{warpShare: 90}), ran(1, 1, 0, 1000, 100, "")), nil},
	{"low-occupancy", "a fifth of the warps", append(ncuOf(map[string]float64{smShare: 10, memoryShare: 40, warpShare: 20, wavesMetric: 2}), ran(1, 1, 0, 1000, 100, "")), map[string]int64{"gemm<1>": 600}},
	{"low-occupancy", "half of them", append(ncuOf(map[string]float64{smShare: 10, memoryShare: 40, warpShare: 50, wavesMetric: 2}), ran(1, 1, 0, 1000, 100, "")), nil},
	{"low-occupancy", "bound by memory all the same", append(ncuOf(map[string]float64{smShare: 10, memoryShare: 90, warpShare: 20, wavesMetric: 2}), ran(1, 1, 0, 1000, 100, "")), nil},
	{"pageable-copies", "one a pass", []string{hostCopy(1, "'Pageable'", 700), hostCopy(2, "'Pageable'", 800), idle("copy_ns = 2000")}, map[string]int64{"": 1500}},
	{"pageable-copies", "partly under kernels", []string{hostCopy(1, "'Pageable'", 700), hostCopy(2, "'Pageable'", 800), idle("copy_ns = 400")}, map[string]int64{"": 400}},
	{"pageable-copies", "under kernels", []string{hostCopy(1, "'Pageable'", 700), hostCopy(2, "'Pageable'", 800)}, nil},
	{"pageable-copies", "two in one of two passes", []string{hostCopy(1, "'Pageable'", 700), hostCopy(1, "'Pageable'", 700), idle("copy_ns = 2000")}, map[string]int64{"": 1400}},
	{"pageable-copies", "once in two passes", []string{hostCopy(1, "'Pageable'", 700), idle("copy_ns = 2000")}, nil},
	{"pageable-copies", "several in one of three passes", []string{hostCopy(1, "'Pageable'", 700), hostCopy(1, "'Pageable'", 700), hostCopy(1, "'Pageable'", 700), idle("copy_ns = 2000"), third}, nil},
	{"pageable-copies", "pinned memory, or not known", []string{hostCopy(1, "'Pinned'", 700), hostCopy(2, "'Pinned'", 700), hostCopy(1, "NULL", 700), hostCopy(2, "NULL", 700), idle("copy_ns = 2000")}, nil},
	{"exposed-copies", "a tenth of the time", []string{hostCopy(1, "'Pinned'", 700), hostCopy(2, "NULL", 800), "INSERT INTO memop SELECT * REPLACE ('memset' AS operation) FROM memop WHERE duration_ns = 700", idle("copy_ns = 200000")}, map[string]int64{"memcpy Host-to-Device": 200_000}},
	{"exposed-copies", "from pageable memory, which pageable-copies is about", []string{hostCopy(1, "'Pageable'", 150_000), hostCopy(2, "'Pageable'", 50_000), idle("copy_ns = 200000")}, nil},
	{"exposed-copies", "some from pageable memory", []string{hostCopy(1, "'Pageable'", 2000), hostCopy(2, "'Pageable'", 800), "INSERT INTO memop SELECT * REPLACE ('memset' AS operation) FROM memop WHERE duration_ns = 800", idle("copy_ns = 200000")},
		map[string]int64{"memset": 197_200}},
	{"exposed-copies", "little of it", []string{hostCopy(1, "'Pinned'", 700), idle("copy_ns = 99999")}, nil},
	{"exposed-collectives", "one half overlapped", []string{ran(1, 4, 0, 1000, 8, ""), ran(1, 1, 500, 1000, 200, "other")}, map[string]int64{"": 500}},
	{"exposed-collectives", "all of it", []string{ran(1, 4, 100, 1000, 8, ""), ran(1, 1, 0, 1200, 200, "other")}, nil},
	{"throttling", "half of the samples at half of the clock", sampled(5, 5, 9), map[string]int64{"": 2_000_000 / 4}},
	{"throttling", "clocks of a GPU at rest", sampled(0, 5, 9), nil},
	{"throttling", "samples of another GPU", append(sampled(5, 5, 0), "UPDATE capture_device SET uuid = 'GPU-b'"), nil},
}

// evidenceCases are sentences that evidence must hold, and others that it must not.
var evidenceCases = []struct {
	rule, want, not string
	stmts           []string
}{
	{"host-bound", "; 303.30 ms of it in one of 3 passes, 2.44 ms in the median pass", "each of", []string{
		third,
		"UPDATE device_time SET host_ns = CASE range_id WHEN 1 THEN 303300000 WHEN 2 THEN 2440000 ELSE 2300000 END"}},
	{"host-bound", "; 5.00 us of it in one of 2 passes, 2.50 us in the median pass", "each of", []string{idle("host_ns = 5000")}},
	{"cuda-calls", "about 4.50 us in each of 2 passes; most call time is in cudaMalloc: 1 call, 1.00 us", "1 calls", []string{"UPDATE device_time SET call_ns = 4000 + 1000 * (range_id - 1) WHERE range_id > 0", called(1, 2, 1, 1000)}},
	{"cuda-calls", "cudaLaunchKernel: 2 calls of 100 us or longer (loading code), 200.00 us", "; 1", []string{"UPDATE device_time SET call_ns = 4000", called(1, 3, 2, 100_000)}},
	{"host-waits", "; 4 calls that wait or copy take 9.01 us of CPU time, mostly in cudaMemcpyAsync", "Synchronize", []string{idle("wait_ns = 7"), called(1, 4, 1, 9000), called(1, 1, 3, 3)}},
	{"launch-bound", "busy 85.0 % of the time; idle 300.00 us inside launching calls; 300.00 us of it in one of 2 passes, 150.00 us in the median pass; launched one by one: 1 kernel, mean 10 ns", "between", []string{idle("launch_ns = 300000, kernel_ns = 700000"), ran(1, 1, 0, 10, 200, "")}},
	{"launch-bound", "; idle 100.00 us inside launching calls, 200.00 us between calls before the next launch and 300.00 us between a late launch and the start of its work;", "queued", []string{idle("launch_ns = 100000, launch_delay_ns = 200000, launch_latency_ns = 300000, kernel_ns = 400000"), ran(1, 1, 0, 10, 200, "")}},
	{"launch-bound", "launched one by one: 1,000 kernels per pass, mean 2.00 us; 2 graph replays per pass", "3.00 us", []string{idle("launch_ns = 300000"), ran(1, 1, 0, 2000, 200, ""), "INSERT INTO kernel SELECT k.* FROM kernel k, range(1999)", ran(1, 1, 0, 90000, 200, "graph"), replayed(4)}},
	{"graph-gaps", "; 1 graph replay per pass; graph replays take 75.0 % of GPU work time; launched one by one: 1 kernel per pass, mean 1.00 us", "kernels", []string{idle("launch_delay_ns = 300000"), ran(1, 1, 0, 1000, 200, ""), ran(2, 1, 0, 1000, 200, ""), ran(1, 1, 0, 6000, 200, "graph"), replayed(2)}},
	{"device-latency", "although the next work had been launched in time: 500 ns per gap over 10 gaps", " of any kind", []string{"UPDATE device_time SET queued_ns = 2500, gap_count = 5"}},
	{"pageable-copies", "2 copies from pageable memory in 1 of 2 passes (8.000 MB in total)", "1 of 1", []string{hostCopy(1, "'Pageable'", 700), hostCopy(1, "'Pageable'", 700), idle("copy_ns = 2000")}},
	{"exposed-copies", "mostly memcpy Host-to-Device: 2 calls, 1.50 us, 8.00 MB at 5.33 TB/s", "memset", []string{hostCopy(1, "'Pinned'", 700), hostCopy(2, "'Pinned'", 800), idle("copy_ns = 200000")}},
	{"exposed-collectives", "collectives take 1.00 us in 1 call,", "calls", []string{ran(1, 4, 0, 1000, 8, "")}},
}
