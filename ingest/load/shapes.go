package load

import "sync"

// Shape is the launch shape of a kernel: grid and block in x, y, z, registers of a thread, static and dynamic shared bytes of a block.
type Shape struct {
	Values [ShapeColumns]int32
	Known  uint16 // a bit a value, set where the capture records it
}

// ShapeColumns is how many values a Shape has.
const ShapeColumns = 9

// Set notes value i.
func (s *Shape) Set(i int, value int32) {
	s.Values[i] = value
	s.Known |= 1 << i
}

// Shapes numbers the launch shapes of a run's kernels: 1, 2, ... It is safe for concurrent use.
type Shapes struct {
	mu   sync.Mutex
	ids  map[Shape]int32
	list []Shape
}

// Add gives the number of a shape.
func (s *Shapes) Add(shape Shape) int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id, ok := s.ids[shape]; ok {
		return id
	}
	if s.ids == nil {
		s.ids = map[Shape]int32{}
	}
	s.list = append(s.list, shape)
	id := int32(len(s.list))
	s.ids[shape] = id
	return id
}
