package mock

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/prism-rpc/prism-rpc/internal/plain"
	"github.com/prism-rpc/prism-rpc/provider"
	"github.com/prism-rpc/prism-rpc/schema"
)

// A field reads one key's value.
type field func(n *yaml.Node, key string) error

// longest bounds each time that a script names.
const longest = 24 * time.Hour

func entryFields(e *Entry) map[string]field {
	return map[string]field{
		"thinking":   stringInto(&e.Thinking),
		"deltas":     stringsInto(&e.Deltas),
		"text":       stringInto(&e.Text),
		"delayMs":    millisInto(&e.Delay),
		"usage":      func(n *yaml.Node, key string) error { return readUsage(n, key, e) },
		"stopReason": wordInto(&e.StopReason, schema.StopEndTurn, schema.StopMaxTokens, schema.StopRefusal),
		"error":      func(n *yaml.Node, key string) error { return readFailure(n, key, e) },
		"then":       wordInto(&e.Then, Cut, Stall, Reset, IgnoreCancel),
		"match":      patternInto(&e.Match),
		"times":      intInto(&e.Times, 1, math.MaxInt32),
		"repeat":     boolInto(&e.Repeat),
	}
}

func readUsage(n *yaml.Node, key string, e *Entry) error {
	e.Usage = &schema.Usage{}
	return readObject(n, key, map[string]field{
		"inputTokens":      countInto(&e.Usage.InputTokens),
		"outputTokens":     countInto(&e.Usage.OutputTokens),
		"cacheReadTokens":  countInto(&e.Usage.CacheReadTokens),
		"cacheWriteTokens": countInto(&e.Usage.CacheWriteTokens),
		"reasoningTokens":  countInto(&e.Usage.ReasoningTokens),
		"totalTokens":      countInto(&e.Usage.TotalTokens),
	})
}

func readFailure(n *yaml.Node, key string, e *Entry) error {
	e.Error = &provider.Error{}
	err := readObject(n, key, map[string]field{
		"class": wordInto(&e.Error.Class, provider.ClassRateLimit, provider.ClassQuota, provider.ClassOverloaded, provider.ClassAuth,
			provider.ClassContextOverflow, provider.ClassBadRequest, provider.ClassNetwork, provider.ClassTimeout,
			provider.ClassInterrupted, provider.ClassContentFilter, provider.ClassTooLarge),
		"status":       intInto(&e.Error.Status, 100, 599),
		"retryAfterMs": millisInto(&e.Error.RetryAfter),
		"message":      stringInto(&e.Error.Message),
	})
	switch {
	case err != nil:
		return err
	case e.Error.Class == "":
		return wrong(n, key+".class", "an error needs a class")
	case e.Error.Message == "":
		e.Error.Message = "scripted failure"
	}
	return nil
}

// readObject reads each key of a mapping with its field.
func readObject(n *yaml.Node, path string, fields map[string]field) error {
	if n.Kind != yaml.MappingNode {
		return wrong(n, path, "must be a mapping of keys to values")
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		name := n.Content[i]
		key := plain.Text(strings.TrimPrefix(path+"."+name.Value, "."), 64)
		read, known := fields[name.Value]
		switch {
		case !known:
			e := wrong(name, key, "is not a key that a script has here")
			e.Suggestion = plain.Nearest(name.Value, slices.Sorted(maps.Keys(fields)))
			return e
		case seen[name.Value]:
			return wrong(name, key, "stands twice")
		}
		seen[name.Value] = true
		if err := read(resolve(n.Content[i+1]), key); err != nil {
			return err
		}
	}
	return nil
}

// resolve follows an alias to what it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func stringInto(to *string) field {
	return func(n *yaml.Node, key string) error {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			return wrong(n, key, "must be a string; put it in quotes")
		}
		*to = n.Value
		return nil
	}
}

func stringsInto(to *[]string) field {
	return func(n *yaml.Node, key string) error {
		if n.Kind != yaml.SequenceNode {
			return wrong(n, key, "must be a list of strings")
		}
		*to = make([]string, len(n.Content))
		for i, item := range n.Content {
			if err := stringInto(&(*to)[i])(resolve(item), key+"["+strconv.Itoa(i)+"]"); err != nil {
				return err
			}
		}
		return nil
	}
}

func wordInto[T ~string](to *T, words ...T) field {
	return func(n *yaml.Node, key string) error {
		if n.Kind == yaml.ScalarNode && slices.Contains(words, T(n.Value)) {
			*to = T(n.Value)
			return nil
		}
		known := make([]string, len(words))
		for i, w := range words {
			known[i] = string(w)
		}
		e := wrong(n, key, "must be one of: "+strings.Join(known, ", "))
		e.Suggestion = plain.Nearest(n.Value, known)
		return e
	}
}

func patternInto(to **regexp.Regexp) field {
	return func(n *yaml.Node, key string) error {
		var source string
		if err := stringInto(&source)(n, key); err != nil {
			return err
		}
		re, err := regexp.Compile(source)
		if err != nil {
			return wrong(n, key, plain.Text("is not a regular expression: "+err.Error(), 200))
		}
		*to = re
		return nil
	}
}

func boolInto(to *bool) field {
	return func(n *yaml.Node, key string) error {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(to) != nil {
			return wrong(n, key, "must be true or false")
		}
		return nil
	}
}

func intInto[T int | int64](to *T, least, most T) field {
	return func(n *yaml.Node, key string) error {
		var v int64
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Decode(&v) != nil || v < int64(least) || v > int64(most) {
			return wrong(n, key, "must be an integer from "+strconv.FormatInt(int64(least), 10)+" to "+strconv.FormatInt(int64(most), 10))
		}
		*to = T(v)
		return nil
	}
}

func millisInto(to *time.Duration) field {
	return func(n *yaml.Node, key string) error {
		var ms int64
		if err := intInto(&ms, 0, longest.Milliseconds())(n, key); err != nil {
			return err
		}
		*to = time.Duration(ms) * time.Millisecond
		return nil
	}
}

func countInto(to **int64) field {
	return func(n *yaml.Node, key string) error {
		*to = new(int64)
		return intInto(*to, 0, 1<<53)(n, key)
	}
}
