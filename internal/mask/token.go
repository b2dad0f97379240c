package mask

import "strings"

// tokenForm is how the tokens of a service look, as its documentation or the tokens that it gives out say: a prefix, so many characters at
// least, letters and digits or one of more.
type tokenForm struct {
	prefix string
	least  int
	more   string
}

var tokens = []tokenForm{
	{"hf_", 8, ""}, {"api_org_", 20, ""}, // Hugging Face
	{"sk-", 16, "_-"}, {"sess-", 24, ""}, // OpenAI, Anthropic, DeepSeek, OpenRouter
	{"gsk_", 20, ""}, {"r8_", 30, ""}, {"pplx-", 30, ""}, {"xai-", 40, ""}, {"fw_", 20, ""}, {"tgp_v1_", 20, "_-"}, // Groq, Replicate, Perplexity, xAI, Fireworks, Together
	{"nvapi-", 16, "_-"}, {"wandb_v1_", 16, "_-"}, {"lsv2_", 16, "_"}, {"jina_", 30, "_-"}, {"pcsk_", 20, "_"}, {"dapi", 32, "-"}, // NVIDIA, W&B, LangSmith, Jina, Pinecone, Databricks
	{"ghp_", 20, ""}, {"gho_", 20, ""}, {"ghu_", 20, ""}, {"ghs_", 20, ""}, {"ghr_", 20, ""}, {"github_pat_", 20, "_"},
	{"glpat-", 16, "_-."}, {"gldt-", 16, "_-"}, {"glrt-", 16, "_-."}, {"glptt-", 16, "_-"}, {"glcbt-", 16, "_-"}, {"glsoat-", 16, "_-"}, {"glft-", 16, "_-"},
	{"xoxa-", 10, "-"}, {"xoxb-", 10, "-"}, {"xoxe-", 10, "-"}, {"xoxe.", 10, "-."}, {"xoxp-", 10, "-"}, {"xoxr-", 10, "-"}, {"xoxs-", 10, "-"}, {"xoxc-", 10, "-"}, {"xoxd-", 10, "-%"}, {"xapp-", 10, "-"},
	{"AKIA", 12, ""}, {"ASIA", 12, ""}, {"ABIA", 16, ""}, {"ACCA", 16, ""}, {"ABSK", 40, "+/="}, // AWS
	{"AIza", 30, "_-"}, {"ya29.", 20, "_-."}, {"GOCSPX-", 20, "_-"}, {"1//0", 30, "_-"}, // Google
	{"sk_live_", 10, ""}, {"sk_test_", 10, ""}, {"rk_live_", 10, ""}, {"rk_test_", 10, ""}, {"pk_live_", 10, ""}, {"whsec_", 20, "+/="}, // Stripe
	{"npm_", 20, ""}, {"pypi-", 16, "_-"}, {"rubygems_", 20, ""}, {"cio", 32, ""}, {"oy2", 43, ""}, {"CLOJARS_", 40, ""},
	{"dckr_pat_", 16, "_-"}, {"dckr_oat_", 16, "_-"}, {"hvs.", 20, "_-."}, {"hvb.", 20, "_-."}, {"hvr.", 20, "_-."},
	{"dop_v1_", 32, ""}, {"doo_v1_", 32, ""}, {"dor_v1_", 32, ""}, {"shpat_", 20, ""}, {"shpss_", 20, ""}, {"shpca_", 20, ""}, {"shppa_", 20, ""},
	{"glsa_", 20, "_"}, {"glc_", 30, "+/="}, {"sntrys_", 30, "_+/="}, {"sntryu_", 30, ""}, {"sbp_", 30, ""}, {"sb_secret_", 16, "_-"},
	{"lin_api_", 20, ""}, {"lin_oauth_", 20, ""}, {"ntn_", 30, ""}, {"secret_", 40, ""}, {"figd_", 20, "_-"}, {"PMAK-", 30, "-"}, {"pul-", 32, ""}, {"pnu_", 30, ""}, {"pscale_tkn_", 20, "_-."}, {"pscale_pw_", 20, "_-."}, {"pscale_oauth_", 20, "_-."},
	{"SG.", 40, "_-."}, {"xkeysib-", 40, "-"}, {"key-", 32, ""}, {"NRAK-", 20, ""}, {"NRII-", 20, "-"}, {"ATATT3", 30, "_-="}, {"ATCTT3", 30, "_-="}, {"ATBB", 24, ""}, {"dp.pt.", 30, ""}, {"dp.st.", 30, "_."}, {"sl.", 60, "_-."},
	{"nfp_", 30, ""}, {"tskey-", 16, "-"}, {"ops_eyJ", 40, "_-."}, {"dt0c01.", 40, "."}, {"FlyV1 fm", 30, "_+/=,"}, {"fo1_", 30, "_-"}, {"sq0atp-", 20, "_-"}, {"sq0csp-", 30, "_-"}, {"AGE-SECRET-KEY-1", 40, ""},
	{"rnd_", 24, ""}, {"rdme_", 40, ""}, {"aio_", 24, ""}, {"SK", 32, ""}, {"eyJ", 20, "_-."}, // Render, ReadMe, Adafruit, Twilio, JSON web tokens
}

// token masks what looks like a token from its prefix on. A prefix is written as the service writes it, and nothing is right before it.
func (f *finder) token(t tokenForm, from, to int) {
	s := f.text
	if s[from:to] != t.prefix || from > 0 && (isAlnum(s[from-1]) || s[from-1] == '_') {
		return
	}
	end := run(s, to, t.more)
	for end > to && strings.IndexByte(".,-=", s[end-1]) >= 0 && s[end-1] != '=' {
		end--
	}
	body := s[to:end]
	if len(body) < t.least || !t.fits(body) {
		return
	}
	f.add(from, end)
}

// fits holds forms to what else is known of them, where a prefix alone could begin a word.
func (t tokenForm) fits(body string) bool {
	switch t.prefix {
	case "eyJ":
		first, rest, ok := strings.Cut(body, ".")
		second, _, two := strings.Cut(rest, ".")
		return ok && two && len(first) >= 10 && len(second) >= 10
	case "SK", "dapi", "key-", "cio", "oy2", "fw_", "pul-", "secret_", "rnd_", "xai-", "sess-":
		return len(body) >= t.least && strings.ContainsAny(body, "0123456789") && strings.ContainsFunc(body, func(r rune) bool { return r > '9' })
	case "hf_":
		return strings.ContainsFunc(body, func(r rune) bool { return r < 'a' })
	case "AKIA", "ASIA", "ABIA", "ACCA":
		return strings.ToUpper(body) == body
	}
	return true
}
