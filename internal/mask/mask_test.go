package mask_test

import (
	"slices"
	"testing"

	"prof/internal/mask"
)

func TestText(t *testing.T) {
	for _, c := range [][2]string{
		{"", ""}, {"python run.py --model llama", "python run.py --model llama"},
		{"HF_TOKEN=hf_examplesecret0123456789", "HF_TOKEN=***"}, {"hf_examplesecret0123456789", "***"}, {"x hf_examplesecret0123456789.", "x ***."},
		{"HF_TOKEN=short", "HF_TOKEN=***"}, {"export WANDB_API_KEY='a b c' x", "export WANDB_API_KEY=*** x"}, {"password: hunter2, then", "password: ***, then"},
		{"AWS_SECRET_ACCESS_KEY=abc/def+ghi", "AWS_SECRET_ACCESS_KEY=***"}, {"--api-key=abc", "--api-key=***"}, {"apikey=abc", "apikey=***"},
		{"--api-key abc --x", "--api-key *** --x"}, {"serve --hf-token abc", "serve --hf-token ***"}, {"--password hunter2", "--password ***"},
		{"--api-key --x", "--api-key --x"}, {"secret-free text", "secret-free text"},
		{"--max-tokens 64", "--max-tokens 64"}, {"--max-tokens=64", "--max-tokens=64"}, {"max_new_tokens=64", "max_new_tokens=64"}, {"--new-tokens 64", "--new-tokens 64"},
		{"--tokenizer=/models/tok", "--tokenizer=/models/tok"}, {"--tokenizer /models/tok", "--tokenizer /models/tok"}, {"eos_token_id=2", "eos_token_id=2"},
		{"--token-budget 5", "--token-budget 5"}, {"/data/tokenizer.json", "/data/tokenizer.json"}, {"tokens: 64", "tokens: 64"},
		{`{"api_key": "abc", "max_tokens": 5}`, `{"api_key": ***, "max_tokens": 5}`}, {`{'token': 'abc', 'x': 1}`, `{'token': ***, 'x': 1}`},
		{"Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer ***"}, {"curl -H 'authorization: bearer abc.def-ghi_jkl='", "curl -H 'authorization: bearer ***'"},
		{"the bearer of news", "the bearer of news"}, {"Authorization: Token hunter2abc", "Authorization: Token ***"}, {`{"token": "ab\"hunter2", "x": 1}`, `{"token": ***, "x": 1}`},
		{"postgres://u:p@ss@host/db", "postgres://u:***@host/db"}, {"--passphrase=x1", "--passphrase=***"}, {"--pass x1", "--pass ***"}, {"DB_PASS=x1", "DB_PASS=***"}, {"OPENAI_KEY=x1", "OPENAI_KEY=***"},
		{"--bypass 3", "--bypass 3"}, {"passes=3", "passes=3"}, {"pass nsys-1: not run", "pass nsys-1: not run"}, {"--num-passes 4", "--num-passes 4"},
		{"https://me:hunter2@host/x", "https://me:***@host/x"}, {"https://me:hun:ter2@host/x", "https://me:***@host/x"}, {"http://host:8080/a@b", "http://host:8080/a@b"},
		{"sk-abcdefghijklmnopqrst", "***"}, {"ghp_abcdefghijklmnopqrst0123", "***"}, {"AKIAABCDEFGHIJKLMNOP", "***"}, {"xoxb-1234567890-abc", "***"},
		{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.sig", "***"}, {"github_pat_11ABCDEFG0abcdefghij_klmnop", "***"}, {"task-based-scheduling-of-work", "task-based-scheduling-of-work"},
		{"serve --api-key a1 b2 && echo x", "serve --api-key *** *** && echo x"}, {"serve --api-key a1 http://h/x", "serve --api-key *** http://h/x"}, {"pass --api-key K1 to the server", "pass --api-key *** to the server"}, {"serve --api-key a1 8000", "serve --api-key *** 8000"}, {"serve --api-key a1 b2== A=b", "serve --api-key *** *** A=b"}, {"serve --password a1 b2", "serve --password *** b2"},
		{"MAX_TOKENS=5 HF_TOKEN=abc", "MAX_TOKENS=5 HF_TOKEN=***"},
	} {
		if got := mask.Text(c[0]); got != c[1] {
			t.Errorf("%q gives %q, want %q", c[0], got, c[1])
		}
		if again := mask.Text(c[1]); again != c[1] {
			t.Errorf("%q, masked already, gives %q", c[1], again)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{nil, ""}, {[]string{"python", "run.py", "--new-tokens", "64"}, "python run.py --new-tokens 64"},
		{[]string{"serve", "--api-key", "abc", "--port", "1"}, "serve --api-key '***' --port 1"},
		{[]string{"serve", "--api-key=abc"}, "serve '--api-key=***'"},
		{[]string{"env", "HF_TOKEN=hf_examplesecret0123456789", "python"}, "env 'HF_TOKEN=***' python"},
		{[]string{"x", "--max-tokens", "64", "--tokenizer", "/a/b"}, "x --max-tokens 64 --tokenizer /a/b"},
		{[]string{"x", "--token", "abc def"}, "x --token '***'"}, {[]string{"x", "-token", "abc"}, "x -token '***'"},
		{[]string{"bash", "-c", "HF_TOKEN=abc run --api-key def"}, "bash -c 'HF_TOKEN=*** run --api-key ***'"},
		{[]string{"x", "it's", "", "a b"}, `x 'it'\''s' '' 'a b'`},
		{[]string{"env", "PGPASSWORD=a b c"}, "env 'PGPASSWORD=***'"}, {[]string{"x", "--tokens-secret", "abc"}, "x --tokens-secret '***'"},
		{[]string{"docker", "login", "-u", "ann", "-p", "abc", "host"}, "docker login -u ann -p '***' host"}, {[]string{"sshpass", "-p", "abc", "ssh", "-p", "22"}, "sshpass -p '***' ssh -p 22"}, {[]string{"docker", "run", "-p", "80:80", "login"}, "docker run -p 80:80 login"},
		{[]string{"env", "GITHUB_PAT=abc", "GH_PAT=abc", "x", "pw=abc", "path=/x"}, "env 'GITHUB_PAT=***' 'GH_PAT=***' x 'pw=***' path=/x"}, {[]string{"x", "--pw", "none", "--api-key=None", "--hf-token", ""}, "x --pw none --api-key=None --hf-token ''"},
		{[]string{"x", "--token"}, "x --token"}, {[]string{"x", "--header", "Authorization: Bearer abcdefgh"}, "x --header 'Authorization: Bearer ***'"},
	} {
		if got := mask.Command(c.argv); got != c.want {
			t.Errorf("%q gives %q, want %q", c.argv, got, c.want)
		}
	}
}

func TestArgv(t *testing.T) {
	for _, c := range [][2][]string{
		{{"vllm", "--api-key", "one", "two", "-x", "three"}, {"vllm", "--api-key", "***", "***", "-x", "three"}}, {{"x", "--hf-tokens", "one", "two"}, {"x", "--hf-tokens", "***", "***"}}, {{"x", "--api-key=one", "two"}, {"x", "--api-key=***", "two"}},
		{{"x", "--api-key", "one", "/data/x", "two"}, {"x", "--api-key", "***", "/data/x", "two"}}, {{"x", "--api-key", "one", "http://h"}, {"x", "--api-key", "***", "http://h"}}, {{"x", "--password", "one", "two"}, {"x", "--password", "***", "two"}}, {{"x", "--models", "one", "two"}, {"x", "--models", "one", "two"}},
		{{"x", "--pass", "one", "two"}, {"x", "--pass", "***", "two"}}, {{"x", "--api-key", "one", "two&2==", "A=b"}, {"x", "--api-key", "***", "***", "A=b"}},
		{{"env", "PWD=/root", "x"}, {"env", "PWD=/root", "x"}}, {{"x", "--token", "one", "--api-key"}, {"x", "--token", "***", "--api-key"}},
	} {
		if got := mask.Argv(c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("%q gives %q, want %q", c[0], got, c[1])
		}
	}
	argv := []string{"serve", "--api-key", "abc", "--hf-token=abc", "HF_TOKEN=abc", "--max-tokens", "64", "a b", ""}
	given := slices.Clone(argv)
	want := []string{"serve", "--api-key", "***", "--hf-token=***", "HF_TOKEN=***", "--max-tokens", "64", "a b", ""}
	if got := mask.Argv(argv); !slices.Equal(got, want) {
		t.Errorf("%q gives %q, want %q", argv, got, want)
	}
	if !slices.Equal(argv, given) {
		t.Errorf("the words given became %q", argv)
	}
}
