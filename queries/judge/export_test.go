package judge

// Words of tables, for the list of sentences.
var (
	BoundWords    = boundWords
	CategoryWords = categoryWords
	CopyWords     = copyWords
	MemoryWords   = memoryWords
	RoleWords     = roleWords
)
