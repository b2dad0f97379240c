package judge

// Words of tables, for the list of sentences.
var (
	BoundWords  = boundWords
	CentreWords = centreWords
	CopyWords   = copyWords
	MemoryWords = memoryWords
	RoleWords   = roleWords
)
