package ncu

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Launch is one launch of a kernel that ncu is to profile.
type Launch struct {
	Symbol     string // mangled name of the kernel
	Invocation int64  // 1, 2, ... among the launches of that name, in the order of their launch calls
	Of         int64  // launches of that name in the process; 0: not known
}

// Target is what ncu is to profile.
type Target struct {
	Launches []Launch
	Device   *int64 // GPU, by CUDA's number, whose launches alone are profiled; nil: all
	Rank     *int64 // rank of the job that ran them; nil: not known, or no job
	Graphs   bool   // whole CUDA graphs in place of kernels
	Local    *int64 // its place on the machine, as far as ranks are in the order of their GPUs; nil: no job
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

// profiledCount counts the launches that ncu profiles by kernelID: those of each name at each number that it comes to. 0: not known.
func profiledCount(launches []Launch) (n int) {
	of, numbers := map[string]int64{}, map[int64]bool{}
	for _, l := range launches {
		if l.Of == 0 {
			return 0
		}
		of[l.Symbol], numbers[l.Invocation] = l.Of, true
	}
	for number := range numbers {
		for _, last := range of {
			if number <= last {
				n++
			}
		}
	}
	return n
}

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
