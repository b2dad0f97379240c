package mask_test

import (
	"strings"
	"testing"

	"prof/internal/mask"
)

// Values of secrets: a word, so that only its place gives it away, and a random one.
const (
	word   = "hunter2"
	random = "q7RkV2w9Xb4TnL6pYd8sMj3H"
	hexes  = "9f86d081884c7d659a2feaa0c55ad015"
)

// forms are texts with a secret in them, by the secret. Tokens are put together, so that no scanner takes them for real ones.
var forms = map[string][]string{
	word: {
		// The forms of the issue.
		"serve --wandb-key hunter2", "serve --key hunter2", "serve --license-key hunter2", "serve --pw hunter2", "serve --dsn hunter2", "serve --pin hunter2",
		"serve --hf-tokens hunter2", "serve --api-key hunter2", "serve --api-key=hunter2", "curl -u ann:hunter2 https://host", "curl --user 'ann:hunter2' https://host",
		"mysql -uroot -phunter2 db", "run -phunter2", "https://host/x?sig=hunter2&se=1", "https://host/x?X-Amz-Signature=hunter2", "https://host/x?a=1&X-Amz-Signature=hunter2&b=2",
		"DefaultEndpointsProtocol=https;AccountName=a;AccountKey=hunter2;EndpointSuffix=x", "BlobEndpoint=https://x;SharedAccessSignature=hunter2", "Endpoint=sb://x;SharedAccessKey=hunter2",
		"os.environ['HF_TOKEN']='hunter2'", `os.environ["HF_TOKEN"] = "hunter2"`, "os.environ.setdefault('OPENAI_API_KEY','hunter2')", `os.environ.setdefault("OPENAI_API_KEY", "hunter2")`,
		"export MYTOKEN hunter2", "setenv HF_TOKEN hunter2", "export HF_TOKEN=hunter2", "HF_TOKEN=hunter2", "python -c \"login(token='hunter2')\"",
		// Those of our own.
		`putenv("WANDB_API_KEY", "hunter2")`, `getenv("OPENAI_API_KEY", "hunter2")`, `{"api_key": "hunter2", "x": 1}`, `{\"api_key\": \"hunter2\"}`, "{'password': 'hunter2'}", "password: hunter2",
		"client_secret=hunter2", "clientSecret: 'hunter2'", "https://host/cb?code=hunter2&state=1", "https://maps/x?key=hunter2", "https://host/x?access_token=hunter2", "https://host/x?token%3Dhunter2",
		"redis://:hunter2@host:6379/0", "postgres://ann:hun/hunter2@host/db", "amqp://ann:hunter2@host", "https://hunter2@sentry.io/1", "jdbc:sqlserver://h;user=sa;password=hunter2;", "Server=x;Uid=sa;Pwd=hunter2;",
		"machine host login ann password hunter2", "CREATE USER ann IDENTIFIED BY 'hunter2'", "ALTER USER ann WITH PASSWORD 'hunter2'", "Cookie: session=hunter2; other=hunter2", "Set-Cookie: sid=hunter2",
		"Authorization: hunter2", "Proxy-Authorization: Basic hunter2", "X-API-Key: hunter2", "curl -H 'X-Auth-Token: hunter2'", "PRIVATE-TOKEN: hunter2", "sshpass -p hunter2 ssh", "sshpass -phunter2 ssh host",
		"serve --auth hunter2", "serve --bearer hunter2", "serve --secret=hunter2", "serve --github-token hunter2", "serve --ssl-key-password hunter2", "serve --admin-passcode hunter2", "serve --jwt hunter2",
		"//registry.npmjs.org/:_authToken=hunter2", "docker login -u ann --password hunter2", "AWS_SECRET_ACCESS_KEY=hunter2", "MYKEY=hunter2", "DB_PW=hunter2", "SENTRY_DSN=hunter2", "OTP=hunter2", "docker run -e HF_TOKEN=hunter2 image",
		"set OPENAI_API_KEY=hunter2", "$env:HF_TOKEN = 'hunter2'", "wandb.login(key='hunter2')", "huggingface-cli login --token hunter2", "secrets: hunter2", "db.password => hunter2", "https://hooks.slack.com/services/hunter2",
		"https://discord.com/api/webhooks/1/hunter2", "https://api.telegram.org/bothunter2/send", "mnemonic=hunter2",
		"Namespace(api_key=['hunter2'], port=8000)", "api_key=('a', 'hunter2'), x=1", "requests.get(url, auth=('bob', 'hunter2'))", `{"password": {"value": "hunter2"}}`, "api_key=['a', 'hunter2'", `password: {"a]": "hunter2"}`,
		"{'Authorization': 'Token hunter2'}", `{"Authorization": "Key hunter2"}`, "{'Authorization': 'hunter2'}", `{\"Authorization\": \"Token hunter2\"}`, "('Authorization', 'hunter2')",
		`{"name": "password", "value": "hunter2"}`, `{'name': 'HF_TOKEN', 'value': 'hunter2'}`, `{\"name\": \"HF_TOKEN\", \"value\": \"hunter2\"}`,
		// Names.
		"GITHUB_PAT=hunter2", "export GH_PAT=hunter2", "PAT=hunter2", "github_pat: hunter2", "serve --pat hunter2", `{"gitlab-pat": "hunter2"}`, "pw=hunter2", "pw: hunter2", `{"pw": "hunter2"}`, "db_pw=hunter2", "run pw=hunter2 x",
		"X-Vault-Token: hunter2", "SSHPASS=hunter2", "Using API key: hunter2", "api key: hunter2", "api key = hunter2", "secret key: hunter2", "user: bob, pass: hunter2", "username=bob pass: hunter2",
		`{"username":"x","key":"hunter2"}`, `{"username": "bob", "key": "hunter2"}`, "{\n  \"username\": \"bob\",\n  \"key\": \"hunter2\"\n}", `{"value": "hunter2", "name": "DB_PASSWORD"}`, `{\"value\": \"hunter2\", \"name\": \"DB_PASSWORD\"}`, `value: 'hunter2', name: 'HF_TOKEN'`,
		"OTEL_EXPORTER_OTLP_HEADERS=api-key=hunter2", "OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20hunter2", "authorization=Bearer%20hunter22", `Authorization:Bearer\ hunter2`,
		`{\"password\":\"hunter2\"}`, `{\"token\":\"hunter2\"}`, `{\\\"password\\\":\\\"hunter2\\\"}`, `{\"password\":\"a \\\"b hunter2\"}`, "password=&quot;hunter2&quot;", "&quot;password&quot;: &quot;hunter2&quot;, x", "password=&#39;a hunter2&#39;", "&quot;token&quot;: &quot;hunter2",
		"vllm serve m --api-key a1 hunter2", "serve --api-key 'a b' 'hunter2' --x", "serve --hf-tokens a1 b2 hunter2", "def f(password: str = 'hunter2')", "api_key: Optional[str] = 'hunter2'", "PWD=hunter2", "Pwd=/hunter2",
		// XML.
		"<password>hunter2</password>", "<ns:Password>hunter2</ns:Password>", `<password encrypted="no">hunter2</password>`, "<apiKey>\n  hunter2\n</apiKey>", "<password><![CDATA[hunter2]]></password>", `<entry key="password">hunter2</entry>`,
		`<add key="ApiKey" value="hunter2"/>`, `<property name="password" value="hunter2"/>`, `<password value="hunter2"/>`, "<key>password</key>\n<string>hunter2</string>", "<PIN>hunter2</PIN>", "<user>a</user><token>hunter2</token>",
		// YAML.
		"- name: HF_TOKEN\n  value: hunter2", "- name: \"HF_TOKEN\"\n  value: \"hunter2\"", "- {name: HF_TOKEN, value: hunter2}", "name=HF_TOKEN value=hunter2", "key: password\nvalue: hunter2", "api-key: |\n  hunter2", "api-key: |-\n  hunter2\n  more",
		"x:\n  api-key: >\n    hunter2\n  y: 1", "hf_token: !!str hunter2", "hf_token: &x hunter2", "hf_token: !secret hunter2", "password: ! 'a hunter2'", "token: |\n  hunter2",
		// Quotes.
		"password=\"one\nhunter2\"", "password='one\nhunter2'", "password = \"\"\"\nhunter2\n\"\"\"", `password='a\'hunter2'`, `password='a''hunter2'`, `password="a""hunter2"`, `PASSWORD='a'\''hunter2' run`, `"x, password=""a hunter2"", y"`,
		`password="a hunter2`, "password='a hunter2", `password=b'hunter2'`, `TOKEN=$'hunter2'`, `api_key=Secret('hunter2')`, `{"password": "a\\", "token": "hunter2"}`, `password: 'it''s hunter2'`, `{\"password\": \"a hunter2`,
		// Commands.
		"docker login -p hunter2", "docker login -u ann -p hunter2 registry", "podman login --tls-verify -p 'hunter2' host", "sudo docker --debug login -u ann -p hunter2", "helm registry login -p hunter2 host", "mongo --host x -p hunter2", "az acr login -p hunter2",
		"ENV API_KEY hunter2", "Step 3/9 : ENV API_KEY hunter2", "#7 [3/9] ENV API_KEY hunter2",
		// Headers.
		`Authorization: Digest username="bob", realm="x", response="hunter2"`, `-H 'Authorization: Digest username="bob", response="hunter2"'`, `{"Authorization": "Digest username=\"bob\", response=\"hunter2\""}`, `Proxy-Authorization: Digest response=hunter2`,
		`Authorization: AWS4-HMAC-SHA256 Credential=x/y, SignedHeaders=host, Signature=hunter2`, `(b'authorization', b'Token hunter2')`, `authorization: OAuth oauth_token="hunter2"`, "<SimpleCookie: a='b' sid='hunter2'>",
	},
	"zjazjbzjc": {"bearer zjazjbzjc", "sends bearer zjazjbzjc"},
	"zy4zy5zy6": {`{"tokens": ["zy4zy5zy6", "zy7zy8"]}`, `tokens=['zy4zy5zy6']`, `"tokens": "zy4zy5zy6"`},
	random: {
		"hf_" + random, "sk_live_" + random, "sk-proj-" + random, "sk-ant-api03-" + random, "npm_" + random, "pypi-" + random, "AIza" + random + "abcdefg-_", "ya29." + random, "dckr_pat_" + random, "hvs." + random, "ghp_" + random,
		"gho_" + random, "github_pat_" + random, "glpat-" + random, "xoxb-1234-" + random, "xapp-1-" + random, "nvapi-" + random, "gsk_" + random, "r8_" + random + "abcdefgh", "pplx-" + random + "abcdefgh", "whsec_" + random, "GOCSPX-" + random,
		"SG." + random + "." + random + "abc", "dop_v1_" + hexes + random, "shpat_" + random, "glsa_" + random, "lin_api_" + random, "sntrys_" + random + "abcdefgh", "wandb_v1_" + random, "tskey-auth-" + random, "figd_" + random,
		"rubygems_" + random, "PMAK-" + random + "abcdefgh", "xkeysib-" + random + random, "NRAK-" + random, "sbp_" + random + "abcdefgh", "eyJhbGciOiJIUzI1NiJ9." + random + ".sig", "Authorization: Bearer " + random, "bearer " + random,
		"--session " + random, "session=" + random, "id: " + random, `{"x": "` + random + `"}`, "-----BEGIN RSA PRIVATE KEY-----\n" + random + "\n-----END RSA PRIVATE KEY-----", `-----BEGIN OPENSSH PRIVATE KEY-----\n` + random, "begin AGE-SECRET-KEY-1" + random + random,
		"lsv2_pt_" + random, "xai-" + random + random, "sq0atp-" + random, "ATATT3x" + random + "abcdefgh",
	},
	"ABCDEFGHIJKLMNOP": {"AKIAABCDEFGHIJKLMNOP", "ASIAABCDEFGHIJKLMNOP"},
	hexes:              {"dapi" + hexes, "SK" + hexes, "key-" + hexes, "WANDB_API_KEY=" + hexes, "wandb login --api-key " + hexes, "wandb login " + hexes + "01234567", "sh -c 'wandb login --relogin " + hexes + "01234567 && python run.py'"},
}

func TestForms(t *testing.T) {
	n, missed := 0, 0
	for secret, texts := range forms {
		for _, text := range texts {
			n++
			got := mask.Text(text)
			if strings.Contains(got, secret) || !strings.Contains(got, "***") {
				missed++
				t.Errorf("%q gives %q", text, got)
			}
			if again := mask.Text(got); again != got {
				t.Errorf("%q, masked already, gives %q", got, again)
			}
		}
	}
	t.Logf("%d of %d forms masked", n-missed, n)
}

// TestPlain has what looks somewhat like a secret and is none: names of kernels, operators, models and files, hashes, ids, and what counts tokens.
func TestPlain(t *testing.T) {
	for _, text := range []string{
		"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 1ul>>(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas",
		"nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNN", "ampere_fp16_s16816gemm_fp16_128x64_ldg8_relu_f2f_stages_64x5_tn", "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0d1d2d3de4de",
		"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_", "name=_ZN7cutlass13device_kernelIN5flash11enable_sm90IXadL0EE4Kern8Q2W3E4R5T6",
		"meta-llama/Llama-3.1-8B-Instruct", "--model meta-llama/Llama-3.1-8B-Instruct", "model=Qwen/Qwen2.5-VL-72B-Instruct-AWQ", "--model=deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "/models/Llama-3.1-8B-Instruct-Q4_K_M.gguf",
		"aten::mm, seq = 12, op_id = 3, sizes = [[1, 512], [512, 64]]", "aten::scaled_dot_product_attention", "decode_step[17]", "layers.12.self_attn.k_proj", "key_states", "past_key_values", "query_key_value: 12", "num_key_value_heads=8",
		"commit=de75b89f0c2a4b6d8e0f1a2b3c4d5e6f708192a3", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "digest=" + hexes, "id=01929d3e-7b1a-7c3d-9e4f-0123456789ab", "GPU-5ccb6c7b-2b8c-5d1e-9d0f-abcdefabcdef",
		"max_tokens=128", "--max-tokens 64", "tokens: 64", "n_tokens=17", "token=17", "token 17", "decode token: 17", "eos_token=</s>", "pad_token_id=0", "token_count=5", "--tokenizer /models/t", "prompt_tokens: 512", "cached_tokens=3", "new_token=5",
		"forward pass: warm-up", "pass=3", "--num-passes 4", "author: Ann", "--pin-memory", "pin_memory=True", "cudaHostAlloc pinned", "mapping: x", "key=query", "--key-cache", "cache_key=3", "sort_key=a", "--sort-keys true", "signature=f32(f32)",
		"Basic operations", "basic linear algebra", "the bearer of news", "docker run -u 1000:1000 image", "python -u run.py", "ssh -p2222 host", "docker run -p8080:80", "llama-bench -pp512 -pg512,128", "gcc -pthread", "-prefill2048", "http://host:8080/v1", "http://host:8080/a@b",
		"s3://bucket/key/name", "/data/keys/public", "Kernel: 3", "use_auth_token=True", "trust_remote_code=True", "password=None", "sk-learn", "task-based-scheduling-of-work", "hf_transfer", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"grid: (128, 1, 1)", "TORCH_CUDA_ARCH_LIST=8.0;9.0+PTX", "--set full", "NVIDIA H100 80GB HBM3", "wandb login --relogin && python train.py", "wandb login", "token::Token", "KV cache: 12", "NCCL_IB_HCA=mlx5_0", "secret-free text", "token: [1, 22, 333]", "pass=(1, 2)", "x=12345678901234567890123", "version=2.9.0.dev20250801+cu128",
		"PWD=/root/work", "OLDPWD=/root", "pwd: /root/work", "cwd=/root pwd: /root/work", "pwd=/srv", "power pw=312.5", "def f(token: str, password: str = None) -> None:", "def __init__(self, api_key: Optional[str] = None, token: str | None = None):", "password: str", "password: str,\n  user: str", "(self, secret: bytes)",
		`api_key = os.environ["OPENAI_API_KEY"]`, "api_key = os.environ.get('X')", "password = getpass.getpass()", `HF_TOKEN = os.getenv("HF_TOKEN")`, "api key: must not be empty", "Invalid API key: required", "access key = none", `f("my secret key", x)`, `"create access key: %w", err`, "the key: hunter", "sort key: name", "pass: warm-up of user: x", "pass the pass: x",
		`{"username": "bob", "id": "x"}`, `{"value": "llama", "name": "MODEL"}`, `{"value": 5, "name": "token"}`, `{\"token\": \"\"}`, "&quot;max_tokens&quot;: &quot;5&quot;", "a &quot;token&quot; of text", "serve --max-tokens 64 128", "--prompts a b c", "bearer%20tokens",
		// What new forms might take for theirs.
		"path=/models/x", "PATH=/usr/bin", "pattern=abc", "dispatch: x", "compat=yes", "patch: 16", "pat: 3", "spat=x", "--pw none", "--api-key None", "pw=64", "conv_pw=fused", "(conv_pw): Conv2d(16, 64)", "kernel_pw_conv", "dw_pw_fused: 3", "--token None --x", "token=None",
		"std::vector<Token> tokens", "foo<Token>(int)", "void kernel<Password>(float*)", "if a < token and b > c", "<token> 12 </s>", "<pad_token>", "cutlass::Key<Token>::run</", "<tokenizer>bpe</tokenizer>", "<max_tokens>12</max_tokens>", "<token/>x</y>", "a <b> token </b>",
		"- name: max_tokens\n  value: 4096", "- name: MODEL\n  value: llama", "name: HF_TOKEN\n  valueFrom: x", "name=decode value=12", "token 12", "token 12 of 64", "NVTX token 12", "max_tokens: 4096", "tokens=512", "token_type_ids=[0, 0, 1]", "token_type_ids: tensor([[0, 0]])",
		"pad_token: <pad>", "pad_token='<pad>', eos_token='</s>'", `"eos_token": "<|endoftext|>"`, `"tokens": ["Hello", " world", "Ġ2024"]`, `"tokens": [1, 2, 3]`, `tokens=['the', 'cat', 'h100']`, `"tokens": "512"`, `"prompt_tokens": ["fp8e4m3fn8"]`, `"tokens": ["layer_12345678"]`,
		"tokenizer: /models/tok/tokenizer.json", "tokenizer_path: /models/tok", "api-key:\n  file: x", "key: |\n  text", "tokens: |\n  a b", "token_ids: >\n  12", "password: true", "bearer authentication failed", "bearer token", "Bearer channel", "the bearer certificates", "bearer of strengths",
		"ssh login.cluster.edu -p 2222", "docker run -p 8080:80", "docker run --name login-test -p 8080", "docker login", "mkdir -p /data/x", "git log -p file", "nvprof -p x", "ENV", "ENV MODE fast", "env TOKENIZER x", "ENV PATH /usr/bin",
		"don't pass; it's 3", "forward pass: don't", "Authorization: ", "authorization is needed", "key='value'", `sort="key"`, "key=b'x'", "f('password=' + x, y)", `"token=" + x`, `print("password: ")`, "self.assertIn('x-goog-credential=' + email, out)",
		"torch.nn.modules.linear.Linear_ForwardPass2", "dtype=torch.float8_e4m3fn", "name: FlashAttnFwdSm90TmaGmmaWarpSpecialized", "arch=compute_90a,code=sm_90a", "--gpu-metrics-devices=all",
	} {
		if got := mask.Text(text); got != text {
			t.Errorf("%q gives %q", text, got)
		}
	}
}

func TestHomes(t *testing.T) {
	for _, c := range [][2]string{
		{"/home/ann/models/llama", "~/models/llama"}, {"python /home/ann/run.py --model=/home/ann/m", "python ~/run.py --model=~/m"}, {"/Users/ann", "~"}, {"/mnt/home/ann/x", "~/x"}, {"file:///home/ann/x", "~/x"},
		{`C:\Users\ann\x`, `~\x`}, {`"C:\\Users\\ann\\x"`, `"~\\x"`}, {"PATH=/usr/bin:/home/ann/bin", "PATH=/usr/bin:~/bin"}, {"/opt/home/page", "/opt/home/page"}, {"https://host/home/page", "https://host/home/page"}, {"/home/", "/home/"},
		{"/root/x", "/root/x"}, {"/home/ann/train.py(12): forward", "~/train.py(12): forward"},
	} {
		if got := mask.Stored(c[0]); got != c[1] {
			t.Errorf("%q gives %q, want %q", c[0], got, c[1])
		}
		if got := mask.Text(c[0]); got != c[0] {
			t.Errorf("Text: %q gives %q", c[0], got)
		}
	}
}

// TestLong has texts of 120 kB with a word in each place at which a rule looks back: one that looks back to the begin takes minutes.
func TestLong(t *testing.T) {
	for _, word := range []string{"/home/ann:", "x -phunter22 ", " MYKEY x", "key=hunter2,", "password x ", "-----begin "} {
		if got := mask.Stored(strings.Repeat(word, 120_000/len(word))); strings.Contains(got, "ann") || strings.Contains(got, "-phunter22") {
			t.Errorf("%q many times gives %.80q", word, got)
		}
	}
}

func TestValue(t *testing.T) {
	for _, c := range [][3]string{
		{"torch.wandb_api_key", "abc", "***"}, {"env.HF_TOKEN", "abc", "***"}, {"host.name", "box", "box"}, {"env.use_auth_token", "True", "True"}, {"capture.command", "x --token abc", "x --token ***"}, {"tokens", "64", "64"}, {"folder", "/home/ann/x", "~/x"},
	} {
		if got := mask.Value(c[0], c[1]); got != c[2] {
			t.Errorf("%s %q gives %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// FuzzText holds masking to what must be so of any text: no panic, and no text is lost.
func FuzzText(f *testing.F) {
	for _, texts := range forms {
		for _, text := range texts {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := mask.Stored(text)
		if mask.Stored(strings.ToUpper(text)) == "" && text != "" {
			t.Errorf("%q became empty", text)
		}
		mask.Argv(strings.Fields(once))
	})
}

func BenchmarkText(b *testing.B) {
	for _, c := range [][2]string{{"range", "decode_step[17]"}, {"operator", "aten::mm, seq = 12, op_id = 3, sizes = [[1, 512], [512, 64]]"}, {"tokens", "execute_context_1(512)_generation_3(3) num_tokens=512"},
		{"module", "nn.Module: LlamaDecoderLayer_17"}, {"command", "python -m vllm.entrypoints.openai.api_server --model meta-llama/Llama-3.1-8B --max-tokens 64 --hf-token abc"}} {
		b.Run(c[0], func(b *testing.B) {
			for b.Loop() {
				mask.Stored(c[1])
			}
		})
	}
}
