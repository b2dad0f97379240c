package ncu

import (
	_ "embed"
	"encoding/binary"
	"strconv"
	"strings"
	"sync"
)

// opcodeCSV names operations of SASS, the code of GPUs, by the lowest 12 bits of an instruction: in hexadecimal, and as ncu names them
// without their modifiers. NVIDIA does not document the bits. These are what ncu 2025.3.1 printed (--print-source sass) for compiled
// code of compute capability 9.0, and what its counts of each operation left for one code only. Codes that were not seen are not there.
//
//go:embed opcode.csv
var opcodeCSV string

// opcodeCapability is the compute capability that opcodeCSV holds for, as in Result.
const opcodeCapability = 90

// instructionBytes is the size of an instruction from compute capability 7.0 on.
const instructionBytes = 16

var opcodes = sync.OnceValue(func() map[uint64]string {
	names := map[uint64]string{}
	for _, line := range strings.Split(strings.TrimSpace(opcodeCSV), "\n")[1:] {
		code, name, _ := strings.Cut(line, ",")
		n, err := strconv.ParseUint(code, 16, 12)
		if err != nil {
			panic(err) // the table is part of the program, and a test reads it
		}
		names[n] = name
	}
	return names
})

// opcode names the operation of an instruction; "" where it is not known.
func opcode(instruction []byte) string {
	if len(instruction) < instructionBytes {
		return ""
	}
	return opcodes()[binary.LittleEndian.Uint64(instruction)&0xfff]
}
