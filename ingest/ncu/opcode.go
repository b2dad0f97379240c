package ncu

import (
	_ "embed"
	"encoding/binary"
	"encoding/csv"
	"strconv"
	"strings"
	"sync"
)

// opcodeCSV names operations of SASS, the code of GPUs, by the lowest 12 bits of an instruction, in hexadecimal: as NVIDIA's tools name them
// without their modifiers, in a column for each of opcodeColumns. FADD/81:FHADD is FHADD where bit 81 of the instruction is set. NVIDIA does not
// document the bits. The names are what nvdisasm 12.8 prints of instructions with each of the 4096 codes and other bits at random (-b), and
// cuobjdump 13.0 of compiled libraries; both agree on every code that both have. Codes that name more than two operations (those of Blackwell's
// UTCHMMA and its like) are not there.
//
//go:embed opcode.csv
var opcodeCSV string

// opcodeColumns are the columns of opcodeCSV by compute capability, as in Result: GPUs of one generation share their code.
var opcodeColumns = map[int]string{75: "75", 80: "80", 86: "80", 89: "80", 90: "90", 100: "100", 103: "100", 120: "120"}

// instructionBytes is the size of an instruction from compute capability 7.0 on.
const instructionBytes = 16

// operation names the instructions of one code.
type operation struct {
	name  string
	bit   uint   // of the instruction
	isSet string // name where the bit is set; "" for a code with one name
}

// opcodes are the operations by code, for each column.
var opcodes = sync.OnceValue(func() map[string]map[uint64]operation {
	rows, err := csv.NewReader(strings.NewReader(opcodeCSV)).ReadAll()
	if err != nil {
		panic(err) // the table is part of the program, and a test reads it
	}
	out := map[string]map[uint64]operation{}
	for at, column := range rows[0][1:] {
		names := map[uint64]operation{}
		for _, row := range rows[1:] {
			code, err := strconv.ParseUint(row[0], 16, 12)
			if err != nil {
				panic(err)
			}
			if row[at+1] == "" {
				continue
			}
			var o operation
			var rest string
			o.name, rest, _ = strings.Cut(row[at+1], "/")
			if bit, isSet, two := strings.Cut(rest, ":"); two {
				n, err := strconv.ParseUint(bit, 10, 7)
				if err != nil {
					panic(err)
				}
				o.bit, o.isSet = uint(n), isSet
			}
			names[code] = o
		}
		out[column] = names
	}
	return out
})

// hasOpcodes reports whether operations of code for a compute capability have names.
func hasOpcodes(capability int) bool { return opcodeColumns[capability] != "" }

// Opcode names the operation of an instruction of code for a compute capability, 90 for 9.0; "" where it is not known.
func Opcode(capability int, instruction []byte) string {
	if len(instruction) < instructionBytes {
		return ""
	}
	o := opcodes()[opcodeColumns[capability]][binary.LittleEndian.Uint64(instruction)&0xfff]
	if o.isSet != "" && instruction[o.bit/8]>>(o.bit%8)&1 == 1 {
		return o.isSet
	}
	return o.name
}
