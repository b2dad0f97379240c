package load

// TextOrNull is a text as a value, NULL where it is "".
func TextOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// OrNull is what v points to as a value, NULL where it is nil.
func OrNull[T any](v *T) any {
	if v == nil {
		return nil
	}
	return *v
}
