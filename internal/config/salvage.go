package config

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNesting bounds how deep below its key a secret is looked for: an alias can
// hold itself.
const maxNesting = 8

// salvage is what a file that can't be used says of secrets, as far as it can
// be read: each name below redact, redactEnv and apiKeyEnv that is one of a
// variable that is set. Requests and logs are written while the file is
// complained about, and must not hold what it wanted hidden.
func salvage(data []byte, env Env) []EnvSecret {
	var found []EnvSecret
	for _, root := range readable(data) {
		for _, key := range []string{"redact", "redactEnv"} {
			found = variables(found, member(root, key), maxNesting)
		}
		providers := member(root, "providers")
		for i := range vendors {
			found = variables(found, member(member(providers, vendors[i].name), "apiKeyEnv"), maxNesting)
		}
	}
	return slices.DeleteFunc(found, func(s EnvSecret) bool {
		value, _ := env.Lookup(s.Env)
		return variableFault(s.Env) != "" || strings.TrimSpace(value) == ""
	})
}

// readable are the roots of the file, or of the parts of it that are right by
// themselves.
func readable(data []byte) []*yaml.Node {
	root, err := tree(data)
	if err == nil || likeJSON(data) {
		return []*yaml.Node{root}
	}
	var roots []*yaml.Node
	for _, part := range parts(data) {
		if root, err := single(part); err == nil {
			roots = append(roots, root)
		}
	}
	return roots
}

// parts cuts YAML before each line that begins a key of the root, or another
// document.
func parts(data []byte) [][]byte {
	var out [][]byte
	for line := range bytes.Lines(withoutMark(data)) {
		if len(out) == 0 || !bytes.ContainsAny(line[:1], " \t\r\n#-]}") || bytes.HasPrefix(line, []byte("---")) {
			out = append(out, nil)
		}
		last := len(out) - 1
		out[last] = append(out[last], line...)
	}
	return out
}

// member is the value of a mapping's key; nil where there is none.
func member(n *yaml.Node, key string) *yaml.Node {
	if n == nil || resolved(n).Kind != yaml.MappingNode {
		return nil
	}
	content := resolved(n).Content
	for i := 0; i+1 < len(content); i += 2 {
		if resolved(content[i]).Value == key {
			return content[i+1]
		}
	}
	return nil
}

// variables adds all words below n to found.
func variables(found []EnvSecret, n *yaml.Node, depth int) []EnvSecret {
	const most = 1000
	if n == nil || depth == 0 || len(found) >= most {
		return found
	}
	n = resolved(n)
	if n.Kind == yaml.ScalarNode {
		return append(found, EnvSecret{Env: n.Value})
	}
	if name := member(n, "env"); name != nil && resolved(name).Kind == yaml.ScalarNode {
		short := member(n, "short")
		found = append(found, EnvSecret{Env: resolved(name).Value, Short: short != nil && resolved(short).Value == "true"})
	}
	for i, child := range n.Content {
		if n.Kind == yaml.SequenceNode || i%2 == 1 {
			found = variables(found, child, depth-1)
		}
	}
	return found
}
