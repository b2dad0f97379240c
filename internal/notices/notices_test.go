package notices

import (
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"":    "",
		"ISC": "",
		"  Apache License\n\n  Version 2.0, January 2004":                                                                                             "Apache-2.0",
		"> Redistribution and use in source\n> and binary forms ... THIS SOFTWARE IS PROVIDED ... endorse or promote":                                 "BSD-2-Clause",
		"Redistribution and use in source and binary forms\n * Neither ... endorse or promote THIS SOFTWARE IS PROVIDED\nApache License\nVersion 2.0": "BSD-3-Clause, Apache-2.0",
		"Permission is hereby granted, free of\ncharge ... Permission is hereby granted, free of charge":                                              "MIT",
	} {
		if got := strings.Join(Names(text), ", "); got != want {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}
