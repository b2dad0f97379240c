package names

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSpellingCases holds each rule by itself; a name that is to stay as it is has no second text.
func TestSpellingCases(t *testing.T) {
	for _, c := range [][2]string{
		// what the profilers write
		{"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_TNT"},
		{"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0"},
		{"_ZN2at6native24vectorized_gather_kernelILi16ElEEvPcS2_PT0_illllb"},
		{"loop_add_fusion.3"},
		{"triton_poi_fused_add_0d1d2de"},
		{"saxpy(int, float, const float *, float *)", "saxpy(int,float,float const*,float*)"},
		{"saxpy(int, float, float const*, float*)", "saxpy(int,float,float const*,float*)"},
		{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096>)"},
		{"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096>)"},
		{"void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(T1::Params)", "Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>"},
		{"void cutlass::Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(cutlass_80_simt_sgemm_64x64_8x5_tn_align1::Params)", "Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>"},
		{"void Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>(Params)", "Kernel2<cutlass_80_simt_sgemm_64x64_8x5_tn_align1>"},
		{"void <unnamed>::softmax_warp_forward<float, (int)10, (bool)0>(T2 *, const T1 *)", "softmax_warp_forward<float,10,0>"},
		{"void at::native::(anonymous namespace)::indexSelectSmallIndex<long, -2, true>(long const*)", "indexSelectSmallIndex<long,-2,1>"},
		{"void at::native::<unnamed>::indexSelectSmallIndex<long, (int)-2, (bool)1>(const long *)", "indexSelectSmallIndex<long,-2,1>"},
		{"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, (bool)0>(T13)", "kernel<int,0>"},
		{"void k<(cute::SM90::GMMA::Major)0, (ns::E<(int)3>)1>(T1)", "k<0,1>"},
		{"void k<a::f<float>(const T1 &)::[lambda(int) (instance 2)]>(int, T3)", "k<f<float>::{lambda(int)#2}>"},
		{"void k<sum<int>::operator ()(at::TensorIterator &) const::[lambda() (instance 1)]>()", "k<sum<int>::operator()(TensorIterator&)const::{lambda()#1}>"},
		// corners
		{"void k<bool f<int>(T1)::[lambda() (instance 2)], std::tuple<int, >>(T2)", "k<f<int>::{lambda()#2},tuple<int>>"},
		{"void k<f<int>(int)::{lambda()#2}, std::tuple<int> >({lambda()#2})", "k<f<int>::{lambda()#2},tuple<int>>"},
		{"std::enable_if<!false, void>::type internal::gemvx::kernel<int, false>(P<int>)", "kernel<int,0>"},
		{"my kernel"},
		{"k<A<int>::B::C>()", "k<A<int>::C>"}, // a template-id stays, a plain name after it goes
		{"k<const unsigned int *const *, unsigned int const* const*>()", "k<unsigned int const*const*,unsigned int const*const*>"},
		{"k(const ns::X<const float> (&)[4])", "k(X<float const>const(&)[4])"},
		{"k(void *, const void *)", "k(void*,void const*)"},
		{"k<true, X<false>, truer>(bool)", "k<1,X<0>,truer>"},
		{"k<a::operator<, b::operator->>(c::T)", "k<operator<,operator->>"},
		{"k<(ns::T1 > (int)3)>(T1)", "k<(T1>(int)3)>"},
		{"void k<2u, 3l, 4ul, 5ll, 6ull, 0x7f, 1e5f>(X)", "k<2,3,4,5,6,0x7f,1e5f>"},
		{"void"},
		{""},
		// no C++ names
		{"void at::native::elementwise_kernel<(int)128, (int)4, void at::nat"},
		{"a::b)"},
		{"a::b::"},
		{"a::::b"},
		{"a: b"},
	} {
		want := c[1]
		if want == "" {
			want = c[0]
		}
		if got := Spelling(c[0]); got != want {
			t.Errorf("%s\nis spelled %s\nnot        %s", c[0], got, want)
		}
	}
}

type kernelNames struct{ program, symbol, nsys, ncu, filt, torch string }

// recordedNames reads names of kernels that Nsight Systems recorded, with what c++filt makes of the symbol; for those of two programs what Nsight
// Compute calls the kernel of the same symbol, and whether a trace of PyTorch's profiler has the name that c++filt gives.
func recordedNames(t *testing.T) (all []kernelNames) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "ncu", "kernel_names.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		all = append(all, kernelNames{r[0], r[1], r[2], r[3], r[4], r[5]})
	}
	return all
}

// TestSpellingPairs holds that the two tools' names of one kernel have one spelling: 112 kernels of one program, 39 of another.
func TestSpellingPairs(t *testing.T) {
	pairs, alike := map[string]int{}, 0
	for _, n := range recordedNames(t) {
		if n.ncu == "" {
			continue
		}
		pairs[n.program]++
		if n.ncu == n.nsys {
			alike++
		}
		if a, b := Spelling(n.nsys), Spelling(n.ncu); a != b {
			t.Errorf("%s\nnsys %s\nncu  %s", n.symbol, a, b)
		}
		for _, name := range []string{n.nsys, n.ncu} {
			if plain := !strings.ContainsAny(name, " <(:"); plain && Spelling(name) != name {
				t.Errorf("%s is spelled %s", name, Spelling(name))
			}
		}
	}
	if pairs["deepseek-ocr"] != 112 || pairs["llama"] != 39 || alike > 60 {
		t.Errorf("the test sees pairs %v, %d of them written alike", pairs, alike)
	}
}

// TestSpellingOfPyTorch checks that the names that PyTorch's profiler writes, which are c++filt's, have the spelling of Nsight Systems' names: all
// 107 kernels of a trace are among the symbols.
func TestSpellingOfPyTorch(t *testing.T) {
	inTrace, alike := 0, 0
	for _, n := range recordedNames(t) {
		if a, b := Spelling(n.nsys), Spelling(n.filt); a != b {
			t.Errorf("%s\nnsys    %s\nc++filt %s", n.symbol, a, b)
		}
		if n.torch == "yes" {
			inTrace++
		}
		if n.nsys == n.filt {
			alike++
		}
	}
	if inTrace != 136 || alike > 60 {
		t.Errorf("the test sees %d names of a trace, %d names written alike", inTrace, alike)
	}
}

// TestSpellingKeepsApart holds that kernels which Nsight Systems tells apart do not fall together.
func TestSpellingKeepsApart(t *testing.T) {
	symbols, names := map[string]bool{}, map[string][]string{}
	for _, n := range recordedNames(t) {
		symbols[n.symbol] = true
		if s := Spelling(n.nsys); !slices.Contains(names[s], n.nsys) {
			names[s] = append(names[s], n.nsys)
		}
	}
	for s, n := range names {
		if len(n) > 1 {
			t.Errorf("%s stands for\n%s", s, strings.Join(n, "\n"))
		}
	}
	if len(symbols) < 140 || len(symbols) != len(names) {
		t.Errorf("%d symbols have %d spellings", len(symbols), len(names))
	}
}

// hostileParts make names of deep or endless brackets.
var hostileParts = []string{"a::", "<", "(", "(a)", "a<(int)1>::", "const ", "void ", ")", "<(int)", "operator<", "((int)1,", "<unnamed>::", " ", "a, "}

// TestSpellingHostile holds that no such name exhausts the stack or grows.
func TestSpellingHostile(t *testing.T) {
	for _, part := range hostileParts {
		name := strings.Repeat(part, 1<<16/len(part))
		if got := Spelling(name); len(got) > len(name) {
			t.Errorf("%d bytes of %q become %d", len(name), part, len(got))
		}
	}
}

// BenchmarkSpelling shows that the time grows with the length of a name and not with its square: MB/s are the same for every size.
func BenchmarkSpelling(b *testing.B) {
	for _, size := range []int{1 << 12, 1 << 16, 1 << 20} {
		for _, part := range hostileParts[:5] {
			name := strings.Repeat(part, size/len(part))
			b.Run(fmt.Sprintf("%d/%s", size, part), func(b *testing.B) {
				b.SetBytes(int64(len(name)))
				for b.Loop() {
					Spelling(name)
				}
			})
		}
	}
}

func FuzzSpelling(f *testing.F) {
	for _, s := range []string{"void a::b<(int)128, const c::d *>(T1::P &)::[lambda(int) (instance 1)]", "k<true, 3ul, a::operator< >(const (anonymous namespace)::X)",
		"const<x>y", "< unnamed>::x", "( anonymous namespace)::x", "operator< <int>", "a b::c", "a: :b", "const a const", "<- >a::b", "void void x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		s := Spelling(name)
		if len(s) > len(name) {
			t.Errorf("%q grew to %q", name, s)
		}
		if again := Spelling(s); again != s {
			t.Errorf("%q is spelled %q, and that %q", name, s, again)
		}
	})
}
