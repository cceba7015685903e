package inject

import (
	"regexp"
	"strconv"
	"sync"
)

// A suspicion is what a text may hold that people should look at.
type suspicion struct {
	says    string
	pattern *regexp.Regexp
}

// Suspicions name what in a text looks like an attack on the model or like a
// secret, each kind once, by the offset of its first place in bytes (P23). They
// are for people: a rule may quote an attack, and an example may look like a
// key.
func Suspicions(text string) []string {
	var out []string
	for _, s := range suspicions() {
		if at := s.pattern.FindStringIndex(text); at != nil {
			out = append(out, s.says+", at byte "+strconv.Itoa(at[0]))
		}
	}
	return out
}

// suspicions are compiled at the first file: most processes read none.
var suspicions = sync.OnceValue(func() []suspicion {
	const some, few = `[^\pL\pN]+(?:[\pL\pN']+[^\pL\pN]+){0,4}?`, `[^\pL\pN]+(?:[\pL\pN']+[^\pL\pN]+){0,2}?`
	rules := []struct{ says, pattern string }{
		{"looks like an attack: tells to set instructions aside",
			`(?i)\b(?:ignore|disregard|forget|override|bypass)` + some + `(?:previous|prior|above|earlier|preceding|existing|system|safety)` + few + `(?:instructions?|prompts?|rules?|guidelines?|directions?|messages?)\b`},
		{"looks like an attack: tells to set instructions aside",
			`(?i)\b(?:ignore|disregard|forget)[^\pL\pN]+(?:all|any|everything|your)[^\pL\pN]+(?:of[^\pL\pN]+)?(?:the|your)?[^\pL\pN]*(?:instructions?|rules?|guidelines?|you were told)\b`},
		{"looks like an attack: tells to be somebody else",
			`(?i)\byou are now[^\pL\pN]+(?:in[^\pL\pN]+)?(?:dan|jailbroken|unrestricted|developer mode)\b|\bdo anything now\b`},
		{"looks like an attack: asks for the hidden instructions",
			`(?i)\b(?:reveal|print|repeat|leak|output|show)` + some + `(?:system prompt|hidden instructions|initial instructions)\b`},
		{"looks like an attack: keeps something from the user",
			`(?i)\b(?:do not|don't|never)[^\pL\pN]+(?:tell|inform|mention|reveal|show)` + some + `(?:to[^\pL\pN]+)?(?:the[^\pL\pN]+)?user\b|\bwithout[^\pL\pN]+(?:telling|informing|asking)[^\pL\pN]+(?:the[^\pL\pN]+)?user\b`},
		{"looks like an attack: pretends to be a part of the request",
			`(?i)<\|?(?:im_start|im_end|system|endoftext)\|?>|</?\s*(?:system|assistant)\s*>|\[/?INST\]`},
		{"looks like a secret: a private key", `-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----`},
		{"looks like a secret: a key or token",
			`\b(?:sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}|A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|xox[abeprs]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,}|[rs]k_live_[A-Za-z0-9]{20,}|eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})`},
		{"looks like a secret: a password",
			`(?i)\b(?:password|passwd|api[_-]?key|secret|token)["']?\s*[:=]\s*["']?[A-Za-z0-9+/_.~!@#$%^&*-]{12,}`},
	}
	out := make([]suspicion, len(rules))
	for i, r := range rules {
		out[i] = suspicion{r.says, regexp.MustCompile(r.pattern)}
	}
	return out
})
