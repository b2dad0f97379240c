// Package facts holds what is derived of each run: facts, each a table that one SQL file fills, and the relations that they share with queries.
package facts

import (
	"embed"

	"prof/schema/sqlfile"
)

// Files are the facts, sql/DOMAIN/NAME.sql each.
//
//go:embed sql/*/*.sql
var Files embed.FS

// Shared are relations that facts are made with, and queries too.
//
//go:embed shared/*.sql
var Shared embed.FS

// Checksum identifies the files.
func Checksum() (string, error) {
	sum, err := sqlfile.Checksum(Files, "sql/*/*.sql")
	if err != nil {
		return "", err
	}
	shared, err := sqlfile.Checksum(Shared, "shared/*.sql")
	return sum + shared, err
}
