package load

import "prof/schema"

// Mask replaces what looks like a secret in a text.
func Mask(s string) string { return schema.Mask(s) }

// MaskCommand joins a command line's words for display, secrets masked.
func MaskCommand(argv []string) string { return schema.MaskCommand(argv) }
