package queries

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/duckdb/duckdb-go/v2"

	"prof/queries/frame"
	"prof/schema"
)

// Raw runs SQL of the user's that only reads, one statement, and gives its whole result.
func Raw(ctx context.Context, w *schema.Warehouse, text string) (*frame.Frame, error) {
	var whole *frame.Frame
	return whole, Stream(ctx, w, text, Everything, func(f *frame.Frame) error {
		whole = f
		return nil
	})
}

// readers are the words that a reading statement begins with, when not with a parenthesis.
var readers = []string{"SELECT", "FROM", "WITH", "VALUES", "TABLE", "DESCRIBE", "DESC", "SHOW", "SUMMARIZE", "PIVOT", "UNPIVOT"}

// prepareReading prepares a statement and refuses everything but reading. The warehouse is open read-only, which guards the tables;
// this guards the rest of the machine from COPY ... TO, EXPORT, ATTACH and INSTALL. The words are looked at first, since DuckDB
// already makes EXPORT's folder when it prepares the statement, and EXPLAIN ANALYZE runs what it explains.
func prepareReading(conn driver.Conn, text string) (*duckdb.Stmt, error) {
	word, rest := firstWord(text)
	if word == "EXPLAIN" {
		if word, after := firstWord(rest); word == "ANALYZE" {
			rest = after
		} else if word == "(" {
			if _, after, _ := strings.Cut(rest, ")"); strings.TrimSpace(after) != "" {
				rest = after // its options were in the parentheses
			}
		}
		explained, err := prepareReading(conn, rest)
		if err != nil {
			return nil, err
		}
		if err := explained.Close(); err != nil {
			return nil, err
		}
		return prepare(conn, text)
	}
	if word != "(" && !slices.Contains(readers, word) {
		if word != "" {
			return nil, errNotReading()
		}
		return nil, fmt.Errorf("%w: the SQL is empty", ErrBadArgument)
	}
	return prepare(conn, text)
}

// prepare refuses what DuckDB takes for another kind of statement than its first word says.
func prepare(conn driver.Conn, text string) (*duckdb.Stmt, error) {
	s, err := conn.Prepare(text)
	if err != nil && strings.Contains(err.Error(), "PrepareContext") {
		also := ""
		if pivots.MatchString(text) {
			also = ", and PIVOT without IN is several: write the values, as in PIVOT t ON c IN ('a', 'b') USING count(*)"
		}
		return nil, fmt.Errorf("%w: prof sql takes one statement at a time%s", ErrBadArgument, also)
	}
	if err != nil {
		return nil, err
	}
	stmt, ok := s.(*duckdb.Stmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("not a DuckDB statement"), s.Close())
	}
	kind, err := stmt.StatementType()
	if err == nil && kind != duckdb.STATEMENT_TYPE_SELECT && kind != duckdb.STATEMENT_TYPE_EXPLAIN {
		err = errNotReading()
	}
	if err != nil {
		return nil, errors.Join(err, stmt.Close())
	}
	return stmt, nil
}

// pivots matches the words of DuckDB that look for the values of a column first, which is a statement of its own.
var pivots = regexp.MustCompile(`(?i)\bPIVOT(_WIDER)?\b`)

func errNotReading() error {
	return fmt.Errorf("%w: prof sql takes one SELECT (or FROM, WITH, DESCRIBE, SHOW, EXPLAIN); to write, open the file with a DuckDB client", ErrNotReadOnly)
}

// remarks are the blanks and comments before a word.
var remarks = regexp.MustCompile(`^(?:\s|--[^\n]*(?:\n|$)|/\*(?s:.*?)\*/)+`)

// firstWord returns the first word of a SQL text in upper case, or its first character when that begins no word, and what follows.
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
