package mask

import "testing"

// TestFolder writes a folder by its name, and no other folder.
func TestFolder(t *testing.T) {
	for text, want := range map[string]string{"": "", "open /data/a.json: no": "open $H/a.json: no", "/data": "$H", "/data2/x /data-old /data.d, /data: /data/data": "/data2/x /data-old /data.d, $H: $H/data", "not in /data. /srv/data file:///data/x": "not in $H. /srv/data file://$H/x", `cd x\n/data/a >\u003e/data/b`: `cd x\n$H/a >\u003e$H/b`} {
		if got := Folder(text, "/data", "$H"); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := Folder("/a/b", "/", "$H"); got != "/a/b" {
		t.Errorf("of the root: %q", got)
	}
}
