package redact

// The alphabets of keys.
var (
	alnum    = bytesOf("A-Za-z0-9")
	word     = bytesOf("A-Za-z0-9_")
	token    = bytesOf("A-Za-z0-9_-")
	hyphened = bytesOf("A-Za-z0-9-")
	dotted   = bytesOf("A-Za-z0-9_.-")
	upper    = bytesOf("A-Z0-9")
	hexes    = bytesOf("A-Fa-f0-9")
	numbers  = bytesOf("0-9")
	base64s  = bytesOf("A-Za-z0-9+/=_-")
	percents = bytesOf("A-Za-z0-9%+/=_-")
	bearers  = bytesOf("A-Za-z0-9._~+/=-")
	paths    = bytesOf("A-Za-z0-9/_-")
	spaces   = bytesOf(" \t")
	quotes   = bytesOf("\"'\\ \t")
	signs    = bytesOf(":=>")
	assigns  = quotes.and(signs)

	// What stands around the lines of a private key: line ends, also escaped,
	// and what joins string literals.
	lineEnds = bytesOf(" \t\r\n\\nr\"'+,")
	armour   = bytesOf("A-Za-z0-9+/=_ \t\r\n\\\"',")
	armoured = bytesOf("A-Za-z0-9+/=")

	userName = without(bytesOf("\x00-\x20\x7f/@:\"'<>\\`()[]{}|,?#"))
	userInfo = without(bytesOf("\x00-\x20\x7f/\"'<>\\`[]?"))
)

// key is a rule for a key that begins with one of the prefixes, as a word of
// its own, and has at least so many bytes of a class behind it.
func key(name string, run *class, least int, prefixes ...string) rule {
	return rule{name: name, keywords: prefixes, after: wordStart, parts: []part{{run: run, min: least}}}
}

// value is a rule for a secret that follows one of the keywords, which stay.
func value(name string, run *class, least int, keywords ...string) rule {
	return rule{name: name, keywords: keywords, shown: true, parts: []part{{run: run, min: least}}}
}

// header is a rule for the credentials of an authorization header, as it
// stands in HTTP, JSON or code. A sign must be there: prose has authorization
// tokens too.
func header(name, scheme string, run *class, least int) rule {
	return rule{name: name, keywords: []string{"authorization"}, fold: true, shown: true, parts: []part{
		{run: quotes, max: 8, shown: true}, {run: signs, min: 1, max: 3, shown: true}, {run: quotes, max: 8, shown: true},
		{literal: scheme + " ", shown: true}, {run: spaces, max: 4, shown: true}, {run: run, min: least},
	}}
}

// credentials is a rule for what follows a scheme's name outside of a header.
// The name is a word of its own: code has types such as StaticBearer. It has at
// most eight bytes, as far as a stream looks back.
func credentials(name, scheme string, run *class, least int) rule {
	r := value(name, run, least, scheme)
	r.fold, r.after = true, wordStart
	return r
}

// formats are the rules that are on by default. Of two that a text keeps, the
// one that is met first names the marker.
func formats() []rule {
	return []rule{
		// Models.
		key("anthropic-key", token, 20, "sk-ant-"),
		key("openai-key", token, 20, "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"),
		key("openai-key", alnum, 20, "sk-"), // as its imitators' are
		key("openrouter-key", alnum, 32, "sk-or-v1-"),
		key("google-api-key", token, 35, "AIza"),
		key("google-oauth-token", dotted, 20, "ya29."),
		key("google-oauth-secret", token, 24, "GOCSPX-"),
		key("huggingface-token", alnum, 30, "hf_", "api_org_"),
		key("groq-key", alnum, 40, "gsk_"),
		key("xai-key", alnum, 40, "xai-"),
		key("replicate-token", alnum, 36, "r8_"),
		key("perplexity-key", alnum, 40, "pplx-"),
		key("nvidia-key", token, 40, "nvapi-"),

		// Code and packages.
		key("github-token", alnum, 36, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		key("github-pat", word, 22, "github_pat_"),
		key("gitlab-token", token, 20, "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glimt-", "glagent-"),
		key("npm-token", alnum, 36, "npm_"),
		key("pypi-token", token, 50, "pypi-"),
		key("rubygems-key", hexes, 48, "rubygems_"),
		key("docker-token", token, 24, "dckr_pat_", "dckr_oat_"),
		key("atlassian-token", base64s, 50, "ATATT3", "ATCTT3"),
		key("postman-key", hyphened, 50, "PMAK-"),
		key("figma-token", token, 40, "figd_"),
		key("linear-key", alnum, 32, "lin_api_", "lin_oauth_"),
		key("notion-token", alnum, 40, "ntn_", "secret_"),

		// Clouds.
		key("aws-access-key", upper, 16, "AKIA", "ASIA", "ABIA", "ACCA"),
		awsSecret(),
		value("azure-key", base64s, 40, "AccountKey=", "SharedAccessKey="),
		value("azure-sas", percents, 40, "?sig=", "&sig=", "&amp;sig=", `\u0026sig=`),
		key("digitalocean-token", hexes, 64, "dop_v1_", "doo_v1_", "dor_v1_"),
		key("databricks-token", hexes, 32, "dapi"),
		key("planetscale-token", dotted, 32, "pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
		key("supabase-token", hexes, 40, "sbp_"),
		key("fly-token", base64s, 40, "fm2_", "fm1r_", "fm1a_"),
		key("vault-token", token, 24, "hvs.", "hvb.", "hvr."),
		key("doppler-token", alnum, 40, "dp.pt.", "dp.st.", "dp.ct.", "dp.sa."),
		key("tailscale-key", hyphened, 20, "tskey-"),
		key("age-key", upper, 50, "AGE-SECRET-KEY-1"),

		// Services.
		key("slack-token", hyphened, 10, "xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-", "xapp-"),
		value("slack-webhook", paths, 24, "hooks.slack.com/services/", "hooks.slack.com/workflows/"),
		discordWebhook(),
		telegramToken(),
		key("stripe-key", alnum, 10, "sk_live_", "rk_live_", "sk_test_", "rk_test_"),
		key("stripe-webhook-secret", base64s, 24, "whsec_"),
		key("square-token", token, 22, "sq0atp-", "sq0csp-"),
		key("shopify-token", hexes, 32, "shpat_", "shpca_", "shppa_", "shpss_"),
		sendgridKey(),
		key("mailgun-key", hexes, 32, "key-"),
		key("grafana-token", base64s, 32, "glsa_", "glc_"),
		key("newrelic-key", upper, 27, "NRAK-"),
		key("sentry-token", base64s, 40, "sntrys_", "sntryu_"),

		// Whatever the service.
		jsonWebToken(),
		privateKey(),
		encryptedKey(),
		puttyKey(),
		header("bearer-token", "bearer", bearers, 8),
		header("bearer-token", "token", bearers, 8),
		header("basic-auth", "basic", base64s, 8),
		credentials("bearer-token", "bearer ", bearers, 16),
		credentials("basic-auth", "basic ", armoured, 24),
		urlCredentials(),
	}
}

func awsSecret() rule {
	return rule{
		name: "aws-secret-key", fold: true, shown: true,
		keywords: []string{"secret_access_key", "secretaccesskey", "aws_secret_key", "aws_session_token", "sessiontoken"},
		parts:    []part{{run: assigns, min: 1, max: 8, shown: true}, {run: base64s, min: 40}},
	}
}

func discordWebhook() rule {
	return rule{
		name: "discord-webhook", shown: true,
		keywords: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"},
		parts:    []part{{run: numbers, min: 17}, {literal: "/"}, {run: token, min: 40}},
	}
}

// telegramToken follows the number of a bot, which is no secret.
func telegramToken() rule {
	return rule{name: "telegram-token", keywords: []string{":AA"}, after: digitEnd, parts: []part{{run: token, min: 32}}}
}

func sendgridKey() rule {
	return rule{name: "sendgrid-key", keywords: []string{"SG."}, after: wordStart, parts: []part{
		{run: token, min: 16}, {literal: "."}, {run: token, min: 16},
	}}
}

// jsonWebToken has three parts, of which the first two are JSON objects.
func jsonWebToken() rule {
	return rule{name: "jwt", keywords: []string{"eyJ"}, after: wordStart, parts: []part{
		{run: token, min: 10}, {literal: ".eyJ"}, {run: token, min: 10}, {literal: "."}, {run: token, min: 10},
	}}
}

// privateKey leaves the lines that say BEGIN and END.
func privateKey() rule {
	r := rule{name: "private-key", shown: true, keywords: []string{"BEGIN PGP PRIVATE KEY BLOCK-----"}, parts: []part{
		{run: lineEnds, max: 64}, {run: armoured, min: 16, more: armour},
	}}
	for _, kind := range []string{"", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "ANY "} {
		r.keywords = append(r.keywords, "BEGIN "+kind+"PRIVATE KEY-----")
	}
	return r
}

// encryptedKey is one in the older form, whose lines follow headers.
func encryptedKey() rule {
	return rule{name: "private-key", shown: true, keywords: []string{"DEK-Info: "}, parts: []part{
		{run: hyphened, min: 1, max: 40, shown: true}, {literal: ",", shown: true}, {run: armour, min: 60},
	}}
}

func puttyKey() rule {
	return rule{name: "private-key", shown: true, keywords: []string{"Private-Lines: "}, parts: []part{
		{run: numbers, min: 1, max: 4, shown: true}, {run: lineEnds, min: 1, max: 8, shown: true}, {run: armoured, min: 40, more: armour},
	}}
}

// urlCredentials finds the password between the user's name and the last "@"
// before the path.
func urlCredentials() rule {
	return rule{name: "url-password", shown: true, keywords: []string{"://", `:\/\/`}, after: schemeEnd, parts: []part{
		{run: userName, max: 128, shown: true}, {literal: ":", shown: true}, {run: userInfo, min: 1, before: '@'},
	}}
}

// assignments are the rules that StrictRules adds. What is assigned has at
// least six bytes, as an ordinary word may have too.
func assignments() []rule {
	return []rule{{
		name: "assignment", fold: true, shown: true,
		keywords: []string{
			"password", "passwd", "passphrase", "pwd", "secret", "token", "credential", "credentials",
			"api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "private_key", "secret_key", "auth_key",
		},
		parts: []part{
			{run: quotes, max: 4, shown: true}, {run: signs, min: 1, max: 3, shown: true},
			{run: quotes, max: 4, shown: true}, {run: without(bytesOf("\x00-\x20\x7f\"'`\\,;<>()[]{}")), min: 6},
		},
	}}
}
