package table

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"prof/queries/frame"
	"prof/render/typeset"
)

// ArrowForm is the name of the form that Arrow writes.
const ArrowForm = "arrow"

// arrowRows are the rows of a record batch.
const arrowRows = 1 << 16

// Arrow writes a frame as an Arrow IPC file, which pandas (read_feather), Polars (read_ipc) and pyarrow read: base units, full precision, NULL as
// null. The schema's metadata are prof_query and prof_notes; each field has its unit and what it means (doc). It keeps one record batch in memory.
// The format: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format.
func Arrow(w io.Writer, f *frame.Frame, _ typeset.Options) error {
	to := &said{to: w}
	err := arrowTo(to, f)
	return cmp.Or(to.err, err) // Arrow's own has it as a text
}

// said is a writer that keeps its first error.
type said struct {
	to  io.Writer
	err error
}

func (s *said) Write(b []byte) (n int, err error) {
	n, err = s.to.Write(b)
	s.err = cmp.Or(s.err, err)
	return n, err
}

func arrowTo(w io.Writer, f *frame.Frame) error {
	if err := f.Check(); err != nil {
		return err
	}
	fields := make([]arrow.Field, len(f.Columns))
	for i, c := range f.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: arrowType(c.Type), Nullable: true, Metadata: arrow.MetadataFrom(map[string]string{"unit": string(c.Unit), "doc": c.Doc})}
	}
	about := arrow.MetadataFrom(map[string]string{"prof_query": fmt.Sprintf("%s.v%d", f.Query, f.Version), "prof_notes": strings.Join(f.Notes, "\n")})
	schema := arrow.NewSchema(fields, &about)
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(schema))
	if err != nil {
		return err
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	flush := func() error {
		batch := b.NewRecordBatch()
		defer batch.Release()
		return out.Write(batch)
	}
	rows := 0
	err = f.Each(func(row []any) error {
		for i, v := range row {
			if err := arrowCell(b.Field(i), v); err != nil {
				return fmt.Errorf("column %s: %w", f.Columns[i].Name, err)
			}
		}
		if rows++; rows%arrowRows > 0 {
			return nil
		}
		return flush()
	})
	if err == nil && (rows == 0 || rows%arrowRows > 0) {
		err = flush()
	}
	if err != nil {
		return err // without an end, so that nobody takes it for the whole
	}
	return out.Close()
}

func arrowType(t frame.Type) arrow.DataType {
	switch t {
	case frame.Int:
		return arrow.PrimitiveTypes.Int64
	case frame.Float:
		return arrow.PrimitiveTypes.Float64
	case frame.Bool:
		return arrow.FixedWidthTypes.Boolean
	}
	return arrow.BinaryTypes.String
}

// arrowCell appends a value to its column.
func arrowCell(to array.Builder, v any) error {
	switch b := to.(type) {
	case *array.Int64Builder:
		return appended(b, v, b.Append)
	case *array.Float64Builder:
		return appended(b, v, b.Append)
	case *array.BooleanBuilder:
		return appended(b, v, b.Append)
	case *array.StringBuilder:
		return appended(b, v, b.Append)
	}
	return fmt.Errorf("no values of Arrow's type %s are written", to.Type())
}

func appended[T any](to array.Builder, v any, add func(T)) error {
	if v == nil {
		to.AppendNull()
		return nil
	}
	x, is := v.(T)
	if !is {
		return fmt.Errorf("the value %v is a %T, not a %T", v, v, x)
	}
	add(x)
	return nil
}
