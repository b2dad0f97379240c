package load

// Shape is the launch shape of a kernel: grid and block in x, y, z, registers of a thread, static and dynamic shared bytes of a block.
type Shape struct {
	Values [ShapeColumns]int32
	Known  uint16 // a bit a value, set where the capture records it
}

const (
	// StaticShared is the place of the static shared bytes in a Shape; the dynamic ones follow.
	StaticShared = 7
	// ShapeColumns is how many values a Shape has.
	ShapeColumns = 9
)

// Set notes value i.
func (s *Shape) Set(i int, value int32) {
	s.Values[i] = value
	s.Known |= 1 << i
}

// ShapeNames are the columns of kernel_shape for the values of a Shape.
var ShapeNames = []string{"grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "register_count", "static_shared_bytes", "dynamic_shared_bytes"}

// ShapeID numbers the launch shapes of the run's kernels: 1, 2, ... It is safe for concurrent use.
func (r *Run) ShapeID(s Shape) int32 { return r.shapes.Of(s) + 1 }
