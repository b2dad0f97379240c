package terms

import "strings"

// Titles are those of columns whose names do not read as titles.
var Titles = map[string]string{
	"alone_tokens_per_s": "tokens/s (alone)", "basis": "origin", "fault": "wrong input", "gpu_span_tokens_per_s": "tokens/s (GPU span)", "mla": "latent attention", "most_ns": "worst pass", "queued": "queued kernels",
}

// Acronyms are words of columns' names that the field writes in capitals.
var Acronyms = []string{"API", "CPU", "DRAM", "FLOP", "GPU", "ID", "ITL", "MBU", "MFU", "NVTX", "OS", "PID", "SM", "SMs", "TID", "TPOT", "TTFT"}

// TitleWord is how a word of a column's name is written in a title.
func TitleWord(word string) string {
	for _, a := range Acronyms {
		if strings.EqualFold(a, word) {
			return a
		}
	}
	return word
}
