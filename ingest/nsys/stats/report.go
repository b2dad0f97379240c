package stats

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// What the rows of a report add up, as reported_sum.report.
const (
	kernels      = "kernel"
	kernelGrids  = "kernel_grid"
	memoryTimes  = "memory_time"
	memorySizes  = "memory_size"
	apiCalls     = "api_call"
	osrtCalls    = "osrt_call"
	ranges       = "range"
	rangeWork    = "range_gpu"
	rangeKernels = "range_kernel"
	deviceWork   = "device" // kernels and memory operations in one table; stored as kernel and memory_time
)

// report is a report of nsys stats, by the names that its versions gave it.
type report struct {
	names []string
	what  string // "" for one that is recognised and not stored
	style string // of the ranges, where no column says it
}

var reports = []report{
	{[]string{"cuda_gpu_kern_sum", "gpukernsum"}, kernels, ""},
	{[]string{"cuda_gpu_kern_gb_sum", "gpukerngbsum", "kern_gb_sum"}, kernelGrids, ""},
	{[]string{"cuda_gpu_mem_time_sum", "gpumemtimesum", "mem_time_sum"}, memoryTimes, ""},
	{[]string{"cuda_gpu_mem_size_sum", "gpumemsizesum", "mem_size_sum"}, memorySizes, ""},
	{[]string{"cuda_gpu_sum", "gpusum"}, deviceWork, ""},
	{[]string{"cuda_api_sum", "cudaapisum", "api_sum"}, apiCalls, ""},
	{[]string{"osrt_sum", "osrtsum"}, osrtCalls, ""},
	{[]string{"nvtx_sum", "nvtxsum"}, ranges, ""},
	{[]string{"nvtx_pushpop_sum", "nvtxppsum"}, ranges, pushPop},
	{[]string{"nvtx_startend_sum", "nvtxsesum", "nvtxssum"}, ranges, startEnd},
	{[]string{"nvtx_gpu_proj_sum", "nvtxgpuprojsum"}, rangeWork, ""},
	{[]string{"nvtx_kern_sum", "nvtxkernsum"}, rangeKernels, ""},
	{[]string{"cuda_kern_exec_sum", "kernexecsum", "kern_exec_sum", "cuda_api_gpu_sum", "apigpusum", "um_sum", "umsum", "um_total_sum", "umtotalsum", "um_cpu_page_faults_sum", "umcpupagefaultssum"}, "", ""},
	{[]string{"cuda_gpu_trace", "gputrace", "cuda_api_trace", "cudaapitrace", "cuda_kern_exec_trace", "kernexectrace", "nvtx_pushpop_trace", "nvtxpptrace", "nvtx_startend_trace", "nvtx_gpu_proj_trace", "nvtxgpuproj", "nvtx_push_pop_trace", "osrt_trace", "openacc_sum", "openmp_sum", "mpi_event_sum", "mpi_msg_size_sum", "nccl_gpu_proj_sum", "vulkan_api_sum", "vulkan_gpu_marker_sum", "vulkan_marker_sum", "opengl_khr_range_sum", "opengl_khr_gpu_range_sum", "dx11_pix_sum", "dx12_gpu_marker_sum", "dx12_mem_ops", "cublas_sum", "cudnn_sum", "nvvideo_api_sum", "syscall_sum", "wddm_queue_sum"}, "", ""},
}

// Styles of ranges, as nvtx_range.style.
const (
	pushPop  = "push_pop"
	startEnd = "start_end"
)

// named returns the report of a name.
func named(name string) (report, bool) {
	i := slices.IndexFunc(reports, func(r report) bool { return slices.Contains(r.names, strings.ToLower(name)) })
	if i < 0 {
		return report{}, false
	}
	return reports[i], true
}

// fileEnd is what nsys adds to the name of a capture for the file of a report: run1_cuda_gpu_kern_sum.csv, and _base or _mangled for another
// spelling of names.
var fileEnd = func() *regexp.Regexp {
	var names []string
	for _, r := range reports {
		names = append(names, r.names...)
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // the longest name that fits
	return regexp.MustCompile(`(?i)(?:^|[_.-])(` + strings.Join(names, "|") + `)(?:[_.:-](?:base|mangled|nvtx-name|cuda-base|cuda-mangled))*\.(?:csv|txt)$`)
}()

// ofFile returns the report that a file's name ends with; "" for other files.
func ofFile(path string) string {
	if m := fileEnd.FindStringSubmatch(plainName(path)); m != nil {
		return strings.ToLower(m[1])
	}
	return ""
}

// IsOSRT reports whether a file is the report of OS calls, by its name.
func IsOSRT(path string) bool {
	r, _ := named(ofFile(path))
	return r.what == osrtCalls
}

func plainName(path string) string { return filepath.Base(plain(path)) }

func plain(path string) string {
	for _, end := range []string{".gz", ".zst"} {
		path = strings.TrimSuffix(path, end)
	}
	return path
}

// Pattern is the path of a source of several files: what their names have in common.
func Pattern(path string) string {
	c := Capture(path)
	if !strings.HasSuffix(c, string(filepath.Separator)) && c != "" {
		c += "_"
	}
	return c + anyFile
}

const anyFile = "*.csv"

// Capture names the capture that a file is of, as a path: files of a folder that nsys named alike are of one. Another file stays by itself.
func Capture(path string) string {
	whole, name := plain(path), plainName(path)
	if i := fileEnd.FindStringIndex(name); i != nil {
		return whole[:len(whole)-len(name)+i[0]]
	}
	return strings.TrimSuffix(strings.TrimSuffix(path, anyFile), "_")
}

// Stem is the name of the capture, where its files have one.
func Stem(path string) string {
	if c := Capture(path); c != "" && !strings.HasSuffix(c, string(filepath.Separator)) {
		return c
	}
	return path
}
