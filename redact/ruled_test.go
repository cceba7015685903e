package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/prism-rpc/prism-rpc/redact"
)

var body = strings.Repeat("aB3xY7kQ9mZ2", 10)

func TestRulesAndValues(t *testing.T) {
	key := "ghp_" + body[:36]
	encoded := base64.StdEncoding.EncodeToString([]byte("abcdefgh"))
	for name, c := range map[string]struct {
		values []redact.Value
		in     string
		want   string
	}{
		"a key alone":                          {nil, key, "[REDACTED:github-token]"},
		"a key that is a known value":          {[]redact.Value{value("K", key)}, "x " + key, "x [REDACTED:K]"},
		"a value at a key's beginning":         {[]redact.Value{value("K", key[:10])}, key, "[REDACTED:K]"},
		"a value at a key's end":               {[]redact.Value{value("K", body[20:36])}, key + " " + body[20:36], "[REDACTED:github-token] [REDACTED:K]"},
		"a value over a key's end":             {[]redact.Value{value("K", body[20:36]+".tail")}, key + ".tail!", "[REDACTED:github-token]!"},
		"a value over a key's beginning":       {[]redact.Value{value("K", "key=ghp_"+body[:4])}, "key=" + key + "!", "[REDACTED:K]!"},
		"a key glued to a value":               {[]redact.Value{value("K", "abcdefgh")}, "abcdefgh" + key + ".", "[REDACTED:K]."},
		"a key behind a colour of 256":         {nil, "\x1b[38;5;186m" + key + "\x1b[0m", "\x1b[38;5;186m[REDACTED:github-token]\x1b[0m"},
		"a key that grep shows":                {nil, "\x1b[01;31m\x1b[K" + key + "\x1b[m\x1b[K", "\x1b[01;31m\x1b[K[REDACTED:github-token]\x1b[m\x1b[K"},
		"a key behind a colour in JSON":        {nil, `\u001b[32m` + key + `\u001b[0m`, `\u001b[32m[REDACTED:github-token]\u001b[0m`},
		"a key behind a colour in code":        {nil, `\033[1;32m` + key + `\e[0m` + key, `\033[1;32m[REDACTED:github-token]\e[0m[REDACTED:github-token]`},
		"a key glued to a word":                {[]redact.Value{value("K", "abcdefgh")}, "abcdefg" + key, "abcdefg" + key},
		"a value glued to a key":               {[]redact.Value{value("K", "abcdefgh")}, key + "abcdefgh" + key, "[REDACTED:github-token]"},
		"a key behind the digit after a value": {[]redact.Value{value("K", "abcdefgh")}, encoded[:len(encoded)-1] + key, "[REDACTED:K]"},
		"a short value before a key":           {[]redact.Value{short("p", "n")}, `\n` + key + " n", `\[REDACTED:p] [REDACTED:p]`},
		"two keys":                             {nil, key + " " + key, "[REDACTED:github-token] [REDACTED:github-token]"},
		"a key in a URL":                       {nil, "https://u:" + key + "@h", "https://u:[REDACTED:github-token]@h"},
		"a key behind a token's name":          {nil, "Authorization: Bearer sk-ant-" + body, "Authorization: Bearer [REDACTED:bearer-token]"},
		"a marker with a rule's name":          {nil, "[REDACTED:jwt] Bearer [REDACTED:bearer-token]" + body, "[REDACTED:jwt] Bearer [REDACTED:bearer-token]" + body},
		"a value like the marker of a rule":    {[]redact.Value{value("", "github-token]x"), value("", "a[REDACTED:jwt]b")}, key + "-x", "[REDACTED]-x"},
		"a name like a key":                    {[]redact.Value{value(key, "abcdefgh")}, "abcdefgh", "[REDACTED]"},
	} {
		t.Run(name, func(t *testing.T) {
			r := redactor(t, c.values...)
			got := r.Text(c.in, nil)
			assert.Equal(t, c.want, got)
			assert.Equal(t, got, r.Text(got, nil), "redacting twice changes nothing")
			s := r.Stream()
			assert.Equal(t, c.want, s.Write(c.in)+s.Flush())
		})
	}
}

func TestS3Base64TakesItsTail(t *testing.T) {
	const secret = "0123456789" // 10 bytes: a digit of four bits and padding
	r := redactor(t, value("", secret))
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
		assert.Equal(t, "<[REDACTED]>", r.Text("<"+enc.EncodeToString([]byte(secret))+">", nil))
	}
	both := redactor(t, value("", "MDEyMzQ1Njc4O"), value("", secret)) // the first is the second's, but for the last digit
	assert.Equal(t, "[REDACTED]", both.Text(base64.StdEncoding.EncodeToString([]byte(secret)), nil))
	longer := base64.StdEncoding.EncodeToString([]byte(secret + "more, which stays"))
	assert.Equal(t, "[REDACTED]"+longer[14:], r.Text(longer, nil), "of what follows, only what shares a digit")
}

func TestRulesOnAndOff(t *testing.T) {
	key, assigned := "ghp_"+body[:36], "password=hunter2"
	plain := redactor(t, value("K", "abcdefgh"))
	for name, c := range map[string]struct {
		r    *redact.Redactor
		want string
	}{
		"New: default":    {plain, "[REDACTED:github-token] " + assigned + " [REDACTED:K]"},
		"strict":          {plain.WithRules(redact.StrictRules), "[REDACTED:github-token] password=[REDACTED:assignment] [REDACTED:K]"},
		"off":             {plain.WithRules(redact.NoRules), key + " " + assigned + " [REDACTED:K]"},
		"on again":        {plain.WithRules(redact.NoRules).WithRules(redact.DefaultRules), "[REDACTED:github-token] " + assigned + " [REDACTED:K]"},
		"nil":             {nil, key + " " + assigned + " abcdefgh"},
		"nil, with rules": {(*redact.Redactor)(nil).WithRules(redact.StrictRules), "[REDACTED:github-token] password=[REDACTED:assignment] abcdefgh"},
	} {
		t.Run(name, func(t *testing.T) {
			text := key + " " + assigned + " abcdefgh"
			assert.Equal(t, c.want, c.r.Text(text, nil))
			s := c.r.Stream()
			assert.Equal(t, c.want, s.Write(text)+s.Flush())
			more, err := c.r.With(value("more", "0123456789"))
			assert.NoError(t, err)
			assert.Equal(t, c.want+" [REDACTED:more]", more.Text(text+" 0123456789", nil), "With keeps the rules")
		})
	}
}

func TestRulesInJSON(t *testing.T) {
	r := redactor(t)
	in := `{"k\u0065y":"\n` + "ghp_" + body[:36] + `","ghp_` + body[:36] + `":1}`
	assert.Equal(t, `{"k\u0065y":"\n[REDACTED:github-token]","[REDACTED:github-token]":1}`, string(r.JSON([]byte(in), nil)))
}

func TestStreamDecidesAboutKeysEarly(t *testing.T) {
	r := redactor(t)
	for name, c := range map[string]struct{ chunks, shown []string }{
		"at its least length":            {[]string{"a ghp_", body[:35], "a", "bc", " i"}, []string{"a ", "", "[REDACTED:github-token]", "", " i", ""}},
		"too short":                      {[]string{"a ghp_", body[:35], " i"}, []string{"a ", "", "ghp_" + body[:35] + " i", ""}},
		"the end of the stream":          {[]string{"ghp_" + body[:35]}, []string{"", "ghp_" + body[:35]}},
		"only where a keyword may begin": {[]string{"tas", "k-", "s", "k-"}, []string{"tas", "k-", "", "", "sk-"}},
		"a keyword that stays":           {[]string{"Bear", "er ", body[:15], "x", "y.,"}, []string{"Bear", "er ", "", "[REDACTED:bearer-token]", ",", ""}},
		"a password waits for its @":     {[]string{"a://b:", "c@d", "@h", "/i"}, []string{"a://b:", "", "", "[REDACTED:url-password]@h/i", ""}},
		"no @":                           {[]string{"http://h:80", "/"}, []string{"http://h:", "80/", ""}},
		"undecided for 8 KB":             {[]string{"eyJ", strings.Repeat("x", 8188), "x", "y", "."}, []string{"", "", "[REDACTED:jwt]", "", "", ""}},
		"the lines of a private key":     {[]string{"BEGIN PRIVATE KEY-----", "\n", body[:20], "\n" + body, "\n-"}, []string{"BEGIN PRIVATE KEY-----", "", "[REDACTED:private-key]", "", "-", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := r.Stream()
			var shown []string
			for _, chunk := range c.chunks {
				shown = append(shown, s.Write(chunk))
			}
			assert.Equal(t, c.shown, append(shown, s.Flush()))
		})
	}
}

// What is taken for a secret after 8 KB ends with its word, whatever the rule
// makes of that, so that no other key begins there.
func TestS1UndecidedSecretsTakeTheirWord(t *testing.T) {
	r := redactor(t)
	key := "sk-" + body[:40]
	for text, want := range map[string]string{
		"eyJ" + strings.Repeat("x", 8189) + ".e" + key + " " + key:               "[REDACTED:jwt] [REDACTED:openai-key]",
		"eyJ" + body[:20] + ".eyJ" + strings.Repeat("x", 9000) + "." + key + "!": "[REDACTED:jwt]!",
		"discord.com/api/webhooks/" + strings.Repeat("7", 8200) + "and on":       "discord.com/api/webhooks/[REDACTED:discord-webhook] on",
	} {
		got := r.Text(text, nil)
		assert.Equal(t, want, got)
		assert.Equal(t, got, r.Text(got, nil), "redacting twice changes nothing")
		s := r.Stream()
		assert.Equal(t, want, s.Write(text[:8191])+s.Write(text[8191:])+s.Flush())
	}
}

func TestS4RulesLeaveBase64(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	raw := make([]byte, 3<<20)
	for i := range raw {
		raw[i] = byte(rnd.Uint32())
	}
	r := redactor(t).WithRules(redact.StrictRules)
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		image := "data:image/png;base64," + enc.EncodeToString(raw)
		assert.False(t, r.Contains(image))
		assert.False(t, r.Contains(hex.EncodeToString(raw)))
	}
}

// hostileKeys are texts that begin many keys all the time.
func hostileKeys(n int) map[string]string {
	out := map[string]string{}
	for _, piece := range []string{"eyJ", "eyJ.eyJ", "sk-", "sk-proj-", "glpat-", "a://b:", "a://:@", "Bearer ", "authorization: ", "BEGIN PRIVATE KEY-----", "password=", ".eyJ", "xoxb-x", "DEK-Info: A,"} {
		out[piece] = strings.Repeat(piece, n/len(piece))
	}
	return out
}

func TestHostileKeysAreRedactedRight(t *testing.T) {
	r := redactor(t, value("", "eyJeyJeyJ!"), value("", "authorization: x")).WithRules(redact.StrictRules)
	for piece, text := range hostileKeys(40_000) {
		text += "."
		s := r.Stream()
		var out strings.Builder
		for i := 0; i < len(text); i += 7 {
			out.WriteString(s.Write(text[i:min(i+7, len(text))]))
		}
		out.WriteString(s.Flush())
		assert.True(t, r.Text(text, nil) == out.String(), "a stream is the whole: %s", piece)
	}
}
