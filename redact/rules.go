package redact

import "slices"

// Rules says which well-known formats of keys a Redactor looks for, beside the
// values that it knows. A secret that a rule finds gives way to a marker with
// the rule's name, such as [REDACTED:github-token]; RuleNames lists them.
type Rules int

// What a Redactor can look for.
const (
	DefaultRules Rules = iota // keys of well-known services, tokens in headers, private keys, passwords in URLs
	NoRules                   // known values alone
	StrictRules               // also what is assigned to a name that tells of a secret: password=…, "api_key": "…"
)

func (r Rules) set() *ruleset {
	switch r {
	case NoRules:
		return nil
	case StrictRules:
		return strictRules()
	}
	return defaultRules()
}

// RuleNames lists the names that markers can have from these rules, sorted.
func RuleNames(rules Rules) []string {
	var names []string
	if s := rules.set(); s != nil {
		for _, r := range s.rules {
			names = append(names, r.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
