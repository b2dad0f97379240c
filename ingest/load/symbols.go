package load

import "sync"

// Symbols collects the mangled names of a run's kernels. It is safe for concurrent use.
type Symbols struct {
	mu   sync.Mutex
	seen map[Symbol]bool
}

// Symbol is one mangled name of a kernel name; a name that stands for several functions has several.
type Symbol struct {
	KernelName int32
	Text       string
}

// Add notes a symbol.
func (s *Symbols) Add(kernelName int32, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[Symbol]bool{}
	}
	s.seen[Symbol{kernelName, text}] = true
}

// Each visits the symbols in no order.
func (s *Symbols) Each(f func(Symbol) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for symbol := range s.seen {
		if err := f(symbol); err != nil {
			return err
		}
	}
	return nil
}
