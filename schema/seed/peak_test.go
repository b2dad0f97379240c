package seed

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// byKey returns the peaks in T (10^12) a second by "device|resource|accumulate".
func byKey(t *testing.T) map[string]float64 {
	t.Helper()
	peaks, err := Peaks()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, p := range peaks {
		got[p.Device+"|"+p.Resource+"|"+p.Accumulate] = (p.FlopPerS + p.BytesPerS) / 1e12
	}
	return got
}

func TestPeaks(t *testing.T) {
	peaks, err := Peaks()
	if err != nil {
		t.Fatal(err)
	}
	devices, dram := map[string]bool{}, map[string]bool{}
	for _, p := range peaks {
		devices[p.Device] = true
		if p.Resource == "dram" {
			dram[p.Device] = true
		} else if !strings.HasPrefix(p.Doc, "dense") {
			t.Errorf("%s %s: doc %q does not say that it is dense", p.Device, p.Resource, p.Doc)
		}
		if p.CheckedOn.After(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)) || p.CheckedOn.Before(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s %s: checked on %s", p.Device, p.Resource, p.CheckedOn)
		}
	}
	for d := range devices {
		if !dram[d] {
			t.Errorf("%s has no peak of dram, so that it has no roofline", d)
		}
	}
	t.Logf("%d peaks of %d devices", len(peaks), len(devices))
}

// Every device that the documentation promises has what a utilisation needs: a tensor peak of 16 bits and the memory's bandwidth.
func TestPeaksOfEveryPromisedDevice(t *testing.T) {
	got := byKey(t)
	for _, device := range []string{
		"Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB", "Tesla V100-PCIE-16GB", "Tesla V100-PCIE-32GB", "Tesla V100S-PCIE-32GB", "Tesla T4",
		"NVIDIA A10", "NVIDIA A30", "NVIDIA A40", "NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB", "NVIDIA A100-PCIE-40GB",
		"NVIDIA A100 80GB PCIe", "NVIDIA A800-SXM4-80GB", "NVIDIA A800 80GB PCIe", "NVIDIA A800 40GB Active", "NVIDIA L4", "NVIDIA L40",
		"NVIDIA L40S", "NVIDIA H20", "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "NVIDIA H100 NVL", "NVIDIA H800", "NVIDIA H200",
		"NVIDIA H200 NVL", "NVIDIA GH200 480GB", "NVIDIA GH200 144G HBM3e", "NVIDIA B200", "NVIDIA GB200", "NVIDIA B300 SXM6 AC",
		"NVIDIA GB300", "NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090 Ti", "NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090 D",
		"NVIDIA GeForce RTX 5090", "NVIDIA RTX A6000", "NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition",
		"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA GB10",
		"NVIDIA Jetson AGX Orin 64GB", "NVIDIA Jetson T5000", "NVIDIA Jetson T4000",
	} {
		wanted := []string{"tensor_fp16|fp32", "tensor_bf16|fp32", "dram|"}
		if strings.HasPrefix(device, "Tesla ") {
			wanted = []string{"tensor_fp16|fp32", "dram|"} // before Ampere there is no BF16
		}
		for _, w := range wanted {
			if _, ok := got[device+"|"+w]; !ok {
				t.Errorf("%s has no %s", device, strings.TrimSuffix(w, "|"))
			}
		}
	}
}

// What tables print with structured sparsity must not be taken for the dense peak: the figures that are most often mixed up, among
// them those that are one precision's dense and another one's sparse figure (989 of the H100 is BF16 dense and TF32 sparse).
func TestPeaksAreDense(t *testing.T) {
	got := byKey(t)
	for key, sparse := range map[string]float64{
		"NVIDIA H100 80GB HBM3|tensor_bf16|fp32":        1978.9,
		"NVIDIA H100 80GB HBM3|tensor_tf32|fp32":        989.4,
		"NVIDIA H100 80GB HBM3|tensor_fp8|fp32":         3957.8,
		"NVIDIA H200|tensor_bf16|fp32":                  1979,
		"NVIDIA H200|tensor_tf32|fp32":                  989,
		"NVIDIA H100 PCIe|tensor_bf16|fp32":             1513,
		"NVIDIA H100 NVL|tensor_bf16|fp32":              1671,
		"NVIDIA H20|tensor_bf16|fp32":                   296,
		"NVIDIA H200 NVL|tensor_bf16|fp32":              1671,
		"NVIDIA A30|tensor_tf32|fp32":                   165,
		"NVIDIA GB10|tensor_fp4|fp32":                   1000,
		"NVIDIA GeForce RTX 4090 D|tensor_fp8|fp16":     1177,
		"NVIDIA Jetson AGX Orin 64GB|tensor_int8|int32": 170,
		"NVIDIA Jetson T5000|tensor_fp8|fp32":           1035,
		"NVIDIA B200|tensor_bf16|fp32":                  4500,
		"NVIDIA GB200|tensor_fp4|fp32":                  20000,
		"NVIDIA A100-SXM4-80GB|tensor_bf16|fp32":        624,
		"NVIDIA L4|tensor_bf16|fp32":                    242,
		"NVIDIA L40S|tensor_bf16|fp32":                  733,
		"NVIDIA GeForce RTX 4090|tensor_fp16|fp32":      330.4,
		"NVIDIA GeForce RTX 4090|tensor_fp16|fp16":      660.6,
		"NVIDIA GeForce RTX 5090|tensor_fp4|fp32":       3352,
		"NVIDIA GeForce RTX 3090|tensor_fp16|fp16":      284,
		"NVIDIA RTX A6000|tensor_bf16|fp32":             309.6,
	} {
		if dense, ok := got[key]; !ok || !near(dense, sparse/2, 0.02) {
			t.Errorf("%s: %g, want half of %g, which is with sparsity", key, dense, sparse)
		}
	}
}

var withSparsity = regexp.MustCompile(`([0-9][0-9,.]*) (T|PFLOPS|POPS)(?: printed, which)? is with sparsity`)

// Where a row says what was printed with sparsity, that is twice its figure.
func TestSparseIsTwiceDense(t *testing.T) {
	peaks, err := Peaks()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, p := range peaks {
		m := withSparsity.FindStringSubmatch(p.Doc)
		if m == nil {
			continue
		}
		sparse, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		if err != nil {
			t.Fatal(err)
		}
		if m[2] != "T" {
			sparse *= 1000
		}
		if dense := p.FlopPerS / 1e12; !near(dense, sparse/2, 0.007) {
			t.Errorf("%s %s: %g T, but %q", p.Device, p.Resource, dense, p.Doc)
		}
		compared++
	}
	if compared < 100 {
		t.Errorf("only %d rows say what is with sparsity", compared)
	}
}

// Sums in FP32 halve the rate of FP16 and FP8 on a GeForce, and on no other device.
func TestAccumulate(t *testing.T) {
	got := byKey(t)
	geforce := 0
	for key, half := range got {
		device, precision, _ := strings.Cut(key, "|")
		resource, accumulate, _ := strings.Cut(precision, "|")
		single, ok := got[device+"|"+resource+"|fp32"]
		if accumulate != "fp16" || resource == "fp16" {
			continue
		}
		want := single
		if strings.Contains(device, "GeForce") {
			want, geforce = 2*single, geforce+1
		}
		if !ok || !near(half, want, 0.002) {
			t.Errorf("%s %s: %g with FP16 sums, %g with FP32 ones", device, resource, half, single)
		}
	}
	if geforce < 8 {
		t.Errorf("only %d figures of GeForce compared", geforce)
	}
}

// Within a device the precisions stand in fixed ratios, so that one wrong cell is seen.
func TestPeakRatios(t *testing.T) {
	got := byKey(t)
	devices := map[string]bool{}
	for key := range got {
		device, _, _ := strings.Cut(key, "|")
		devices[device] = true
	}
	for device := range devices {
		bf16, ok := got[device+"|tensor_bf16|fp32"]
		if !ok {
			continue // V100 and T4 have no BF16
		}
		for resource, ratio := range map[string]float64{"tensor_tf32|fp32": 0.5, "tensor_fp16|fp32": 1, "tensor_fp8|fp32": 2} {
			if v, ok := got[device+"|"+resource]; ok && !near(v/bf16, ratio, 0.025) {
				t.Errorf("%s: %s is %.3f of BF16, want %g", device, resource, v/bf16, ratio)
			}
		}
		// Blackwell Ultra has given up most of FP64 and INT8.
		ultra := device == "NVIDIA B300 SXM6 AC" || device == "NVIDIA GB300"
		for resource, limits := range map[string][2]float64{
			"fp32|fp32": {1. / 33, 1. / 2}, "fp64|fp64": {1. / 512, 1. / 16}, "tensor_int8|int32": {1.99, 4.01}, "tensor_fp4|fp32": {3.99, 8.01},
			"tensor_fp16|fp16": {1, 2.01}, "tensor_fp8|fp16": {3.99, 4.01}, "dram|": {1. / 1000, 1. / 35},
		} {
			if ultra && (strings.Contains(resource, "64") || strings.Contains(resource, "int8")) {
				continue
			}
			if v, ok := got[device+"|"+resource]; ok && (v/bf16 < limits[0] || v/bf16 > limits[1]*1.01) {
				t.Errorf("%s: %s is %.4f of BF16, want %.4f to %.4f", device, resource, v/bf16, limits[0], limits[1])
			}
		}
	}
}

func near(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*want }

func TestParsePeaksRefuses(t *testing.T) {
	const head = "device,resource,accumulate,flop_per_s,bytes_per_s,doc,reference,checked_on\n"
	for in, want := range map[string]string{
		"":               "header",
		"device,flops\n": "header",
		head + "D,fp32,fp32,1e12,,d,r,2026-11-21\nD,fp32,fp32,2e12,,d,r,2026-11-21\n": "line 3: fp32 fp32 of D is in line 2",
		head + "D,dram,,,1e12,d,r,2026-11-21\nD,dram,,,2e12,d,r,2026-11-21\n":         "line 3: dram of D is in line 2",
		head + ",fp32,fp32,1e12,,d,r,2026-11-21\n":                                    "device",
		head + "D ,fp32,fp32,1e12,,d,r,2026-11-21\n":                                  "device",
		head + "D,bf16,fp32,1e12,,d,r,2026-11-21\n":                                   "resource",
		head + "D,tensor_bf16,fp16,1e12,,d,r,2026-11-21\n":                            "accumulate",
		head + "D,tensor_bf16,,1e12,,d,r,2026-11-21\n":                                "accumulate",
		head + "D,dram,fp32,,1e12,d,r,2026-11-21\n":                                   "accumulate",
		head + "D,fp32,fp32,,,d,r,2026-11-21\n":                                       "flop_per_s",
		head + "D,fp32,fp32,1e12,1e12,d,r,2026-11-21\n":                               "bytes_per_s",
		head + "D,dram,,1e12,,d,r,2026-11-21\n":                                       "flop_per_s",
		head + "D,dram,,,,d,r,2026-11-21\n":                                           "bytes_per_s",
		head + "D,fp32,fp32,0,,d,r,2026-11-21\n":                                      "not above 0",
		head + "D,fp32,fp32,-1,,d,r,2026-11-21\n":                                     "not above 0",
		head + "D,fp32,fp32,Inf,,d,r,2026-11-21\n":                                    "not above 0",
		head + "D,fp32,fp32,NaN,,d,r,2026-11-21\n":                                    "not above 0",
		head + "D,fp32,fp32,fast,,d,r,2026-11-21\n":                                   "flop_per_s",
		head + "D,fp32,fp32,1e12,,,r,2026-11-21\n":                                    "doc",
		head + "D,fp32,fp32,1e12,,d,,2026-11-21\n":                                    "reference",
		head + "D,fp32,fp32,1e12,,d,r,21.11.2026\n":                                   "checked_on",
		head + "D,fp32,fp32,1e12,,d,r\n":                                              "wrong number of fields",
	} {
		if _, err := ParsePeaks(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}

// A change of any file must change Source.
func TestSourceHoldsEveryFile(t *testing.T) {
	source, err := Source()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(source, string(text)) {
			t.Errorf("%s is not in Source", e.Name())
		}
	}
}
