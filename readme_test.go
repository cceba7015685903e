package prismrpc_test

import (
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/config"
	"github.com/prism-rpc/prism-rpc/schema"
)

// Whoever reads the README alone knows of everything there is to call, to hear
// of and to set.
func TestTheReadmeNamesWhatThereIs(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	page := string(text)
	for _, m := range schema.Methods() {
		assert.Contains(t, page, "`"+m.Name+"`", "a method that README.md does not name")
	}
	for _, r := range schema.ServerRequests() {
		assert.Contains(t, page, "`"+r.Name+"`", "a request of the server's that README.md does not name")
	}
	for _, e := range schema.EventTypes() {
		assert.Contains(t, page, "`"+string(e)+"`", "an event that README.md does not name")
	}
	for _, kind := range schema.NoticeKinds() {
		assert.Contains(t, page, "`"+string(kind)+"`", "a notice that README.md does not name")
	}
	for _, row := range schema.ErrorKinds() {
		assert.Contains(t, page, "`"+string(row.Kind)+"`", "a kind of error that README.md does not name")
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	(&config.Flags{}).Register(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		assert.Contains(t, page, "`--"+f.Name+"`", "a flag that README.md does not name")
	})
}

// A link that leads nowhere is found here, not by who follows it.
func TestLinksOfTheDocumentationLeadSomewhere(t *testing.T) {
	pages, err := os.ReadDir("docs")
	require.NoError(t, err)
	files := []string{"README.md"}
	for _, p := range pages {
		files = append(files, "docs/"+p.Name())
	}
	for _, file := range files {
		for _, target := range links(t, file) {
			path, anchor, _ := strings.Cut(target, "#")
			assert.FileExists(t, path, "%s", file)
			if anchor != "" {
				assert.Contains(t, headings(t, path), anchor, "%s: %s", file, target)
			}
		}
	}
}

var (
	linkTo  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fence   = regexp.MustCompile("(?s)```.*?```")
)

// links are where a page's own links lead, as paths from here.
func links(t *testing.T, file string) (out []string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, m := range linkTo.FindAllSubmatch(fence.ReplaceAll(text, nil), -1) {
		switch to := string(m[1]); {
		case strings.Contains(to, "://"):
		case strings.HasPrefix(to, "#"):
			out = append(out, file+to)
		default:
			out = append(out, path.Join(path.Dir(file), to))
		}
	}
	return out
}

// headings are a page's, as links name them.
func headings(t *testing.T, file string) (out []string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, m := range heading.FindAllSubmatch(fence.ReplaceAll(text, nil), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, string(m[1]))
		out = append(out, name)
	}
	return out
}
