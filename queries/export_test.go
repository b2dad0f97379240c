package queries

// Scan is for tests that ask a prepared statement.
var Scan = scan
