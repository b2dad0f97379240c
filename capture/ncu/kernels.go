package ncu

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"prof/capture/plan"
)

// Launch is one launch of a kernel that ncu is to profile.
type Launch struct {
	Symbol     string // mangled name of the kernel
	Invocation int64  // 1, 2, ... among the launches of that name after Target.Skip, in the order of their launch calls
	Match      int64  // 1, 2, ... among the launches after Target.Skip that match: those of the name of any chosen launch, at the number of any; 0: not known
}

// Target is what ncu is to profile.
type Target struct {
	Launches []Launch
	Skip     int64         // launches of any kernel before the first that may be chosen
	At       time.Duration // from the start of the workload to the last of the launches, without ncu; 0: not known
	Before   int64         // launches of any kernel before the last of them
	ToEnd    bool          // the workload is to run to its end, whatever is left to profile
	Device   *int64        // GPU, by CUDA's number, whose launches alone are profiled; nil: all
	Rank     *int64        // rank of the job that ran them; nil: not known, or no job
	Graphs   bool          // whole CUDA graphs in place of kernels
	Barred   bool          // some kernels to profile are of CUDA graphs with conditional nodes, which ncu profiles as wholes only
	Local    *int64        // its place on the machine, as far as ranks are in the order of their GPUs; nil: no job
}

// kernelID is the value of ncu's --kernel-id for launches: any context and stream, the names, the invocations. ncu takes the option
// once, so that each name goes with each number: a launch that is asked for of one kernel is profiled of the others too. Launches
// must not be empty.
func kernelID(launches []Launch) string {
	var symbols []string
	var numbers []int64
	for _, l := range launches {
		symbols, numbers = append(symbols, quoteSymbol(l.Symbol)), append(numbers, l.Invocation)
	}
	slices.Sort(symbols)
	slices.Sort(numbers)
	var invocations []string
	for _, n := range slices.Compact(numbers) {
		invocations = append(invocations, strconv.FormatInt(n, 10))
	}
	return "::regex:^(" + strings.Join(slices.Compact(symbols), "|") + ")$:^(" + strings.Join(invocations, "|") + ")$"
}

// matches returns how many launches kernelID matches up to the last of launches; 0 where that is not known.
func matches(launches []Launch) int {
	last := int64(0)
	for _, l := range launches {
		if l.Match == 0 {
			return 0
		}
		last = max(last, l.Match)
	}
	return int(last)
}

// Count returns how many launches ncu profiles by Args at most; 0 where nothing bounds them, or where several processes share the bound.
func Count(o plan.Options, target Target) int {
	switch {
	case target.Graphs:
		return graphCount(o)
	case o.Ncu.Rank == plan.AllRanks:
		return 0
	case o.ReplaysRanges() || o.Ncu.Kernels != "":
		return o.Ncu.LaunchCount
	}
	return matches(target.Launches)
}

// What ncu 2025.3.1 took on an H200 with driver 580, for an eager model of 1.5 B parameters in PyTorch 2.11.
const (
	// OneProfiled is the time of a profiled launch: 0.49 s with the 27 passes of the preset roofline, 0.39 s with 17 passes and 0.32 s with 10,
	// where the process held 0.3 GiB of GPU memory, which each pass restores; 0.14 s more with 40 GiB.
	OneProfiled = 500 * time.Millisecond

	SlowLaunch = 430 * time.Microsecond // what each launch before the last chosen one takes longer than by itself, be it chosen or not
	around     = 5 * time.Second        // what the first launch of each kernel takes longer, 3 s in all, and the start and the report of ncu
)

// Takes returns about how long ncu takes to profile a target; 0 where that is not known.
func Takes(o plan.Options, target Target) time.Duration {
	count := max(Count(o, target), len(target.Launches))
	if target.At == 0 || count == 0 {
		return 0
	}
	return target.At + time.Duration(target.Before)*SlowLaunch + time.Duration(count)*OneProfiled + around
}

// Kills reports whether ncu ends the workload when it has profiled all that it is to: kernels, of a number that is known.
func Kills(o plan.Options, target Target) bool {
	return !target.ToEnd && o.Ncu.Replay == plan.ReplayKernel && Count(o, target) > 0 && !isSet(o.Ncu.Args, killOption)
}

// killOption is ncu's option that ends the workload after the last launch. Who passes it by --ncu-arg decides.
const killOption = "--kill"

// isSet reports whether arguments have an option, as one word or as two.
func isSet(args []string, option string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return arg == option || strings.HasPrefix(arg, option+"=") })
}

// AsksGraphs reports whether the user's arguments say whether graphs are profiled as wholes.
func AsksGraphs(o plan.Options) bool { return isSet(o.Ncu.Args, graphProfiling) }

// quoteSymbol makes a regular expression that matches a symbol. Names of generated kernels hold dots, dollar signs and more;
// punctuation after a backslash stands for itself in every dialect. A colon would end the name within --kernel-id, and bytes beyond
// ASCII depend on the locale: for these stands a dot, which matches them and hardly another symbol.
func quoteSymbol(symbol string) string {
	var b strings.Builder
	for i := range len(symbol) {
		switch c := symbol[i]; {
		case c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
			b.WriteByte(c)
		case c == ':' || c <= ' ' || c >= 0x7f:
			b.WriteByte('.')
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}

// waiting are functions of kernels that wait for other ranks, one of each library that has some.
var waiting = []string{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "ncclDevKernel_AllGather_RING_LL", "ncclDevKernel_SendRecv", "cross_device_reduce_1stage", "cross_device_reduce_2stage",
	"allreduce_fusion_kernel_oneshot_lamport", "oneshotAllreduceFusionKernel", "nvshmemi_barrier", "one_shot_all_reduce_kernel"}

// MatchesWaiting returns a kernel that waits for other ranks among those that the user's pattern of function names matches; "" for none,
// and for a pattern in a dialect of ncu's that Go's does not have.
func MatchesWaiting(pattern string) string {
	re, err := regexp.Compile(strings.TrimPrefix(pattern, "regex:"))
	if err != nil {
		return ""
	}
	for _, name := range waiting {
		if re.MatchString(name) {
			return name
		}
	}
	return ""
}
