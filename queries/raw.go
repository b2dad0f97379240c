package queries

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/duckdb/duckdb-go/v2"

	"prof/schema"
)

// Raw runs SQL of the user's that only reads, one statement, and gives its result.
func Raw(ctx context.Context, w *schema.Warehouse, text string) (*Frame, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, fmt.Errorf("%w: the SQL is empty", ErrBadArgument)
	}
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := checkReads(conn, text); err != nil {
		return nil, err
	}
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	f, err := scan(rows)
	if err != nil {
		return nil, err
	}
	f.SQL = text
	return f, nil
}

// readers are the words that a reading statement begins with, when not with a parenthesis.
var readers = []string{"SELECT", "FROM", "WITH", "VALUES", "TABLE", "DESCRIBE", "DESC", "SHOW", "SUMMARIZE", "PIVOT", "UNPIVOT"}

// checkReads refuses everything but reading. The warehouse is open read-only, which guards the tables; this guards the rest of
// the machine from COPY ... TO, EXPORT, ATTACH and INSTALL. The words are looked at first, since DuckDB already makes EXPORT's
// folder when it prepares the statement, and EXPLAIN ANALYZE runs what it explains.
func checkReads(conn *sql.Conn, text string) error {
	word, rest := firstWord(text)
	if word == "EXPLAIN" {
		if word, after := firstWord(rest); word == "ANALYZE" {
			rest = after
		} else if word == "(" {
			if _, after, _ := strings.Cut(rest, ")"); strings.TrimSpace(after) != "" {
				rest = after // its options were in the parentheses
			}
		}
		return checkReads(conn, rest)
	}
	if word != "(" && !slices.Contains(readers, word) {
		if word != "" {
			return errNotReading()
		}
		return fmt.Errorf("%w: the SQL is empty", ErrBadArgument)
	}
	return conn.Raw(func(c any) error {
		dc, ok := c.(driver.Conn)
		if !ok {
			return fmt.Errorf("not a DuckDB connection")
		}
		s, err := dc.Prepare(text)
		if err != nil && strings.Contains(err.Error(), "PrepareContext") {
			return fmt.Errorf("%w: prof sql takes one statement at a time", ErrBadArgument)
		}
		if err != nil {
			return err
		}
		defer s.Close()
		stmt, ok := s.(*duckdb.Stmt)
		if !ok {
			return fmt.Errorf("not a DuckDB statement")
		}
		kind, err := stmt.StatementType()
		if err != nil {
			return err
		}
		switch kind {
		case duckdb.STATEMENT_TYPE_SELECT, duckdb.STATEMENT_TYPE_EXPLAIN:
			return nil
		}
		return errNotReading()
	})
}

func errNotReading() error {
	return fmt.Errorf("%w: prof sql takes one SELECT (or FROM, WITH, DESCRIBE, SHOW, EXPLAIN); to write, open the file with a DuckDB client", ErrNotReadOnly)
}

// remarks are the blanks and comments before a word.
var remarks = regexp.MustCompile(`^(?:\s|--[^\n]*(?:\n|$)|/\*(?s:.*?)\*/)+`)

// firstWord gives the first word of a SQL text in upper case, or its first character when that begins no word, and what follows.
func firstWord(text string) (word, rest string) {
	text = text[len(remarks.FindString(text)):]
	n := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	switch {
	case text == "":
		return "", ""
	case n < 0:
		n = len(text)
	case n == 0:
		n = 1
	}
	return strings.ToUpper(text[:n]), text[n:]
}
