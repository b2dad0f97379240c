package load

import (
	"strings"
	"unicode/utf8"

	"prof/schema/names"
)

// Normalise is the name that a range has among paths, see names.Normalise.
func Normalise(name string) string { return names.Normalise(name) }

// ShortName is the base function name in a demangled one: what stands before its template arguments or parameters, without
// namespaces.
func ShortName(name string) string {
	s := strings.NewReplacer("<unnamed>::", "", "(anonymous namespace)::", "").Replace(name)
	if i := strings.IndexAny(s, "<("); i > 0 {
		s = s[:i]
	}
	s = s[strings.LastIndexByte(s, ' ')+1:]
	s = s[strings.LastIndexByte(s, ':')+1:]
	if s == "" {
		return name
	}
	return s
}

// mostName bounds the names of ranges, of which each row repeats its own: Nsight Systems records 65,000 bytes at most, and DuckDB reads 2,048 rows
// at once.
const mostName = 1 << 16

// RangeName is what the name of a range is known by: its first 65,536 bytes, or a few less so that no character is split.
func RangeName[T string | []byte](name T) T {
	if len(name) <= mostName {
		return name
	}
	end := mostName
	for end > mostName-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}
