package schema

import "context"

// Spelling returns a kernel's demangled name in a spelling that the profilers share, so that one kernel can be found in what
// several of them recorded. Nsight Systems prints a name in full, Nsight Compute's pages leave out some of its namespaces (not
// the same ones in every report), and PyTorch's profiler writes as c++filt does:
//
//	void at::native::<unnamed>::indexSelectSmallIndex<c10::BFloat16, (int)-2, (bool)1>(const T1 *)
//	void native::<unnamed>::indexSelectSmallIndex<c10::BFloat16, (int)-2, 1>(const T1 *)
//	void at::native::(anonymous namespace)::indexSelectSmallIndex<c10::BFloat16, -2, true>(long const*)
//
// are all spelled indexSelectSmallIndex<BFloat16,-2,1>. Left out are the qualifiers that are plain names (those with template arguments or
// parameters stay), the types and suffixes of template values, return types, blanks without meaning, and the parameters of a template:
// NVIDIA's tools write T1, T2, ... where c++filt writes them out, and its arguments say the same. Bool words become 0 and 1, a
// leading const comes after its type, and [lambda(int) (instance 2)] is written as c++filt does, {lambda(int)#2}. The spelling is
// never longer than the name and is its own spelling. A plain C name stays as it is, and so does a text that cannot be read as a
// C++ name, such as one that was cut off.
//
// Kernels that differ only in what is left out, such as two of one name in two namespaces, fall together.
func Spelling(name string) string {
	s := speller{in: name, out: make([]byte, 0, len(name)), word: none, levels: make([]level, 1, 8)}
	for s.at < len(s.in) {
		if !s.step() {
			return name
		}
	}
	s.settle()
	if s.scoped || len(s.levels) > 1 || len(s.out) > len(name) {
		return name
	}
	return string(s.out)
}

// spellingVersion changes with what Spelling gives, so that warehouses get their spellings anew.
const spellingVersion = "spelling 2"

// spellKernels fills kernel_spelling for a run.
func spellKernels(ctx context.Context, q SQL, runID string, kernels []kernelName) error {
	b := batch{table: "kernel_spelling", columns: 3}
	for _, k := range kernels {
		if err := b.add(ctx, q, runID, k.id, Spelling(k.name)); err != nil {
			return err
		}
	}
	return b.flush(ctx, q)
}
