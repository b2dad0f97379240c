package xla_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"prof/ingest/load"
	"prof/ingest/rows/rowstest"
	"prof/ingest/xla"
)

const capture = "../../testdata/foreign/jax.xplane.pb.gz"

// stored loads a profile, in memory.
func stored(t *testing.T, path string) (*rowstest.Kept, *load.SourceInfo, error) {
	t.Helper()
	k := rowstest.New(t, load.Options{APIRows: true})
	path = rowstest.Plain(t, path)
	info, err := xla.Identify(t.Context(), path, path)
	if err == nil {
		info, err = xla.Load(t.Context(), path, path, k.Target)
	}
	if err != nil {
		return nil, nil, err
	}
	return k, info, k.StoreShared(t.Context())
}

// schemaOf is what of xplane.proto the tests use, for protobuf's own reader and writer.
func schemaOf(t testing.TB) protoreflect.MessageDescriptor {
	t.Helper()
	file := &descriptorpb.FileDescriptorProto{Name: proto.String("xplane.proto"), Syntax: proto.String("proto3")}
	for _, m := range []struct{ name, fields string }{
		{"XSpace", "planes=1:*XPlane"},
		{"XPlane", "name=2:string lines=3:*XLine events=4:*EventEntry stats=5:*StatEntry own=6:*XStat"},
		{"EventEntry", "key=1:int64 value=2:Metadata"}, {"StatEntry", "key=1:int64 value=2:Metadata"},
		{"Metadata", "id=1:int64 name=2:string"},
		{"XLine", "id=1:int64 name=2:string timestamp=3:int64 events=4:*XEvent"},
		{"XEvent", "metadata=1:int64 offset=2:int64 duration=3:int64 stats=4:*XStat"},
		{"XStat", "metadata=1:int64 uint=3:uint64 int=4:int64 text=5:string ref=7:uint64"},
	} {
		d := &descriptorpb.DescriptorProto{Name: proto.String(m.name)}
		for _, f := range strings.Fields(m.fields) {
			name, rest, _ := strings.Cut(f, "=")
			number, kind, _ := strings.Cut(rest, ":")
			var n int32
			fmt.Sscan(number, &n)
			field := &descriptorpb.FieldDescriptorProto{Name: proto.String(name), Number: proto.Int32(n), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
			if strings.HasPrefix(kind, "*") {
				field.Label, kind = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum(), kind[1:]
			}
			switch kind {
			case "string":
				field.Type = descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()
			case "int64":
				field.Type = descriptorpb.FieldDescriptorProto_TYPE_INT64.Enum()
			case "uint64":
				field.Type = descriptorpb.FieldDescriptorProto_TYPE_UINT64.Enum()
			default:
				field.Type, field.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String("."+kind)
			}
			d.Field = append(d.Field, field)
		}
		file.MessageType = append(file.MessageType, d)
	}
	fd, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return fd.Messages().ByName("XSpace")
}

// each calls f for the messages of a repeated field.
func each(m protoreflect.Message, name string, f func(protoreflect.Message)) {
	list := m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name))).List()
	for i := range list.Len() {
		f(list.Get(i).Message())
	}
}

func number(m protoreflect.Message, name string) int64 {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name))).Int()
}

func text(m protoreflect.Message, name string) string {
	return m.Get(m.Descriptor().Fields().ByName(protoreflect.Name(name))).String()
}

// TestJAX holds the kernels of a real profile to sums by protobuf's own reader.
func TestJAX(t *testing.T) {
	f, err := os.Open(capture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	space := dynamicpb.NewMessage(schemaOf(t))
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, space); err != nil {
		t.Fatal(err)
	}
	n, ps := 0, int64(0)
	each(space, "planes", func(p protoreflect.Message) {
		if !strings.HasPrefix(text(p, "name"), "/device:GPU") {
			return
		}
		each(p, "lines", func(l protoreflect.Message) {
			each(l, "events", func(e protoreflect.Message) { n, ps = n+1, ps+number(e, "duration") })
		})
	})
	k, info, err := stored(t, capture)
	if err != nil || len(info.Warnings) > 0 {
		t.Fatal(err, info)
	}
	kernels := k.Table("kernel")
	if got, want := fmt.Sprint(len(kernels), "|", 1000*kernels.Sum("duration_ns"), "|", len(kernels)-len(kernels.Is("launch_start_ns", "~"))), fmt.Sprint(n, "|", ps, "|", n); got != want || n == 0 {
		t.Errorf("kernels are %s, protobuf reads %s", got, want)
	}
	k.Table("device").Expect(t, "device_id name sm_count", "0|AMD device|256")
	if got := info.StartedAt.UTC().Format(time.DateTime); !strings.HasPrefix(got, "2026-05-20 08:45") {
		t.Errorf("it began at %s", got)
	}
}

// TestJAXOnNVIDIA holds a profile of an H200 to what jaxlib's own reader says of it, and what launched its work to the HLO operation that it says of each kernel.
func TestJAXOnNVIDIA(t *testing.T) {
	k, info, err := stored(t, "../../testdata/foreign/jax-h200.xplane.pb.gz")
	if err != nil || len(info.Warnings) > 0 {
		t.Fatal(err, info)
	}
	kernels, copies := k.Table("kernel"), k.Table("memop")
	if got := fmt.Sprint(len(kernels), len(copies), kernels.Sum("duration_ns")+copies.Sum("duration_ns")); got != "176 8 565317" {
		t.Errorf("kernels, copies and their time are %s, jaxlib reads 176, 8 and 565317", got)
	}
	k.Table("device").Expect(t, "device_id name compute_capability sm_count clock_hz memory_bytes memory_bytes_per_s", "0|NVIDIA H200|9.0|132|1980000000|150109880320|4814304000000")
	launched := map[string]int32{} // pieces of work by operation: replays of a graph are of the operation that replays it
	for _, o := range k.Table("op") {
		if n, ok := o.Get("self_work_count").(int32); ok && n > 0 {
			launched[o.Get("op_name_id.name").(string)] += n
		}
	}
	want := map[string]int32{"gemm_fusion_dot.1": 4, "gemm_fusion_dot.2": 4, "loop_multiply_fusion": 4, "loop_reduce_fusion": 4, "copy.8": 4, "copy.9": 4, "command_buffer_5": 160}
	if !maps.Equal(launched, want) {
		t.Errorf("operations launch %v, want %v", launched, want)
	}
}

// made is a profile of a copy, a kernel and what launched it, and of a TPU, with names behind the events as protobuf allows.
func made(t testing.TB) []byte {
	t.Helper()
	space := dynamicpb.NewMessage(schemaOf(t))
	add := func(m protoreflect.Message, name string) protoreflect.Message {
		return m.Mutable(m.Descriptor().Fields().ByName(protoreflect.Name(name))).List().AppendMutable().Message()
	}
	set := func(m protoreflect.Message, name string, v any) {
		m.Set(m.Descriptor().Fields().ByName(protoreflect.Name(name)), protoreflect.ValueOf(v))
	}
	plane := func(name string, names ...string) protoreflect.Message {
		p := add(space, "planes")
		set(p, "name", name)
		for i, n := range names {
			for _, list := range []string{"events", "stats"} {
				e := add(p, list)
				set(e, "key", int64(i+1))
				v := e.Mutable(e.Descriptor().Fields().ByName("value")).Message()
				set(v, "name", n)
			}
		}
		return p
	}
	event := func(l protoreflect.Message, name, offset, duration int64, stats ...any) {
		e := add(l, "events")
		set(e, "metadata", name)
		set(e, "offset", offset)
		set(e, "duration", duration)
		for i := 0; i < len(stats); i += 2 {
			s := add(e, "stats")
			set(s, "metadata", int64(stats[i].(int)))
			switch v := stats[i+1].(type) {
			case int:
				set(s, "uint", uint64(v))
			case string:
				set(s, "text", v)
			}
		}
	}
	line := func(p protoreflect.Message, name string, id int64) protoreflect.Message {
		l := add(p, "lines")
		set(l, "name", name)
		set(l, "id", id)
		set(l, "timestamp", int64(1000))
		return l
	}
	gpu := plane("/device:GPU:1", "fusion", "MemcpyH2D", "correlation_id", "memcpy_details", "kernel_details")
	stream := line(gpu, "Stream #13(Kernel,MemcpyH2D)", 13)
	event(stream, 1, 5_000_000, 2_000_000, 3, 7, 5, "regs:32 static_shared:0 dynamic_shared:0 grid:4,2,1 block:128,1,1 occ_pct:50")
	event(stream, 2, 9_000_000, 1_500_000, 3, 8, 4, "kind_src:pageable kind_dst:device size:4096 dest:0 async:1")
	event(line(gpu, "XLA Modules", 99), 1, 5_000_000, 5_500_000)
	host := plane("/host:CPU", "cuLaunchKernel", "prefill", "$model.py:7 forward", "correlation_id")
	thread := line(host, "python/77", 77)
	event(thread, 2, 0, 20_000_000)
	event(thread, 3, 500_000, 4_000_000)
	event(thread, 1, 1_000_000, 750_000, 4, 7)
	event(line(plane("/device:TPU:0", "dot.1"), "XLA Ops", 1), 1, 0, 3_000_000)
	data, err := proto.Marshal(space)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "host.xplane.pb")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMade(t *testing.T) {
	data := made(t)
	k, info, err := stored(t, write(t, data))
	if err != nil || len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], "1 events of category /device:TPU:0 XLA Ops are not stored") {
		t.Fatalf("%v, %+v", err, info)
	}
	k.Table("kernel").Expect(t, "device_id stream_id start_ns duration_ns launch_start_ns launch_duration_ns kernel_name_id.name kernel_shape_id.grid_x kernel_shape_id.grid_y kernel_shape_id.block_x path_id.name",
		"1|13|5000|2000|1000|750|fusion|4|2|128|prefill")
	k.Table("memop").Expect(t, "operation device_id duration_ns size_bytes", "memcpy Host-to-Device|1|1500|4096")
	k.Table("python_call").Expect(t, "tid duration_ns", "77|4000")
	k.Table("nvtx_range").Expect(t, "name tid duration_ns", "prefill|77|20000")
	const dropped = "Detected GPU events dropped on host: Profiler has collected 1 driver events and 2 device events. 5 events dropped because total device(activity) events reaches max."
	k, _, err = stored(t, write(t, protowire.AppendString(protowire.AppendTag(slices.Clone(data), 3, protowire.BytesType), dropped)))
	if err != nil {
		t.Fatal(err)
	}
	k.Table("diagnostic").Is("origin", "capture").Expect(t, "severity message", "warning|"+dropped)
	for n := 3; n < len(data); n += 61 { // protobuf that was cut is no protobuf, or lacks planes
		if _, _, err := stored(t, write(t, data[:n])); err == nil || !errors.Is(err, xla.ErrSyntax) && !errors.Is(err, xla.ErrNoWork) {
			t.Fatalf("cut after %d of %d bytes: the error is %v", n, len(data), err)
		}
	}
}

// TestNoWork: a profile without work says what planes it has.
func TestNoWork(t *testing.T) {
	field := func(n protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
	}
	for says, data := range map[string][]byte{
		"planes: none with lines":                   field(1, field(2, []byte("/host:CPU"))),
		"planes: one without a name, /device:TPU:0": slices.Concat(field(1, field(3, nil)), field(1, slices.Concat(field(2, []byte("/device:TPU:0")), field(3, nil)))),
	} {
		if _, _, err := stored(t, write(t, data)); !errors.Is(err, xla.ErrNoWork) || !strings.HasSuffix(err.Error(), "; "+says) {
			t.Errorf("the error is %v, want %q", err, says)
		}
	}
}

// TestMany: a file that has more of something than any profile is refused by name and place.
func TestMany(t *testing.T) {
	field := func(n protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), b)
	}
	gpu := field(2, []byte("/device:GPU:0"))
	entry := func(id byte, name []byte) []byte {
		return field(5, slices.Concat([]byte{8, id}, field(2, field(2, name))))
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"planes": {slices.Repeat(field(1, nil), 1_200_000), "at byte 20002: it has more than any profile: over 10000 planes"},
		"lines":  {field(1, slices.Repeat(field(3, nil), 1_200_000)), "over 1000000 lines"},
		"names":  {field(1, slices.Concat(gpu, slices.Repeat(field(4, nil), 1_200_000))), "over 64 MiB of names"},
		"a name": {field(1, slices.Concat(gpu, field(4, field(2, field(2, make([]byte, 70<<20)))))), "over 64 MiB of names"},
		"events": {field(1, slices.Concat(gpu, field(3, slices.Repeat(field(4, []byte{8, 1}), 1_200_000)))), ""},
		"crowd":  {field(1, slices.Concat(gpu, field(3, slices.Repeat(field(4, nil), 43_000_001)))), "over 43000000 events"},
		"echoes": {field(1, slices.Concat(gpu, entry(1, []byte("kernel_details")), entry(2, make([]byte, 60<<20)), field(3, slices.Repeat(field(4, field(4, []byte{8, 1, 56, 2})), 1000)))), "over 8 GiB of names in its events"},
		"event":  {field(1, slices.Concat(gpu, field(3, field(4, make([]byte, 20<<20))))), "over 16 MiB in one event"},
		"zeros":  {make([]byte, 16<<20), "at byte 0: not an XSpace"},
		"errors": {slices.Concat(field(1, gpu), slices.Repeat(field(2, []byte("dropped")), 200_000)), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := xla.Read(c.data); c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("the error is %v, want %q", err, c.says)
			}
		})
	}
}

// FuzzXSpace reads whatever is given: it is read or refused with the place.
func FuzzXSpace(f *testing.F) {
	data := made(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte("\n\x00"))
	f.Add([]byte(strings.Repeat("\n\x00", 10_001)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := xla.Read(data); err != nil && (!errors.Is(err, xla.ErrSyntax) && !errors.Is(err, xla.ErrMany) || !strings.HasPrefix(err.Error(), "at byte ")) {
			t.Fatalf("the error is %v", err)
		}
	})
}
