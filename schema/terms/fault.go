package terms

// WorkFaults are what can be wrong with device work as it was recorded: the kinds of the table work_fault.
func WorkFaults() []string {
	return []string{"repeated-records", "no-time", "work-before-launch", "work-after-wait", "stream-overlap", "stream-order", "next-to-stream-order", "work-without-launch", "launched-before-capture", "early-starts"}
}
