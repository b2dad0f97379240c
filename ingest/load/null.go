package load

import "database/sql/driver"

// TextOrNull is a text as a value, NULL where it is "".
func TextOrNull(s string) driver.Value {
	if s == "" {
		return nil
	}
	return s
}

// OrNull is what v points to as a value, NULL where it is nil.
func OrNull[T any](v *T) driver.Value {
	if v == nil {
		return nil
	}
	return *v
}
