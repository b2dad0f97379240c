package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// column is one column of a CREATE TABLE statement.
type column struct {
	name      string
	decl      string // the declared type, words joined by single blanks
	generated bool
	value     defaultValue
}

// defaultValue is what a column holds in rows written before ALTER TABLE added it.
type defaultValue struct {
	null  bool
	known bool    // NULL or an integer
	bytes [8]byte // the integer as serial type 6 stores it
}

var errDDL = errors.New("cannot parse its CREATE TABLE statement")

// ddl is a parsed CREATE TABLE statement.
type ddl struct {
	cols         []column
	alias        int // the column that is an alias of the rowid, -1 if none
	withoutRowid bool
}

// parseDDL reads a CREATE TABLE statement as SQLite stores it in the schema.
func parseDDL(sql string) (ddl, error) {
	p := ddlParser{tokens: tokenize(sql), out: ddl{alias: -1}}
	if err := p.prefix(); err != nil {
		return ddl{alias: -1}, err
	}
	for {
		if err := p.item(); err != nil {
			return ddl{alias: -1}, err
		}
		if t := p.take(); t.is(")") {
			break
		} else if !t.is(",") {
			return ddl{alias: -1}, fmt.Errorf("%w: it ends inside the column list", errDDL)
		}
	}
	p.options()
	return p.out, p.resolveKey()
}

type ddlParser struct {
	tokens []token
	out    ddl
	key    string // the single column of a PRIMARY KEY table constraint
	hasKey bool
}

func (p *ddlParser) peek() token {
	if len(p.tokens) == 0 {
		return token{}
	}
	return p.tokens[0]
}

func (p *ddlParser) take() token {
	t := p.peek()
	if len(p.tokens) > 0 {
		p.tokens = p.tokens[1:]
	}
	return t
}

// prefix reads up to the parenthesis that opens the column list.
func (p *ddlParser) prefix() error {
	if t := p.take(); !t.is("CREATE") {
		return fmt.Errorf("%w: it starts with %q", errDDL, t.text)
	}
	for !p.peek().is("(") {
		if t := p.take(); t.kind == endToken || t.is("VIRTUAL") {
			return fmt.Errorf("%w: it has no column list", errDDL)
		}
	}
	p.take()
	return nil
}

// item reads one column or table constraint, up to the comma or parenthesis behind it. The keywords that start a
// table constraint are reserved, so a column of such a name is quoted.
func (p *ddlParser) item() error {
	t := p.peek()
	if t.isAny("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN") {
		p.tableConstraints()
		return nil
	}
	if !t.isName() {
		return fmt.Errorf("%w: a column name is missing at %q", errDDL, t.text)
	}
	col := column{name: p.take().text, value: defaultValue{null: true, known: true}}
	col.decl = p.declaredType()
	key := p.columnConstraints(&col)
	if key && strings.EqualFold(col.decl, "INTEGER") {
		p.out.alias = len(p.out.cols)
	}
	p.out.cols = append(p.out.cols, col)
	return nil
}

// itemEnds reports whether the next token ends an item.
func (p *ddlParser) itemEnds() bool {
	t := p.peek()
	return t.kind == endToken || t.is(",") || t.is(")")
}

// group skips a parenthesized group and gives the tokens inside.
func (p *ddlParser) group() []token {
	p.take()
	inside := p.tokens
	for depth, n := 1, 0; ; n++ {
		switch t := p.take(); {
		case t.kind == endToken:
			return inside
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				return inside[:n]
			}
		}
	}
}

// declaredType reads the words of a column's type and its length.
func (p *ddlParser) declaredType() string {
	var words []string
	for p.peek().isName() && !p.startsConstraint() {
		words = append(words, p.take().text)
	}
	decl := strings.Join(words, " ")
	if p.peek().is("(") {
		for i, t := range p.group() {
			if i == 0 {
				decl += "("
			}
			decl += t.text
		}
		decl += ")"
	}
	return decl
}

// startsConstraint reports whether a column constraint comes next. GENERATED alone may be a type's name.
func (p *ddlParser) startsConstraint() bool {
	t := p.peek()
	if t.is("GENERATED") {
		return len(p.tokens) > 1 && p.tokens[1].is("ALWAYS")
	}
	return t.isAny("CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "AS")
}

// columnConstraints reads a column's constraints. It reports whether the column is a primary key that can be the rowid:
// with DESC it is not (section "Rowids and the INTEGER PRIMARY KEY" of https://www.sqlite.org/lang_createtable.html).
func (p *ddlParser) columnConstraints(col *column) (key bool) {
	for !p.itemEnds() {
		if p.peek().is("(") {
			p.group()
			continue
		}
		switch t := p.take(); {
		case t.isAny("CONSTRAINT", "COLLATE", "SET"): // a name, or the DEFAULT of ON DELETE SET DEFAULT
			p.take()
		case t.is("PRIMARY"):
			p.take()
			key = !p.peek().is("DESC")
		case t.is("AS"):
			col.generated = true
		case t.is("DEFAULT"):
			col.value = p.defaultLiteral(col.decl)
		}
	}
	return key
}

// defaultLiteral reads the value behind DEFAULT.
func (p *ddlParser) defaultLiteral(decl string) defaultValue {
	if p.peek().is("(") {
		p.group()
		return defaultValue{}
	}
	sign := ""
	if p.peek().isAny("-", "+") {
		sign = p.take().text
	}
	t := p.take()
	if t.is("NULL") {
		return defaultValue{null: true, known: true}
	}
	num, ok := integerLiteral(sign, t)
	d := defaultValue{known: ok && !textAffinity(decl)}
	binary.BigEndian.PutUint64(d.bytes[:], uint64(num))
	return d
}

// integerLiteral returns the value of an integer or boolean literal.
func integerLiteral(sign string, t token) (int64, bool) {
	switch {
	case t.is("TRUE"):
		return 1, true
	case t.is("FALSE"):
		return 0, true
	case t.kind != numberToken:
		return 0, false
	}
	if hex, ok := strings.CutPrefix(strings.ToLower(t.text), "0x"); ok {
		u, err := strconv.ParseUint(hex, 16, 64)
		if sign == "-" {
			u = -u
		}
		return int64(u), err == nil
	}
	num, err := strconv.ParseInt(sign+t.text, 10, 64)
	return num, err == nil
}

// textAffinity reports whether a column would turn an integer default into text (section 3.1 of
// https://www.sqlite.org/datatype3.html).
func textAffinity(decl string) bool {
	decl = strings.ToUpper(decl)
	if strings.Contains(decl, "INT") {
		return false
	}
	return strings.Contains(decl, "CHAR") || strings.Contains(decl, "CLOB") || strings.Contains(decl, "TEXT")
}

// tableConstraints skips table constraints, noting a PRIMARY KEY of one column. Here DESC does not keep the column
// from being the rowid.
func (p *ddlParser) tableConstraints() {
	for !p.itemEnds() {
		if p.peek().is("(") {
			p.group()
			continue
		}
		t := p.take()
		if t.is("CONSTRAINT") {
			p.take()
		}
		if !t.is("PRIMARY") || len(p.tokens) < 2 || !p.tokens[1].is("(") {
			continue
		}
		p.take()
		if terms := p.group(); len(terms) > 0 && terms[0].isName() && !hasComma(terms) {
			p.key, p.hasKey = terms[0].text, true
		}
	}
}

func hasComma(tokens []token) bool {
	for _, t := range tokens {
		if t.is(",") {
			return true
		}
	}
	return false
}

// options reads what follows the column list.
func (p *ddlParser) options() {
	for p.peek().kind != endToken {
		if p.take().is("WITHOUT") && p.peek().is("ROWID") {
			p.out.withoutRowid = true
		}
	}
}

// resolveKey finds the column that the PRIMARY KEY table constraint names.
func (p *ddlParser) resolveKey() error {
	if !p.hasKey {
		return nil
	}
	for i := range p.out.cols {
		if strings.EqualFold(p.out.cols[i].name, p.key) {
			if strings.EqualFold(p.out.cols[i].decl, "INTEGER") {
				p.out.alias = i
			}
			return nil
		}
	}
	return fmt.Errorf("%w: its primary key names no column %q", errDDL, p.key)
}
