package nvml

import (
	"slices"
	"testing"

	"prof/schema/rundir"
)

func TestOtherProcesses(t *testing.T) {
	own := func(pid int) bool { return pid < 10 }
	before := map[int]bool{20: true, 21: true}
	for name, c := range map[string]struct {
		pids []int
		own  func(int) bool
		same bool
		want *int64
	}{
		"alone":                  {[]int{1, 2}, own, true, new(int64(0))},
		"none":                   {nil, own, true, new(int64(0))},
		"others":                 {[]int{1, 20, 30, 30}, own, true, new(int64(2))},
		"before the workload":    {[]int{20, 30}, nil, true, new(int64(2))},
		"container, none":        {nil, own, false, nil},
		"container, own":         {[]int{1}, own, false, nil},
		"container, who knows":   {[]int{30}, own, false, nil},
		"container, known other": {[]int{1, 20, 30}, own, false, new(int64(1))},
	} {
		got := otherProcesses(c.pids, c.own, before, c.same)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestVisibleDevices(t *testing.T) {
	alike := []rundir.Device{{Index: 0, UUID: "GPU-aa1", Name: "H200"}, {Index: 1, UUID: "GPU-aa2", Name: "H200"}, {Index: 2, UUID: "GPU-b", Name: "H200"}}
	mixed := []rundir.Device{{Index: 0, UUID: "GPU-a", Name: "T4"}, {Index: 1, UUID: "GPU-b", Name: "A100"}}
	for _, c := range []struct {
		devices []rundir.Device
		environ []string
		want    []int
		known   bool
	}{
		{alike, nil, []int{0, 1, 2}, true},
		{alike, []string{"CUDA_VISIBLE_DEVICES=2,0"}, []int{2, 0}, true},
		{alike, []string{"CUDA_VISIBLE_DEVICES="}, nil, true},
		{alike, []string{"CUDA_VISIBLE_DEVICES=-1"}, nil, true},
		{alike, []string{"CUDA_VISIBLE_DEVICES=1,7,0"}, []int{1}, true},
		{alike, []string{"CUDA_VISIBLE_DEVICES=1,1"}, []int{1}, true},
		{alike, []string{"CUDA_VISIBLE_DEVICES=GPU-b, GPU-aa1"}, []int{2, 0}, true},
		{alike, []string{"CUDA_VISIBLE_DEVICES=GPU-aa"}, nil, true},
		{alike, []string{"CUDA_VISIBLE_DEVICES=MIG-x"}, []int{0, 1, 2}, false},
		{alike, []string{"CUDA_VISIBLE_DEVICES=MIG-GPU-b/3/0"}, []int{2}, true},
		{mixed, []string{"CUDA_VISIBLE_DEVICES=0"}, []int{0, 1}, false},
		{mixed, []string{"CUDA_VISIBLE_DEVICES=0", "CUDA_DEVICE_ORDER=PCI_BUS_ID"}, []int{0}, true},
	} {
		got, known := VisibleDevices(c.devices, c.environ)
		if !slices.Equal(got, c.want) || known != c.known {
			t.Errorf("%q: %v, %v, want %v, %v", c.environ, got, known, c.want, c.known)
		}
	}
	some, err := OnlyDevices(&fakeNVML{devices: alike}, []int{2}).Devices()
	if err != nil || len(some) != 1 || some[0].UUID != "GPU-b" {
		t.Errorf("%+v, %v", some, err)
	}
}
