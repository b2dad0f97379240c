package xla_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/xla"
	"prof/queries"
	"prof/schema"
)

const capture = "../../testdata/foreign/jax.xplane.pb.gz"

func newWarehouse(t *testing.T) *schema.Warehouse {
	t.Helper()
	w, err := schema.Open(t.Context(), schema.Home{Dir: t.TempDir()}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{Only: []string{}}, MemoryLimit: "1GB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func store(t *testing.T, w *schema.Warehouse, run, path string) ([]string, error) {
	t.Helper()
	var warnings []string
	o := ingest.Options{Name: run, Now: time.Now(), ProfVersion: "test", Warn: func(m string) { warnings = append(warnings, m) }}
	o.Load.APIRows = true
	_, err := ingest.Run(t.Context(), w, []string{path}, o)
	return warnings, err
}

func row(t *testing.T, w *schema.Warehouse, run, sql string) string {
	t.Helper()
	var out string
	if err := w.DB.QueryRowContext(t.Context(), `SELECT coalesce(string_agg(x::VARCHAR, ' '), '') FROM (`+sql+`) y(x)`, run).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
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
	w := newWarehouse(t)
	if warnings, err := store(t, w, "jax", capture); err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	if got, want := row(t, w, "jax", `SELECT concat_ws('|', count(*), 1000 * sum(duration_ns), count(launch_start_ns)) FROM kernel k JOIN run r USING (run_id) WHERE r.name = ?`), fmt.Sprint(n, "|", ps, "|", n); got != want || n == 0 {
		t.Errorf("kernels are %s, protobuf reads %s", got, want)
	}
	if got := row(t, w, "jax", `SELECT d.device_id || ' ' || d.name || ' ' || d.sm_count FROM device d JOIN run r USING (run_id) WHERE r.name = ?`); got != "0 AMD device 256" {
		t.Errorf("devices are %s", got)
	}
	if got := row(t, w, "jax", `SELECT s.started_at FROM source s JOIN run r USING (run_id) WHERE r.name = ?`); !strings.HasPrefix(got, "2026-05-20 08:45") {
		t.Errorf("it began at %s", got)
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
	w, data := newWarehouse(t), made(t)
	warnings, err := store(t, w, "made", write(t, data))
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "1 events of category /device:TPU:0 XLA Ops are not stored") {
		t.Fatalf("%v, the warnings are %q", err, warnings)
	}
	for _, c := range [][2]string{
		{`SELECT concat_ws('|', k.device_id, k.stream_id, k.start_ns, k.duration_ns, k.launch_start_ns, k.launch_duration_ns, n.name, s.grid_x, s.grid_y, s.block_x, p.name) FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN kernel_shape s USING (run_id, kernel_shape_id) JOIN range_path p USING (run_id, path_id) JOIN run r USING (run_id) WHERE r.name = ?`,
			"1|13|5000|2000|1000|750|fusion|4|2|128|prefill"},
		{`SELECT concat_ws('|', m.operation, m.device_id, m.duration_ns, m.size_bytes) FROM memop m JOIN run r USING (run_id) WHERE r.name = ?`, "memcpy Host-to-Device|1|1500|4096"},
		{`SELECT concat_ws('|', p.tid, p.duration_ns) FROM python_call p JOIN run r USING (run_id) WHERE r.name = ?`, "77|4000"},
		{`SELECT concat_ws('|', x.name, x.tid, x.duration_ns) FROM nvtx_range x JOIN run r USING (run_id) WHERE r.name = ?`, "prefill|77|20000"},
	} {
		if got := row(t, w, "made", c[0]); got != c[1] {
			t.Errorf("%s, want %s", got, c[1])
		}
	}
	for n := 3; n < len(data); n += 61 { // protobuf that was cut is no protobuf, or lacks planes
		if _, err := store(t, w, "bad", write(t, data[:n])); err == nil || !errors.Is(err, xla.ErrSyntax) && !errors.Is(err, xla.ErrNoWork) {
			t.Fatalf("cut after %d of %d bytes: the error is %v", n, len(data), err)
		}
	}
}

// FuzzXSpace reads whatever is given: it is read or refused with the place.
func FuzzXSpace(f *testing.F) {
	data := made(f)
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add([]byte("\n\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := xla.Read(data); err != nil && (!errors.Is(err, xla.ErrSyntax) || !strings.HasPrefix(err.Error(), "at byte ")) {
			t.Fatalf("the error is %v", err)
		}
	})
}
