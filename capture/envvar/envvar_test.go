package envvar

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestAllowedEnv(t *testing.T) {
	got := Allowed([]string{
		"PATH=/bin", "HOME=/home/u", "NCCL_DEBUG=WARN", "CUDA_VISIBLE_DEVICES=0,1", "CUDA_VISIBLE_DEVICES=1", "HF_HUB_OFFLINE=1", "HF_TOKEN=hf_abcdefgh",
		"TOKENIZERS_PARALLELISM=false", "VLLM_API_KEY=x", "NVIDIA_API_KEY=x", "vllm_api_key=x", "SLURM_JOB_ID=7", "SLURM_JOB_USER=me", "NVIDIA_REQUIRE_CUDA=cuda>=13.0", "AWS_REGION=x",
		"CUDA_=", "NOVALUE", "=C:=x", "TORCH_EMPTY=", "VLLM_S3_ACCESS_ID=x", "SGLANG_URL=http://me:pw@host:80/x", "TORCH_LOGS=+dynamo,sk-abcdefgh12345678",
	})
	want := []string{"CUDA_VISIBLE_DEVICES=1", "HF_HUB_OFFLINE=1", "NCCL_DEBUG=WARN", "SGLANG_URL=http://***@host:80/x", "SLURM_JOB_ID=7",
		"TOKENIZERS_PARALLELISM=false", "TORCH_EMPTY=", "TORCH_LOGS=+dynamo,***"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestToolEnv: the tool gets all that may be stored and what it needs beside, and no more.
func TestToolEnv(t *testing.T) {
	environ := []string{"PATH=/bin", "LD_PRELOAD=/x.so", "HOME=/h", "LC_ALL=C", "NSYS_NVTX_PROFILER_REGISTER_ONLY=0", "NSYS_TOKEN=x", "CUDA_HOME=/c",
		"SSH_AUTH_SOCK=/s", "OPENAI_BASE=x", "PROF_HOME=/p", "PYTHONPATH=/p", "XDG_SESSION_ID=3"}
	want := []string{"CUDA_HOME=/c", "HOME=/h", "LC_ALL=C", "LD_PRELOAD=/x.so", "NSYS_NVTX_PROFILER_REGISTER_ONLY=0", "PATH=/bin", "PYTHONPATH=/p"}
	got := ForTool(environ)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, v := range Allowed(environ) {
		if !slices.Contains(got, v) {
			t.Errorf("the tool does not get %s", v)
		}
	}
}

// TestSecretNames: whatever else a name consists of, one with a word of a secret never passes.
func TestSecretNames(t *testing.T) {
	words := []string{"token", "key", "secret", "password", "passwd", "passphrase", "credential", "auth", "cookie", "bearer", "jwt", "private", "apikey", "access_key"}
	parts := []string{"", "_", "A", "MY", "2", "_X", "URL", "MAX", "_OF", "TOKENIZERS_PARALLELISM"}
	pick := rand.New(rand.NewPCG(1, 2))
	starts := slices.Concat(storedPrefixes, toolPrefixes, storedNames, toolNames)
	for range 20000 {
		word := []byte(words[pick.IntN(len(words))])
		for i := range word {
			if pick.IntN(2) == 0 {
				word[i] = strings.ToUpper(string(word[i]))[0]
			}
		}
		name := starts[pick.IntN(len(starts))] + parts[pick.IntN(len(parts))] + string(word) + parts[pick.IntN(len(parts))]
		environ := []string{name + "=v", "CUDA_X=" + name}
		for _, list := range [][]string{Allowed(environ), ForTool(environ)} {
			if len(list) != 1 || !strings.HasPrefix(list[0], "CUDA_X=") {
				t.Fatalf("%s passes: %q", name, list)
			}
		}
	}
}

func TestSecretValues(t *testing.T) {
	for value, want := range map[string]string{
		"hf_AbCdEfGh":                              "***",
		"x hf_AbCdEfGhIjKl,y":                      "x ***,y",
		"sk-proj-abc_DEF-123":                      "***",
		"nvapi-0123456789abcdef":                   "***",
		"ghp_0123456789abcdefghij":                 "***",
		"AKIAIOSFODNN7EXAMPLE":                     "***",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.abc": "***",
		"https://u:p@h/x?y=1":                      "https://***@h/x?y=1",
		"https://u:p:w@h":                          "https://***@h",
		"redis://:pw@h:1":                          "redis://***@h:1",
		"https://h/x?api_key=abc&z=1":              "https://h/x?api_key=***&z=1",
		"Authorization: Bearer abcdefgh":           "Authorization: Bearer ***",
		"-----BEGIN PRIVATE KEY-----\nabc":         "***",
		`{"token": "abc", "n": 3}`:                 `{"token": ***, "n": 3}`,
		"expandable_segments:True":                 "expandable_segments:True",
		"GPU-0a0ebfc5-431b-6c68-6dbf-048673f707":   "GPU-0a0ebfc5-431b-6c68-6dbf-048673f707",
		"cuda>=13.0 brand=tesla,driver>=535":       "cuda>=13.0 brand=tesla,driver>=535",
		"/usr/lib:/opt/x@2/lib":                    "/usr/lib:/opt/x@2/lib",
		"mask-rcnn":                                "mask-rcnn",
		"file:///a@b":                              "file:///a@b",
		"task-parallel-somewhere":                  "task-parallel-somewhere",
	} {
		if got := maskValue(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}
