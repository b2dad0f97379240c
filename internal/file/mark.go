package file

import "bytes"

// Mark is the byte order mark that editors and shells on Windows put before a text in UTF-8.
const Mark = "\xef\xbb\xbf"

// PastMark returns a text without the mark.
func PastMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte(Mark)) }
