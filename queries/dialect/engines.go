package dialect

import (
	"fmt"
	"slices"
	"strings"
)

// Engines are those that read a lake without prof.
func Engines() []*Dialect { return []*Dialect{spark(), trino()} }

// DuckDB is prof's own engine, in which a relation must give what prof's query does.
func DuckDB() *Dialect {
	return &Dialect{Name: "duckdb", huge: "HUGEINT", double: func(x string) string { return "CAST(" + x + " AS DOUBLE)" }, text: func(id string) string { return "CAST(" + id + " AS VARCHAR)" }}
}

// decimal is the widest whole number that Spark and Trino have.
const decimal = "DECIMAL(38, 0)"

// halves is a wide number as DuckDB makes a DOUBLE of it: of its upper and its lower 64 bits, so that the last digit is the same.
func halves(x string) string {
	const word = "CAST('18446744073709551616' AS DECIMAL(20, 0))"
	return fmt.Sprintf("(CAST(%[1]s %% %[2]s AS DOUBLE) + CAST((%[1]s - %[1]s %% %[2]s) / %[2]s AS DOUBLE) * 18446744073709551616E0)", x, word)
}

func spark() *Dialect {
	return &Dialect{Name: "spark", Doc: "for Spark SQL 3.4 and later", huge: decimal, double: halves, view: "CREATE OR REPLACE TEMPORARY VIEW",
		text: func(id string) string {
			return fmt.Sprintf("regexp_replace(lower(hex(%s)), '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '$1-$2-$3-$4-$5')", id)
		},
		base: func(b *strings.Builder, t Table) {
			if len(t.Files) == 0 {
				fmt.Fprintf(b, "CREATE OR REPLACE TEMPORARY VIEW %s AS %s;\n", t.Name, none(t, sparkType))
				return
			}
			// The columns are named, since Spark has no type for the UUID in the files: it reads the 16 bytes only as a column that is declared BINARY.
			fmt.Fprintf(b, "CREATE OR REPLACE TEMPORARY VIEW %s (%s) USING parquet OPTIONS (recursiveFileLookup 'true', path '%s');\n", t.Name, columns(t, sparkType), sparkText(sparkPath(t.Files)))
		},
		check: func(b *strings.Builder, tables []Table) {
			fmt.Fprintf(b, `
SELECT CASE WHEN count(CASE WHEN c.found <> c.expected THEN 1 END) = 0 THEN 'all rows are there'
    ELSE raise_error(concat('tables changed since prof wrote this, write it anew: ', concat_ws(', ', collect_list(CASE WHEN c.found <> c.expected THEN concat(c.name, ' has ', c.found, ' rows, not ', c.expected) END)))) END AS checked
FROM (
    %s
) c;
`, counted(tables))
		}}
}

func trino() *Dialect {
	return &Dialect{Name: "trino", Doc: "for Trino, in a schema of a Hive catalog with hive.recursive-directories=true", huge: decimal, double: halves, view: "CREATE OR REPLACE VIEW",
		text: func(id string) string { return "CAST(" + id + " AS VARCHAR)" },
		base: func(b *strings.Builder, t Table) {
			if len(t.Files) == 0 {
				fmt.Fprintf(b, "CREATE OR REPLACE VIEW %s AS %s;\n", t.Name, none(t, trinoType))
				return
			}
			var list, files []string
			for _, c := range t.Columns {
				name := c.Name
				if c.Type == "UUID" {
					name = fmt.Sprintf("CAST(%s AS UUID) AS %[1]s", c.Name)
				}
				list = append(list, name)
			}
			for _, f := range t.Files {
				files = append(files, "'"+strings.ReplaceAll(f, "'", "''")+"'")
			}
			stored := func(kind string) string {
				if kind == "UUID" {
					return "VARBINARY"
				}
				return trinoType(kind)
			}
			fmt.Fprintf(b, "DROP TABLE IF EXISTS %[1]s_files;\nCREATE TABLE %[1]s_files (%[2]s) WITH (format = 'PARQUET', external_location = '%[3]s');\n", t.Name, columns(t, stored), strings.ReplaceAll(folderOf(t.Files), "'", "''"))
			fmt.Fprintf(b, "CREATE OR REPLACE VIEW %[1]s AS SELECT %[2]s FROM %[1]s_files WHERE \"$path\" IN (\n    %[3]s);\n", t.Name, strings.Join(list, ", "), strings.Join(files, ",\n    "))
		},
		check: func(b *strings.Builder, tables []Table) {
			fmt.Fprintf(b, `
SELECT CASE WHEN count(CASE WHEN c.found <> c.expected THEN 1 END) = 0 THEN 'all rows are there'
    ELSE CAST(fail(concat('tables changed since prof wrote this, write it anew: ', array_join(array_agg(CASE WHEN c.found <> c.expected THEN concat(c.name, ' has ', CAST(c.found AS VARCHAR), ' rows, not ', CAST(c.expected AS VARCHAR)) END), ', '))) AS VARCHAR) END AS checked
FROM (
    %s
) c;
`, counted(tables))
		}}
}

// columns declares a table's.
func columns(t Table, typeOf func(string) string) string {
	var list []string
	for _, c := range t.Columns {
		list = append(list, c.Name+" "+typeOf(c.Type))
	}
	return strings.Join(list, ", ")
}

func sparkType(kind string) string {
	switch kind {
	case "UUID":
		return "BINARY"
	case "VARCHAR":
		return "STRING"
	case "INTEGER":
		return "INT"
	case "TIMESTAMP":
		return "TIMESTAMP_NTZ"
	case "BIGINT[]":
		return "ARRAY<BIGINT>"
	}
	return kind
}

func trinoType(kind string) string {
	switch kind {
	case "TIMESTAMP":
		return "TIMESTAMP(6)"
	case "BIGINT[]":
		return "ARRAY(BIGINT)"
	}
	return kind
}

// folderOf is the folder that all files are in, or below.
func folderOf(files []string) string {
	first, last := slices.Min(files), slices.Max(files)
	n := 0
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	return strings.TrimSuffix(first[:strings.LastIndexByte(first[:n], '/')+1], "/")
}

// sparkPath is a pattern of Hadoop's that matches the files: an option of a view takes no list.
func sparkPath(files []string) string {
	escape := strings.NewReplacer(`\`, `\\`, `{`, `\{`, `}`, `\}`, `[`, `\[`, `]`, `\]`, `*`, `\*`, `?`, `\?`, `,`, `\,`)
	folder := folderOf(files)
	var list []string
	for _, f := range files {
		list = append(list, escape.Replace(strings.TrimPrefix(strings.TrimPrefix(f, folder), "/")))
	}
	if under, is := strings.CutPrefix(folder, "s3://"); is {
		folder = "s3a://" + under
	}
	return escape.Replace(folder) + "/{" + strings.Join(list, ",") + "}"
}

// sparkText is what goes between the quotes of a literal.
func sparkText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}
