package seed

import (
	"strings"
	"testing"
)

func TestSMRates(t *testing.T) {
	rates, err := SMRates()
	if err != nil {
		t.Fatal(err)
	}
	devices := peakDevices(t)
	capabilities := map[string]bool{}
	for _, r := range rates {
		capabilities[r.ComputeCapability] = true
		if r.Device != "" && !devices[r.Device] {
			t.Errorf("%s %s of %s: the device has no peaks", r.ComputeCapability, r.Resource, r.Device)
		}
	}
	for _, want := range []string{"7.0", "7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"} {
		if !capabilities[want] {
			t.Errorf("compute capability %s has no rate", want)
		}
	}
}

// The peaks by another way: what a multiprocessor does in a clock, times multiprocessors and boost clock. Both are of NVIDIA's
// whitepapers and datasheets, or follow from the CUDA cores and FP32 peak in them. Hopper's Tensor Cores count with a clock of their own.
func TestPeaksFollowFromTheHardware(t *testing.T) {
	peaks, err := Peaks()
	if err != nil {
		t.Fatal(err)
	}
	rates, err := SMRates()
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for _, p := range peaks {
		hw, ok := hardware[p.Device]
		if !ok || p.Resource == "dram" || rounded[p.Device+"|"+p.Resource] != "" {
			continue
		}
		flop := rateOf(rates, hw.capability, p)
		if flop == 0 {
			continue
		}
		ghz := hw.ghz
		if strings.HasPrefix(p.Resource, "tensor_") && p.Resource != "tensor_fp64" && hw.tensorGHz != 0 {
			ghz = hw.tensorGHz
		}
		if want := hw.sm * ghz * flop / 1000; !near(p.FlopPerS/1e12, want, 0.01) {
			t.Errorf("%s %s %s: %g T/s, the hardware does %.4g", p.Device, p.Resource, p.Accumulate, p.FlopPerS/1e12, want)
		}
		compared[p.Device]++
	}
	for device := range hardware {
		if compared[device] < 3 {
			t.Errorf("%s: %d peaks compared", device, compared[device])
		}
	}
}

// hardware holds what has a published clock; the boards of Blackwell's data centre, GB10, H20 and the NVL boards have none.
var hardware = map[string]struct {
	capability         string
	sm, ghz, tensorGHz float64
}{
	"Tesla V100-SXM2-16GB":           {"7.0", 80, 1.530, 0},
	"Tesla V100-SXM2-32GB":           {"7.0", 80, 1.530, 0},
	"Tesla V100-PCIE-16GB":           {"7.0", 80, 1.380, 0},
	"Tesla V100-PCIE-32GB":           {"7.0", 80, 1.380, 0},
	"Tesla V100S-PCIE-32GB":          {"7.0", 80, 1.597, 0},
	"Tesla T4":                       {"7.5", 40, 1.590, 0},
	"NVIDIA A100-SXM4-40GB":          {"8.0", 108, 1.410, 0},
	"NVIDIA A100-SXM4-80GB":          {"8.0", 108, 1.410, 0},
	"NVIDIA A100-PCIE-40GB":          {"8.0", 108, 1.410, 0},
	"NVIDIA A100 80GB PCIe":          {"8.0", 108, 1.410, 0},
	"NVIDIA A800-SXM4-80GB":          {"8.0", 108, 1.410, 0},
	"NVIDIA A800 80GB PCIe":          {"8.0", 108, 1.410, 0},
	"NVIDIA A800 40GB Active":        {"8.0", 108, 1.410, 0},
	"NVIDIA A30":                     {"8.0", 56, 1.440, 0},
	"NVIDIA A10":                     {"8.6", 72, 1.695, 0},
	"NVIDIA A40":                     {"8.6", 84, 1.740, 0},
	"NVIDIA RTX A6000":               {"8.6", 84, 1.800, 0},
	"NVIDIA GeForce RTX 3090":        {"8.6", 82, 1.695, 0},
	"NVIDIA GeForce RTX 3090 Ti":     {"8.6", 84, 1.860, 0},
	"NVIDIA Jetson AGX Orin 64GB":    {"8.7", 16, 1.300, 0},
	"NVIDIA L4":                      {"8.9", 58, 2.040, 0},
	"NVIDIA L40":                     {"8.9", 142, 2.490, 0},
	"NVIDIA L40S":                    {"8.9", 142, 2.520, 0},
	"NVIDIA RTX 6000 Ada Generation": {"8.9", 142, 2.505, 0},
	"NVIDIA GeForce RTX 4090":        {"8.9", 128, 2.520, 0},
	"NVIDIA GeForce RTX 4090 D":      {"8.9", 114, 2.520, 0},
	"NVIDIA H100 80GB HBM3":          {"9.0", 132, 1.980, 1.830},
	"NVIDIA H100 PCIe":               {"9.0", 114, 1.755, 1.620},
	"NVIDIA H800":                    {"9.0", 132, 1.980, 1.830},
	"NVIDIA H200":                    {"9.0", 132, 1.980, 1.830},
	"NVIDIA GH200 480GB":             {"9.0", 132, 1.980, 1.830},
	"NVIDIA GH200 144G HBM3e":        {"9.0", 132, 1.980, 1.830},
	"NVIDIA Jetson T5000":            {"11.0", 20, 1.575, 0},
	"NVIDIA GeForce RTX 5090":        {"12.0", 170, 2.407, 0},
	"NVIDIA RTX PRO 6000 Blackwell Workstation Edition":       {"12.0", 188, 2.617, 0},
	"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition": {"12.0", 188, 2.288, 0},
	"NVIDIA RTX PRO 6000 Blackwell Server Edition":            {"12.0", 188, 2.430, 0},
}

// rounded are printed figures that are more than 1 % away, with why.
var rounded = map[string]string{
	"NVIDIA L40S|tensor_bf16":                           "362.05 is printed, half of the sparse figure beside it is 366.5",
	"NVIDIA L40S|tensor_fp16":                           "362.05 is printed, half of the sparse figure beside it is 366.5",
	"NVIDIA RTX PRO 6000 Blackwell Server Edition|fp32": "120 is printed, the hardware does 116.9",
}

// rateOf is 0 where there is none.
func rateOf(rates []SMRate, capability string, p DevicePeak) float64 {
	for _, r := range rates {
		if r.ComputeCapability == capability && (r.Device == "" || r.Device == p.Device) && r.Resource == p.Resource && r.Accumulate == p.Accumulate {
			return r.FlopPerCycle
		}
	}
	return 0
}

func peakDevices(t *testing.T) map[string]bool {
	t.Helper()
	peaks, err := Peaks()
	if err != nil {
		t.Fatal(err)
	}
	devices := map[string]bool{}
	for _, p := range peaks {
		devices[p.Device] = true
	}
	return devices
}

func TestParseSMRatesRefuses(t *testing.T) {
	const head = "compute_capability,device,resource,accumulate,flop_per_cycle,reference\n"
	if got, err := ParseSMRates(strings.NewReader(head + "9.0,,fp32,fp32,256,r\n9.0,D,tensor_fp16,fp32,4096,r\n9.0,E,tensor_fp16,fp32,64,r\n8.9,,tensor_fp16,fp32,64,r\n")); err != nil || len(got) != 4 {
		t.Fatalf("got %v, %v", got, err)
	}
	for in, want := range map[string]string{
		"": "header",
		"compute_capability,resource,accumulate,flop_per_cycle,reference\n": "header",
		head + "9.0,,fp32,fp32,256,r\n9.0,,fp32,fp32,128,r\n":               "line 3: fp32 fp32 of 9.0 is in line 2",
		head + "9.0,D,fp32,fp32,256,r\n9.0,D,fp32,fp32,128,r\n":             "line 3: fp32 fp32 of 9.0 D is in line 2",
		head + "9.0,,fp32,fp32,256,r\n9.0,D,fp32,fp32,128,r\n":              "line 3: fp32 fp32 of 9.0 is of D here, and of every device in line 2",
		head + "9.0,D,fp32,fp32,256,r\n9.0,,fp32,fp32,128,r\n":              "line 3: fp32 fp32 of 9.0 is of every device here, and of one in line 2",
		head + "90,,fp32,fp32,256,r\n":                                      "compute_capability",
		head + "sm_90,,fp32,fp32,256,r\n":                                   "compute_capability",
		head + "9.0,D ,fp32,fp32,256,r\n":                                   "device",
		head + "9.0,,bf16,fp32,256,r\n":                                     "resource",
		head + "9.0,,dram,,256,r\n":                                         "dram",
		head + "9.0,,tensor_bf16,fp16,256,r\n":                              "accumulate",
		head + "9.0,,fp32,fp32,,r\n":                                        "flop_per_cycle",
		head + "9.0,,fp32,fp32,0,r\n":                                       "not above 0",
		head + "9.0,,fp32,fp32,Inf,r\n":                                     "not above 0",
		head + "9.0,,fp32,fp32,256,\n":                                      "reference",
		head + "9.0,,fp32,fp32,256\n":                                       "wrong number of fields",
	} {
		if _, err := ParseSMRates(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}
