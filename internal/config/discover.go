package config

import (
	"slices"
	"strings"
)

// KindInstructions is the kind of bundle that is looked for; the others of
// Kinds are names that a client may have in its own set-up.
const KindInstructions = "instructions"

// Kinds are the words that discoverKinds takes (P18).
func Kinds() []string { return []string{KindInstructions, "skill", "tool", "context"} }

// KindsToFind are the kinds that discoverKinds names, whether it has them in
// one word or in several.
func (s *Settings) KindsToFind() []string {
	var out []string
	for _, words := range s.DiscoverKinds {
		for kind := range strings.SplitSeq(words, ",") {
			if kind = strings.TrimSpace(kind); !slices.Contains(out, kind) {
				out = append(out, kind)
			}
		}
	}
	return out
}

func kindsFault(words string) string {
	for kind := range strings.SplitSeq(words, ",") {
		if !slices.Contains(Kinds(), strings.TrimSpace(kind)) {
			return "must be of: " + strings.Join(Kinds(), ", ")
		}
	}
	return ""
}
