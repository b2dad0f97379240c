package averages

import (
	"slices"
	"strings"
)

// field is what a column holds.
type field uint8

const (
	nothing field = iota // nothing that is stored
	nameField
	countField
	deviceTypeField
	shapesField
	selfCPU
	totalCPU
	selfDevice
	totalDevice
	selfDeviceBytes
	totalDeviceBytes
	selfHostBytes
	totalHostBytes
	flops
	fieldCount
)

func (f field) isTime() bool  { return f >= selfCPU && f <= totalDevice }
func (f field) isBytes() bool { return f >= selfDeviceBytes && f <= totalHostBytes }
func (f field) isAmount() bool {
	return f >= selfCPU || f == countField
}

// trust is how much a column's name says.
type trust uint8

const (
	unknown trust = iota // nothing
	unclear              // not enough: column.reason says why
	loose                // a time, but not whether that of one call or of all: the values may tell
	certain              // all
	derived              // that it repeats or derives from other columns, or that no table has room for it
	dropped              // as derived, and the user should know where it is not empty
)

// column is one column of a table, as its name says.
type column struct {
	name   string // as in the file
	plain  string // its words in lower case, joined by _
	field  field
	trust  trust
	reason string
	unit   float64 // ns, bytes or operations of a 1 in the column; 0 when the name says none and cells may
	rank   int     // of several columns for one field, the lowest is taken
	old    bool    // a device time or memory by the name of one kind of device, as PyTorch's attributes were before 2.4
	strong bool    // that hardly any other table than one of a profiler has
}

// texts are the names of columns that hold no amount, the best of each kind first.
var texts = map[field][]string{
	nameField: {"key", "name", "op_name", "operator_name", "operator", "op", "operation_name", "operation", "op_key", "kernel_name",
		"kernel", "event_name", "event"},
	countField:      {"count", "calls", "#_of_calls", "number_of_calls", "no_of_calls", "num_calls", "n_calls", "ncalls", "call_count"},
	deviceTypeField: {"device_type"},
	shapesField:     {"input_shapes", "input_shape", "shapes"},
}

// Attributes of FunctionEventAvg and FunctionEvent (torch/autograd/profiler_util.py) that have no room in the table, and what
// pandas calls a column of row numbers.
var (
	derivedNames = []string{"", "index", "unnamed_0", "id", "node_id", "is_async", "is_remote", "is_legacy", "is_user_annotation", "use_device",
		"scope", "thread", "fwd_thread", "device_index", "device_resource_id", "sequence_nr", "trace_name", "cpu_children", "cpu_parent"}
	droppedNames = []string{"stack", "source_location", "overload_name", "concrete_inputs", "kwinputs"}
)

// columnOf returns what a column holds by its name. The names are those of PyTorch's attributes (self_cuda_time_total), headings of
// its printed table (Self CUDA), and such words in another order with a unit (total_device_us, self_cpu_time_ms).
func columnOf(name string) column {
	w := words(name)
	c := column{name: name, plain: strings.Join(w, "_")}
	for f, names := range texts {
		if i := slices.Index(names, c.plain); i >= 0 {
			c.field, c.trust, c.rank, c.unit = f, certain, i, 1
			return c
		}
	}
	switch {
	case c.plain == "" && name != "": // words of another script
	case slices.Contains(derivedNames, c.plain):
		c.trust = derived
	case slices.Contains(droppedNames, c.plain):
		c.trust = dropped
	default:
		c.measure(parseWords(w))
	}
	return c
}

// words splits a name at what is neither letter nor digit; "Self CPU (µs)" is self, cpu, us.
func words(name string) []string {
	name = strings.NewReplacer("µ", "u", "μ", "u").Replace(strings.ToLower(name))
	return strings.FieldsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '#' || r == '%')
	})
}

// measure says what a column of amounts holds.
func (c *column) measure(n nameParts) {
	switch {
	case !n.whole:
	case n.derived:
		c.trust = derived
	case n.flops > 0:
		c.operations(n)
	case n.memory || n.bytes != 0:
		c.memory(n)
	case n.processor == "" && (n.time || n.unit > 0):
		c.trust, c.reason = unclear, "it does not say which processor's time; some programs add self and total CPU time up in such a column"
	case n.processor != "" && (n.time || n.unit > 0 || n.self || n.total):
		c.time(n)
	}
}

func (c *column) time(n nameParts) {
	c.field, c.trust, c.unit = totalCPU, certain, n.unit
	if n.self {
		c.field = selfCPU
	}
	if c.attribute(n, "_time_total") {
		c.unit = 1e3
	}
	if c.device(n) {
		c.field += selfDevice - selfCPU
	}
	if !n.self && !n.total {
		c.trust, c.reason = loose, "it may be the time of one call, of all calls, or self time"
		if n.time && n.unit == 0 {
			c.reason = "PyTorch's attribute of that name is the mean over calls, but some files have totals under it"
		}
	}
	c.strong = n.self || n.total || n.processor != "cpu" && n.processor != "host" && n.processor != "gpu"
}

func (c *column) memory(n nameParts) {
	if n.processor == "" || n.time || n.unit > 0 {
		c.trust, c.reason = unclear, "it does not say which memory"
		return
	}
	c.field, c.trust, c.unit = totalHostBytes, certain, max(n.bytes, 1)
	if n.self {
		c.field = selfHostBytes
	}
	c.attribute(n, "_memory_usage")
	if c.device(n) {
		c.field -= selfHostBytes - selfDeviceBytes
	}
	if n.bytes < 0 {
		c.trust, c.reason = unclear, "its unit may mean 1000 or 1024"
	}
}

// attribute reports whether the name is exactly that of PyTorch's attribute, with the given end.
func (c *column) attribute(n nameParts, end string) bool {
	self := ""
	if n.self {
		self = "self_"
	}
	if c.plain == self+n.processor+end {
		return true
	}
	c.rank++
	return false
}

// device reports whether the column is of a device; new names come before old ones.
func (c *column) device(n nameParts) bool {
	if n.processor == "cpu" || n.processor == "host" {
		return false
	}
	if c.old = n.processor != "device"; c.old {
		c.rank += 2
	}
	return true
}

func (c *column) operations(n nameParts) {
	c.field, c.trust, c.unit = flops, certain, n.flops
	switch {
	case n.processor != "" || n.self || n.time || n.unit > 0 || n.memory || n.bytes != 0:
		c.field, c.trust, c.unit = nothing, unknown, 0
	case n.flops > 1 && !n.total:
		c.trust, c.reason = unclear, "it may be a rate"
	case n.flops > 1:
		c.rank = 1
	}
}
