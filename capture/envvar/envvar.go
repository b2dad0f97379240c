// Package envvar says which variables of an environment may be kept with a run, and which a profiler is given.
package envvar

import (
	"regexp"
	"slices"
	"strings"

	"prof/internal/mask"
)

// Which variables may be kept with a run, and so be read by whoever gets the run. It is a list of what is allowed: a variable that
// nobody thought of stays out. What is on it says which devices, libraries, allocators, kernels and ranks a run used.
var (
	// storedPrefixes are the families whose variables set how a library computes.
	storedPrefixes = []string{
		"CUDA_", "CUBLAS_", "CUBLASLT_", "CUDNN_", "CUTLASS_", "NVIDIA_", "NCCL_", "NVSHMEM_", "UCX_", "GLOO_",
		"TORCH_", "PYTORCH_", "TORCHINDUCTOR_", "TORCHDYNAMO_", "TORCHELASTIC_", "TRITON_", "TRANSFORMERS_", "ACCELERATE_", "XFORMERS_",
		"VLLM_", "SGLANG_", "SGL_", "TRTLLM_", "TLLM_", "FLASHINFER_", "FLASH_ATTENTION_",
		"OMP_", "MKL_", "OPENBLAS_", "GOMP_", "KMP_", "NUMEXPR_", "OMPI_COMM_WORLD_",
	}
	// storedNames stand alone: of their families (HF_, SLURM_, PYTHON) others tell who someone is, or where.
	storedNames = []string{
		"HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_ENABLE_HF_TRANSFER", "TOKENIZERS_PARALLELISM",
		"PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONOPTIMIZE", "PYTHONUNBUFFERED", "PYTHONNOUSERSITE", "VIRTUAL_ENV", "CONDA_PREFIX",
		"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "ROLE_RANK", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT",
		"SLURM_JOB_ID", "SLURM_NTASKS", "SLURM_NNODES", "SLURM_NODEID", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_JOB_GPUS",
		"SLURM_GPUS_ON_NODE", "SLURM_CPUS_PER_TASK",
	}
	// toolPrefixes and toolNames are what a profiler, and the loader and shell below it, need beside those to work at all. A profiler
	// writes its environment into its report.
	toolPrefixes = []string{"LC_", "NSYS_", "QUADD_", "NV_COMPUTE_PROFILER_", "NV_NSIGHT_", "NVTX_", "PYENV_"}
	toolNames    = []string{
		"PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "SHELL", "TERM", "LD_LIBRARY_PATH", "LD_PRELOAD",
		"XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
	}
)

// secretName finds names whose values are no one else's business. It takes parts of words too (APIKEY, MYTOKEN2): a variable that is
// left out for nothing costs little.
var secretName = regexp.MustCompile(`(?i)TOKEN|KEY|SECRET|PASSW|PASSPHRASE|(^|_)P(ASS|WD|W)(_|$)|CREDENTIAL|CREDS|AUTH|COOKIE|BEARER|JWT|PRIVATE|ACCESS|SIGNATURE|CERT|(^|_)(PAT|DSN|SAS|PIN)(_|$)|WEBHOOK|LICENSE|(^|_)SESSION_?ID`)

// plainNames hold a word of a secret and are none.
var plainNames = map[string]bool{"TOKENIZERS_PARALLELISM": true}

// urlUserinfo is all that stands before the host of a URL: a user's name is no one else's business either, and a password may have any sign.
var urlUserinfo = regexp.MustCompile(`(://)[^/\s@]+@`)

// maskValue replaces what looks like a secret in a variable's value.
func maskValue(value string) string {
	value = urlUserinfo.ReplaceAllString(value, "${1}***@")
	return mask.Text(value)
}

// Allowed returns the variables of an environment that may be stored, sorted: those of a fixed list, none whose name looks like that
// of a secret, and what looks like a secret in their values as ***. Of a name that is there twice the last counts, as for programs.
func Allowed(environ []string) []string {
	return allowEnv(environ, storedPrefixes, storedNames)
}

// ForTool returns the environment for the process of a profiler, sorted: what it needs to run and what AllowedEnv gives, by the same
// rules. The workload gets its own environment, whole.
func ForTool(environ []string) []string {
	return allowEnv(environ, slices.Concat(storedPrefixes, toolPrefixes), slices.Concat(storedNames, toolNames))
}

func allowEnv(environ, prefixes, names []string) []string {
	last := map[string]string{}
	for _, v := range environ {
		name, value, ok := strings.Cut(v, "=")
		if ok && !IsSecret(name) && allowedName(name, prefixes, names) {
			last[name] = value
		}
	}
	out := make([]string, 0, len(last))
	for name, value := range last {
		out = append(out, name+"="+maskValue(value))
	}
	slices.Sort(out)
	return out
}

func allowedName(name string, prefixes, names []string) bool {
	if strings.HasPrefix(name, "NVIDIA_REQUIRE_") { // what an image asks of a container's runtime: long, and of no effect later
		return false
	}
	return slices.Contains(names, name) || slices.ContainsFunc(prefixes, func(p string) bool {
		return len(name) > len(p) && strings.HasPrefix(name, p)
	})
}

// IsSecret reports whether a variable's name looks like that of a secret.
func IsSecret(name string) bool {
	return !plainNames[name] && secretName.MatchString(name)
}

// Lookup returns a variable of an environment as programs see it: the last of its name.
func Lookup(environ []string, name string) (value string, ok bool) {
	for _, v := range environ {
		if n, text, is := strings.Cut(v, "="); is && n == name {
			value, ok = text, true
		}
	}
	return value, ok
}
