package file

import "fmt"

// MostValues is more values than a file of settings, facts or sums has. Decoded, one takes up to some 400 bytes.
const MostValues = 1 << 18

// FewValues checks that a JSON text has at most so many values before it is decoded whole: an empty list is three bytes of a text and a
// hundred of memory, and packed nearly none. The error names the byte. What is no JSON is left to the decoder.
func FewValues(text []byte, most int) error {
	n := 1
	for i, inText := 0, false; i < len(text); i++ {
		c := text[i]
		switch {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == ',', (c == '[' || c == '{') && !closes(text[i+1:]):
			if n++; n > most {
				return fmt.Errorf("byte %d: it has more than %d values, %w", i, most, ErrTooLarge)
			}
		}
	}
	return nil
}

// closes reports whether a list or object ends at once.
func closes(rest []byte) bool {
	for _, c := range rest {
		if c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c == ']' || c == '}'
		}
	}
	return false
}
