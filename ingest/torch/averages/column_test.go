package averages

import (
	"strings"
	"testing"
)

// TestColumnOf: what names of columns say, and where they say nothing.
func TestColumnOf(t *testing.T) {
	for _, c := range []struct {
		names string // by commas
		field field
		trust trust
		unit  float64
	}{
		{"key,name,op,op_name,operator,Name,Op Name", nameField, certain, 1},
		{"count,calls,# of Calls,num_calls", countField, certain, 1},
		{"device_type", deviceTypeField, certain, 1},
		{"input_shapes,Input Shapes", shapesField, certain, 1},
		{"self_cpu_time_total,self_cpu_us,self_cpu_time_us,Self CPU (µs),self_cpu_time_total_us", selfCPU, certain, 1e3},
		{"cpu_time_total,cpu_total_us,total_cpu_us,cpu_time_total_us,Total CPU time [us]", totalCPU, certain, 1e3},
		{"self_cuda_time_total,self_device_time_total,self_xpu_time_total,self_privateuse1_time_total,self_gpu_us", selfDevice, certain, 1e3},
		{"device_total_ms,cuda_total_time_ms", totalDevice, certain, 1e6},
		{"Self CPU,self_cpu_time,self_cpu_total", selfCPU, certain, 0},
		{"CUDA total,total_cuda_time", totalDevice, certain, 0},
		{"cuda_time,device_time", totalDevice, loose, 0},
		{"cuda_time_ms,cuda_ms", totalDevice, loose, 1e6},
		{"cpu_time_us,cpu_us", totalCPU, loose, 1e3},
		{"cpu_memory_usage,cpu_mem,CPU Mem,cpu_memory_bytes,host_bytes", totalHostBytes, certain, 1},
		{"self_cuda_memory_usage,self_device_mem,Self CUDA Mem", selfDeviceBytes, certain, 1},
		{"device_memory_mib", totalDeviceBytes, certain, 1 << 20},
		{"cuda_memory_mb", totalDeviceBytes, unclear, 1},
		{"flops,total_flops,flop_count", flops, certain, 1},
		{"Total KFLOPs", flops, certain, 1e3},
		{"gflops", flops, unclear, 1e9},
		{"total_time_ms,time_us,total_us,self_time_ms,memory_bytes,duration", nothing, unclear, 0},
		{"cpu_time_avg,CPU time avg,Self CPU %,mean_ms,cuda_time_pct,cpu_time_total_str,index,node_id,self_cpu_percent,Unnamed: 0", nothing, derived, 0},
		{"stack,Source Location,overload_name", nothing, dropped, 0},
		{"cuda_ms/step,cpu_time_total_old,名称,device,total,self,phase,max_autotune,flops_per_byte,cpu_cuda_us,us_us_cpu,cuda_flops", nothing, unknown, 0},
	} {
		for _, name := range strings.Split(c.names, ",") {
			got := columnOf(name)
			if got.field != c.field || got.trust != c.trust || got.unit != c.unit || (got.reason != "") != (c.trust == unclear || c.trust == loose) || got.name != name {
				t.Errorf("%q: %+v, want field %d, trust %d, unit %v", name, got, c.field, c.trust, c.unit)
			}
		}
	}
}

func TestShapesJSON(t *testing.T) {
	for in, want := range map[string]string{
		"[]": "[]", "[[1,2],[]]": "[[1, 2], []]", " [ [ 1 , 2 ] ] ": "[[1, 2]]", "((1,), (2, 3))": "[[1], [2, 3]]", "[torch.Size([4, 5])]": "[[4, 5]]",
		"[[[1], [2]], -1]": "[[[1], [2]], -1]", "": "", "None": "", "[1": "", "[1]]": "", "[1 2]": "", "[,1]": "", "[1, a]": "", "[01]": "", "[--1]": "", "(1]": "",
		strings.Repeat("[", 100) + strings.Repeat("]", 100): "", "[1.5]": "", `["a"]`: "",
	} {
		if got, ok := shapesJSON(in); got != want || ok != (want != "") {
			t.Errorf("%q gives %q, %v", in, got, ok)
		}
	}
}
