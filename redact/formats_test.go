package redact

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fill is n bytes that go round an alphabet.
func fill(alphabet string, n int) string {
	return strings.Repeat(alphabet, n/len(alphabet)+1)[:n]
}

// Made-up bodies of keys; none is anybody's.
var (
	mixed = fill("aB3xY7kQ9mZ2", 120)
	caps  = fill("Q7XK2MB9", 120)
	hexed = fill("0a1b2c3d4e5f6978", 120)
	sixty = fill("aB3+xY7/kQ9m", 120)
)

// An example is text that a rule takes, up to the secret and from its end on,
// or text that looks like it and stays.
type example struct {
	before, secret, after string
	no                    []string
}

// examples are the tests of each rule, by its name.
var examples = map[string][]example{
	"anthropic-key": {
		{"key: ", "sk-ant-api03-" + mixed[:40] + "_-" + mixed[:20] + "-AA", "\n", []string{"sk-ant-" + mixed[:19], "sk-ant-hill", "task-ant-" + mixed[:30], "SK-ANT-" + mixed[:30]}},
		{`"\n`, "sk-ant-" + mixed[:20], `"`, nil},
	},
	"openai-key": {
		{"OPENAI_API_KEY=", "sk-proj-" + mixed[:20] + "_-" + mixed[:30], " next", []string{"sk-proj-" + mixed[:19], "sk-folding-cube-animation-delay", "risk-" + mixed[:40], "sk-" + mixed[:19]}},
		{"(", "sk-" + mixed[:48], ")", nil},
		{"", "sk-" + hexed[:32], "", nil},
		{"", "sk-svcacct-" + mixed[:30], ".", nil},
	},
	"openrouter-key":      {{"x=", "sk-or-v1-" + hexed[:64], ";", []string{"sk-or-v1-" + hexed[:31], "sk-or-v2-" + hexed[:64]}}},
	"google-api-key":      {{"?key=", "AIza" + mixed[:35], "&x", []string{"AIza" + mixed[:34], "xAIza" + mixed[:35], "aiza" + mixed[:35]}}},
	"google-oauth-token":  {{"", "ya29." + mixed[:20] + "-" + mixed[:10], " ", []string{"ya29." + mixed[:19], "kya29." + mixed[:40]}}},
	"google-oauth-secret": {{`"`, "GOCSPX-" + mixed[:28], `"`, []string{"GOCSPX-" + mixed[:23], "GOCSPY-" + mixed[:28]}}},
	"huggingface-token": {
		{"", "hf_" + mixed[:34], "", []string{"hf_" + mixed[:29], "shf_" + mixed[:34], "hf_hub_download_with_a_long_name_of_it"}},
		{"", "api_org_" + mixed[:34], "", []string{"api_organization_" + mixed[:34]}},
	},
	"groq-key":        {{"", "gsk_" + mixed[:52], " ", []string{"gsk_" + mixed[:39], "agsk_" + mixed[:52]}}},
	"xai-key":         {{"", "xai-" + mixed[:80], " ", []string{"xai-" + mixed[:39], "taxai-" + mixed[:80]}}},
	"replicate-token": {{"", "r8_" + mixed[:37], " ", []string{"r8_" + mixed[:35], "ar8_" + mixed[:37]}}},
	"perplexity-key":  {{"", "pplx-" + mixed[:48], " ", []string{"pplx-" + mixed[:39], "pplx-70b-online"}}},
	"nvidia-key":      {{"", "nvapi-" + mixed[:30] + "-" + mixed[:33], " ", []string{"nvapi-" + mixed[:39], "envapi-" + mixed[:64]}}},

	"github-token": {
		{"https://", "ghp_" + mixed[:36], "@github.com", []string{"ghp_" + mixed[:35], "ghq_" + mixed[:36], "aghp_" + mixed[:36], "ghp_" + mixed[:20] + "-" + mixed[:20]}},
		{"a=", "ghs_" + mixed[:40], ".", nil},
		{"%3D", "gho_" + mixed[:36], "", nil},
		{"\x1b[1;32m", "ghu_" + mixed[:36], "\x1b[0m", nil},
		{`\u003d`, "ghr_" + mixed[:36], `"`, nil},
	},
	"github-pat":      {{"", "github_pat_" + mixed[:22] + "_" + mixed[:59], " ", []string{"github_pat_" + mixed[:21], "my_github_pat_" + mixed[:40]}}},
	"gitlab-token":    {{"", "glpat-" + mixed[:20], ".01.x", []string{"glpat-" + mixed[:19], "aglpat-" + mixed[:20]}}, {"", "glrt-" + mixed[:20], "", nil}},
	"npm-token":       {{"_authToken=", "npm_" + mixed[:36], "\n", []string{"npm_" + mixed[:35], "npm_config_registry_of_my_company_network", "pnpm_" + mixed[:36]}}},
	"pypi-token":      {{"password = ", "pypi-AgEIcHlwaS5vcmc" + mixed[:60], "\n", []string{"pypi-" + mixed[:49], "apypi-" + mixed[:60]}}},
	"rubygems-key":    {{"", "rubygems_" + hexed[:48], "", []string{"rubygems_" + hexed[:47], "rubygems_" + mixed[:48]}}},
	"docker-token":    {{"", "dckr_pat_" + mixed[:27], "", []string{"dckr_pat_" + mixed[:23], "dckr_pet_" + mixed[:27]}}},
	"atlassian-token": {{"", "ATATT3xFfGF0" + mixed[:100] + "=0A1B2C3D", "", []string{"ATATT3" + mixed[:49], "XATATT3" + mixed[:100]}}},
	"postman-key":     {{"", "PMAK-" + hexed[:24] + "-" + hexed[:34], "", []string{"PMAK-" + hexed[:49], "XPMAK-" + hexed[:60]}}},
	"figma-token":     {{"", "figd_" + mixed[:40], "", []string{"figd_" + mixed[:39], "configd_" + mixed[:40]}}},
	"linear-key":      {{"", "lin_api_" + mixed[:40], "", []string{"lin_api_" + mixed[:31], "berlin_api_" + mixed[:40]}}},
	"notion-token":    {{"", "ntn_" + mixed[:46], "", []string{"ntn_" + mixed[:39], "antn_" + mixed[:46]}}, {"", "secret_" + mixed[:43], "", []string{"secret_santa_list_of_the_whole_company_x", "my_secret_" + mixed[:43]}}},

	"aws-access-key": {{"id: ", "AKIA" + caps[:16], "\n", []string{"AKIA" + caps[:15], "XAKIA" + caps[:16], "AKIA" + strings.ToLower(caps[:16]), "/9j/xAKIA" + caps[:16]}}, {"", "ASIA" + caps[:16], "", nil}},
	"aws-secret-key": {
		{"aws_secret_access_key = ", sixty[:40], "\n", []string{"aws_secret_access_key = " + sixty[:39], "aws_secret_access_key " + strings.Repeat("a", 3) + " " + sixty[:40], "aws_secret_access_key_id"}},
		{`"SecretAccessKey": "`, sixty[:40], `"`, nil},
		{"AWS_SESSION_TOKEN=", sixty[:100], "", nil},
	},
	"azure-key":          {{"AccountName=x;AccountKey=", sixty[:86] + "==", ";Endpoint", []string{"AccountKey=" + sixty[:39], "accountkey=" + sixty[:86]}}},
	"azure-sas":          {{"https://x.blob.core.windows.net/a?sv=1&sig=", sixty[:30] + "%2B" + sixty[:13] + "%3D", "&se=2", []string{"&sig=" + sixty[:39], "design=" + sixty[:60]}}},
	"digitalocean-token": {{"", "dop_v1_" + hexed[:64], "", []string{"dop_v1_" + hexed[:63], "dop_v2_" + hexed[:64]}}},
	"databricks-token":   {{"", "dapi" + hexed[:32], "-2", []string{"dapi" + hexed[:31], "adapi" + hexed[:32], "dapi" + mixed[:32]}}},
	"planetscale-token":  {{"", "pscale_tkn_" + mixed[:43], "", []string{"pscale_tkn_" + mixed[:31], "pscale_abc_" + mixed[:43]}}},
	"supabase-token":     {{"", "sbp_" + hexed[:40], "", []string{"sbp_" + hexed[:39], "asbp_" + hexed[:40]}}},
	"fly-token":          {{"FlyV1 ", "fm2_" + sixty[:80] + "==", ",", []string{"fm2_" + sixty[:39], "afm2_" + sixty[:80]}}},
	"vault-token":        {{"X-Vault-Token: ", "hvs." + mixed[:90], "", []string{"hvs." + mixed[:23], "hvx." + mixed[:90], "ahvs." + mixed[:90]}}},
	"doppler-token":      {{"", "dp.pt." + mixed[:43], "", []string{"dp.pt." + mixed[:39], "dp.xx." + mixed[:43]}}},
	"tailscale-key":      {{"", "tskey-auth-" + mixed[:12] + "-" + mixed[:30], "", []string{"tskey-" + mixed[:19], "atskey-" + mixed[:30]}}},
	"age-key":            {{"", "AGE-SECRET-KEY-1" + caps[:58], "\n", []string{"AGE-SECRET-KEY-1" + caps[:49], "AGE-SECRET-KEY-2" + caps[:58]}}},

	"slack-token":           {{"", "xoxb-123456789012-" + mixed[:24], "", []string{"xoxb-" + mixed[:9], "xoxz-" + mixed[:24], "axoxb-" + mixed[:24]}}, {"", "xapp-1-" + caps[:11] + "-" + hexed[:64], "", nil}},
	"slack-webhook":         {{"https://hooks.slack.com/services/", "T" + caps[:8] + "/B" + caps[:8] + "/" + mixed[:24], "", []string{"https://hooks.slack.com/services/", "https://hooks.slack.com/services/T1/B2"}}},
	"discord-webhook":       {{"https://discord.com/api/webhooks/", "123456789012345678/" + mixed[:68], "", []string{"https://discord.com/api/webhooks/1234", "https://discord.com/api/webhooks/123456789012345678/" + mixed[:39]}}},
	"telegram-token":        {{"bot123456789", ":AA" + mixed[:33], "/getMe", []string{"bot1" + ":AA" + mixed[:31], "x:AA" + mixed[:33]}}},
	"stripe-key":            {{"", "sk_live_" + mixed[:24], "", []string{"sk_live_" + mixed[:9], "task_live_" + mixed[:24], "sk_dead_" + mixed[:24]}}, {"", "rk_test_" + mixed[:10], "", nil}},
	"stripe-webhook-secret": {{"", "whsec_" + mixed[:32], "", []string{"whsec_" + mixed[:23], "awhsec_" + mixed[:32]}}},
	"square-token":          {{"", "sq0atp-" + mixed[:22], "", []string{"sq0atp-" + mixed[:21], "sq0xyz-" + mixed[:22]}}},
	"shopify-token":         {{"", "shpat_" + hexed[:32], "", []string{"shpat_" + hexed[:31], "shpxx_" + hexed[:32]}}},
	"sendgrid-key":          {{"", "SG." + mixed[:22] + "." + mixed[:43], "", []string{"SG." + mixed[:22], "SG." + mixed[:15] + "." + mixed[:43], "MSG." + mixed[:22] + "." + mixed[:43]}}},
	"mailgun-key":           {{"api:", "key-" + hexed[:32], "", []string{"key-" + hexed[:31], "monkey-" + hexed[:32]}}},
	"grafana-token":         {{"", "glsa_" + mixed[:32] + "_" + hexed[:8], "", []string{"glsa_" + mixed[:31], "aglsa_" + mixed[:32]}}},
	"newrelic-key":          {{"", "NRAK-" + caps[:27], "", []string{"NRAK-" + caps[:26], "XNRAK-" + caps[:27]}}},
	"sentry-token":          {{"", "sntrys_" + sixty[:60], "", []string{"sntrys_" + sixty[:39], "sntryx_" + sixty[:60]}}},

	"jwt": {
		{"token ", "eyJ" + mixed[:20] + ".eyJ" + mixed[:40] + "." + mixed[:43], " ", []string{"eyJ" + mixed[:20] + "." + mixed[:40] + "." + mixed[:43], "eyJ" + mixed[:9] + ".eyJ" + mixed[:40] + "." + mixed[:43], "keyJ" + mixed[:20] + ".eyJ" + mixed[:40] + "." + mixed[:43], "eyJ" + mixed[:20] + ".eyJ" + mixed[:40]}},
		{"", "eyJ" + mixed[:20] + ".eyJ" + mixed[:40] + "." + mixed[:10], ".", nil},
	},
	"private-key": {
		{"-----BEGIN RSA PRIVATE KEY-----", "\n" + sixty[:64] + "\n" + sixty[:40] + "==\n", "-----END RSA PRIVATE KEY-----\nThe end of the file and more text than forty bytes.", []string{"-----BEGIN PRIVATE KEY----- in the file, and remove it from there", "-----BEGIN PUBLIC KEY-----\n" + sixty[:64] + "\n", "-----BEGIN PRIVATE KEY-----\n" + sixty[:15]}},
		{`"-----BEGIN PRIVATE KEY-----`, `\r\n` + sixty[:64] + `\r\n` + sixty[:20] + `\r\n`, `-----END PRIVATE KEY-----\n", "and": 1`, nil},
		{`"-----BEGIN EC PRIVATE KEY-----`, `\n" + ` + "\n\t\"" + sixty[:64] + `\n" +` + "\n\t\"" + sixty[:64] + `\n"` + "\n\t\"", `-----END EC PRIVATE KEY-----"`, nil},
		{"-----BEGIN OPENSSH PRIVATE KEY-----", sixty[:64], "-----END", nil},
		{"-----BEGIN PGP PRIVATE KEY BLOCK-----", "\n\n" + sixty[:64] + "\n=Ab12\n", "-----END PGP", nil},
		{"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,", caps[:32] + "\n\n" + sixty[:64] + "\n", "-----END", []string{"DEK-Info: AES-256-CBC," + caps[:32] + "\n-"}},
		{"Private-Lines: 8\r\n", sixty[:64] + "\r\n" + sixty[:64] + "\r\nPrivate", "-MAC: 0", []string{"Private-Lines: many", "Private-Lines: 1\n" + sixty[:39] + "."}},
	},
	"bearer-token": {
		{"Authorization: Bearer ", mixed[:8] + "._~+/-=", "\r\n", []string{"Authorization: Bearer " + mixed[:7], "Authorization: this " + mixed[:30]}},
		{`{"authorization":"bearer `, mixed[:12], `"}`, nil},
		{"authorization: token ", mixed[:40], "", nil},
		{`\r\nBearer `, mixed[:16], "", nil},
		{"the BEARER ", mixed[:16], ",", []string{"bearer authentication", "the bearer of this", "Bearer " + mixed[:15], "the authorization token provided is void", "authorization bearer authentication", "StaticBearer " + mixed[:30], "static_bearer " + mixed[:30]}},
	},
	"basic-auth": {
		{"-H 'Authorization: Basic ", "dXNlcjpwYXNz", "'", []string{"Authorization: Basic abc", "basic internationalization"}},
		{"Proxy: basic ", sixty[:24], "", []string{"Basic " + sixty[:23], "basic building-blocks-for-everyone", "authorization basic credentials", "ClientSecretBasic " + sixty[:30]}},
	},
	"url-password": {
		{"postgres://me:", "p:w!%20ö", "@db:5432/x", []string{"http://localhost:8080/path@x", "http://example.com/a:b@c", "mailto:me:you@example.com", "http://[::1]:80/@", "http://h?x=a:b@c", "x ://a:b@c"}},
		{"https://u:", "p@ss@w", "@host/", nil},
		{"redis://:", "pw", "@h", nil},
		{`"amqp:\/\/u:`, "pw", `@h\/"`, nil},
		{"a://u:", "p,w", "@h and b", nil},
	},
	"assignment": {
		{"password=", "hunter2", " x", []string{"password", "password: [x]", "password=abcde", "the password is hunter2!", "passwordless: true-story"}},
		{`"api_key": "`, "a1b2c3d4-_.~", `",`, nil},
		{`{\"DB_PASSWORD\":\"`, "päss#1=2:3", `\"}`, nil},
		{"clientSecret => '", "abcdef", "'", nil},
		{"export AUTH_TOKEN=", "abc$def", ";", nil},
	},
}

func TestRules(t *testing.T) {
	for name, all := range examples {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, RuleNames(StrictRules), name)
			r := ruledBy(t, StrictRules)
			if name != "assignment" {
				r = ruledBy(t, DefaultRules)
			}
			count := 0
			for _, e := range all {
				var tally Tally
				assert.Equal(t, e.before+"[REDACTED:"+name+"]"+e.after, r.Text(e.before+e.secret+e.after, &tally))
				assert.Equal(t, []Count{{name, 1}}, tally.Counts())
				for _, no := range e.no {
					assert.Equal(t, no, r.Text(no, nil), "no secret")
				}
				count += len(e.no)
			}
			assert.GreaterOrEqual(t, count, 2, "what looks like one and is none")
		})
	}
}

func TestEveryRuleHasExamples(t *testing.T) {
	assert.GreaterOrEqual(t, len(RuleNames(DefaultRules)), 50)
	for _, name := range RuleNames(StrictRules) {
		assert.NotEmpty(t, examples[name], name)
	}
	for _, s := range []*ruleset{defaultRules(), strictRules()} {
		for i, r := range s.rules {
			assert.True(t, slices.ContainsFunc(examples[r.name], func(e example) bool {
				return uses(s, i, e.before+e.secret+e.after)
			}), "no example of %s with %q", r.name, r.keywords)
		}
	}
}

func TestDocsListEveryRule(t *testing.T) {
	doc, err := os.ReadFile("../docs/redaction.md")
	require.NoError(t, err)
	for _, name := range RuleNames(StrictRules) {
		assert.Contains(t, string(doc), "`"+name+"`")
	}
}

// uses tells whether the rule alone finds something.
func uses(s *ruleset, rule int, text string) bool {
	one := newRuleset(s.rules[rule : rule+1 : rule+1])
	f := finder{r: &Redactor{auto: noAutomaton}, rules: one, text: text}
	f.skim(len(text))
	f.end()
	return len(f.marks) > 0
}

// TestTextFindsEveryKeyword is of the least that each rule asks for, and of a
// byte more in each part, behind each of its keywords in each case.
func TestTextFindsEveryKeyword(t *testing.T) {
	s := strictRules()
	r := ruledBy(t, StrictRules)
	before := map[edge]string{anywhere: "x", wordStart: " ", schemeEnd: "x", digitEnd: "7"}
	for i := range s.keywords {
		k := &s.keywords[i]
		for _, text := range []string{k.text, strings.ToUpper(k.text)} {
			for longer := range 3 {
				if text == k.text || k.fold {
					assert.True(t, r.Contains("clean"+before[k.after]+text+s.rules[k.rule].body(longer)+" clean"), "%s, %d longer", text, longer)
				}
			}
		}
	}
}

// body is the least that may follow a keyword, and so many bytes more of each
// part.
func (r *rule) body(longer int) string {
	var b strings.Builder
	for _, p := range r.parts {
		if p.run == nil {
			b.WriteString(p.literal)
			continue
		}
		n := p.min + longer
		if p.max > 0 {
			n = min(n, p.max)
		}
		b.WriteString(strings.Repeat(p.run.pick(), n))
		if p.before != 0 {
			b.WriteByte(p.before)
		}
	}
	return b.String()
}

func (c *class) pick() string {
	const likely = "7Q =:"
	return string(likely[strings.IndexFunc(likely, func(r rune) bool { return c[r] })])
}

// A name shorter than shortestKey is not searched for keys.
func TestNoRuleFindsShorterNames(t *testing.T) {
	for _, r := range strictRules().rules {
		least := 0
		for _, p := range r.parts {
			least += p.min + len(p.literal)
			if p.min > 0 && !slices.ContainsFunc([]byte(mixed+"_-."), func(c byte) bool { return p.run[c] }) || !plainName(p.literal) {
				least += shortestKey // no name
			}
		}
		for _, k := range r.keywords {
			assert.True(t, !plainName(k) || len(k)+least >= shortestKey, "%s: %s", r.name, k)
		}
	}
}

// TestRulesAreWellFormed holds what the attempts rely on.
func TestRulesAreWellFormed(t *testing.T) {
	for _, r := range strictRules().rules {
		last := r.parts[len(r.parts)-1]
		assert.NotNil(t, last.run, "%s ends with a run", r.name)
		assert.True(t, plainName(r.name))
		assert.Positive(t, last.min)
		assert.Zero(t, last.max)
		for _, k := range r.keywords {
			assert.Less(t, len(k), 60, "ended has 64 bits")
			assert.GreaterOrEqual(t, len(k), 3)
			assert.NotContains(t, k, "[")
		}
		for _, p := range r.parts {
			assert.NotContains(t, p.literal, "[")
			for _, c := range []*class{p.run, p.more} {
				assert.False(t, c != nil && (c['['] || c[']']), "%s stops at a marker", r.name)
			}
		}
		for c := range 128 {
			assert.True(t, last.before != 0 || !wordByte(byte(c)) || last.more[c], "%s takes words whole", r.name)
		}
	}
}

func ruledBy(t testing.TB, rules Rules, values ...Value) *Redactor {
	t.Helper()
	r, err := New(values...)
	require.NoError(t, err)
	return r.WithRules(rules)
}
