package judge

import "prof/schema/terms"

// Words of tables, for the list of sentences.
var (
	BoundWords    = terms.Bounds
	CauseWords    = terms.Causes
	CategoryWords = categoryWords
	CopyWords     = copyWords
	MemoryWords   = memoryWords
	RoleWords     = roleWords
)
