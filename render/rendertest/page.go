package rendertest

import "regexp"

// assets are what a page has of files of its own, and the hashes of them.
var assets = regexp.MustCompile(`(?s)(<style>|<script>).*?(</style>|</script>)|'sha256-[^']*'`)

// WithoutStyle returns a page without its styles and scripts.
func WithoutStyle(page string) string { return assets.ReplaceAllString(page, "$1$2") }
