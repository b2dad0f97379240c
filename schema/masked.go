package schema

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/internal/mask"
	"prof/schema/names"
)

// masking is what of the texts of a run that arrives is stored otherwise: those in which an ingest would mask something. An older prof, which knew
// fewer forms, left it, or it was written into the files since.
type masking struct {
	texts map[string]map[string][]maskedText // by table and column
	// renamed are names of paths, which no secret is found in once their numbers are left out, by what they are made from.
	renamed map[string]string
	parted  []string // those of them that look like paths of several
}

type maskedText struct{ key, text, shown string }

// namesFirst are the tables with the names of ranges that paths are made from.
var namesFirst = []string{"nvtx_range", "ncu_range", "reported_sum"}

// ofNames are the columns of names of paths, and of paths.
var ofNames = map[string]bool{"range_path.name": true, "reported_sum.normalised_name": true, "range_path.path": true, "stage_execution.path": true}

// pathMark parts the names in a path.
const pathMark = " > "

// findSecrets reads every distinct text of the rows that arrive.
func (a arrival) findSecrets(ctx context.Context, q querier) (*masking, error) {
	m := &masking{texts: map[string]map[string][]maskedText{}, renamed: map[string]string{}}
	var rest []string
	for _, t := range a.tables {
		if !slices.Contains(namesFirst, t) {
			rest = append(rest, t)
		}
	}
	for _, t := range slices.Concat(namesFirst, rest) {
		if slices.Contains(a.facts, t) || a.counts[t] == 0 {
			continue
		}
		if err := m.read(ctx, q, a, t); err != nil {
			return nil, fmt.Errorf("table %s: %w", t, err)
		}
	}
	return m, nil
}

func (m *masking) read(ctx context.Context, q querier, a arrival, table string) error {
	from, err := a.rows(table)
	if err != nil || from == "" {
		return err
	}
	var parts, columns []string
	for i, c := range a.columns[table] {
		if c.kind != "VARCHAR" || Words(table, c.name) != nil || mask.IsExact(table, c.name) && !ofNames[table+"."+c.name] {
			continue
		}
		key := "''"
		if isValue(a.columns[table], i) {
			key = "coalesce(key, '')"
		}
		parts = append(parts, fmt.Sprintf("SELECT DISTINCT %d AS place, %s AS key, %s AS text FROM (%s) WHERE %[3]s IS NOT NULL", len(columns), key, c.name, from))
		columns = append(columns, c.name)
	}
	if len(parts) == 0 {
		return nil
	}
	rows, err := q.QueryContext(ctx, strings.Join(parts, " UNION ALL "))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var place int
		var key, text string
		if err := rows.Scan(&place, &key, &text); err != nil {
			return err
		}
		column := columns[place]
		shown := ""
		if ofNames[table+"."+column] {
			shown = m.path(text)
		} else if shown = mask.Cell(table, column, key, text); shown != text && slices.Contains(namesFirst, table) && column == "name" {
			name := names.Normalise(text)
			if m.renamed[name] = names.Normalise(shown); strings.Contains(name, pathMark) {
				m.parted = append(m.parted, name)
			}
		}
		if shown == text {
			continue
		}
		if m.texts[table] == nil {
			m.texts[table] = map[string][]maskedText{}
		}
		m.texts[table][column] = append(m.texts[table][column], maskedText{key, text, shown})
	}
	return rows.Err()
}

// isValue reports whether the column before has the name of what a column has.
func isValue(columns []column, i int) bool {
	return i > 0 && columns[i].name == "value" && columns[i-1].name == "key"
}

// path masks the names in a path, or the one.
func (m *masking) path(text string) string {
	for _, name := range m.parted {
		text = strings.ReplaceAll(text, name, m.renamed[name])
	}
	parts := strings.Split(text, pathMark)
	for i, name := range parts {
		if shown, is := m.renamed[name]; is {
			parts[i] = shown
		} else {
			parts[i] = mask.Stored(name)
		}
	}
	return strings.Join(parts, pathMark)
}

// maskTable has the texts of the table that is being stored.
const maskTable = "prof_masked_text"

// apply returns what selects the rows of a table with its texts masked.
func (m *masking) apply(ctx context.Context, q Execer, columns []column, table, from string) (string, error) {
	texts := m.texts[table]
	if len(texts) == 0 {
		return from, nil
	}
	if _, err := q.ExecContext(ctx, `CREATE OR REPLACE TEMP TABLE `+maskTable+` (place VARCHAR, key VARCHAR, text VARCHAR, shown VARCHAR)`); err != nil {
		return "", err
	}
	var replaced, joins []string
	for i, c := range columns {
		list := texts[c.name]
		if len(list) == 0 {
			continue
		}
		for part := range slices.Chunk(list, 500) {
			var values []string
			for _, t := range part {
				values = append(values, "("+Quote(c.name)+", "+Quote(t.key)+", "+Quote(t.text)+", "+Quote(t.shown)+")")
			}
			if _, err := q.ExecContext(ctx, `INSERT INTO `+maskTable+` VALUES `+strings.Join(values, ", ")); err != nil {
				return "", err
			}
		}
		key := "''"
		if isValue(columns, i) {
			key = "coalesce(r.key, '')"
		}
		replaced = append(replaced, fmt.Sprintf("coalesce(m%d.shown, r.%s) AS %[2]s", i, c.name))
		joins = append(joins, fmt.Sprintf("LEFT JOIN %s m%d ON m%[2]d.place = %[3]s AND m%[2]d.key = %[4]s AND m%[2]d.text = r.%[5]s", maskTable, i, Quote(c.name), key, c.name))
	}
	return "SELECT r.* REPLACE (" + strings.Join(replaced, ", ") + ") FROM (" + from + ") r " + strings.Join(joins, " "), nil
}

// forget drops the texts.
func (m *masking) forget(ctx context.Context, q Execer) error {
	if len(m.texts) == 0 {
		return nil
	}
	_, err := q.ExecContext(ctx, `DROP TABLE IF EXISTS temp.`+maskTable)
	return err
}
