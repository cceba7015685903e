package prismrpc_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rows are the requirements on injection: P1 to P30, A1 to A6, R1 to R9.
func rows() []string {
	var out []string
	for letter, last := range map[string]int{"P": 30, "A": 6, "R": 9} {
		for n := 1; n <= last; n++ {
			out = append(out, fmt.Sprint(letter, n))
		}
	}
	return out
}

var tableRow = regexp.MustCompile(`^\| ([PAR][0-9]+) \| [^|]+ \| ([^|]+) \|`)

// documented maps each row of docs/requirements.md to the tests that it names.
func documented(t *testing.T) map[string][]string {
	text, err := os.ReadFile("docs/requirements.md")
	require.NoError(t, err)
	out := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		if m := tableRow.FindStringSubmatch(line); m != nil {
			for _, name := range strings.Split(m[2], ",") {
				out[m[1]] = append(out[m[1]], strings.Trim(strings.TrimSpace(name), "`"))
			}
		}
	}
	return out
}

// tests are the names of all tests: package.Name for those in Go, talk/NAME
// and script/NAME for those in testdata.
func tests(t *testing.T) map[string]bool {
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w+)\(`)
	out := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		file = filepath.ToSlash(file)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(file, ".talk"), strings.HasSuffix(file, ".txtar"):
			out[path.Base(path.Dir(file))+"/"+strings.TrimSuffix(path.Base(file), path.Ext(file))] = true
		case strings.HasSuffix(file, "_test.go"):
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, m := range function.FindAllStringSubmatch(string(text), -1) {
				out[path.Base(path.Dir(file))+"."+m[1]] = true
			}
		}
		return nil
	}))
	return out
}

func TestEveryRequirementHasATestThatBearsItsNumber(t *testing.T) {
	named, existing := documented(t), tests(t)
	for _, row := range rows() {
		number := regexp.MustCompile(`(^|[^A-Z])` + row + `([^0-9]|$)`)
		bears := false
		for _, name := range named[row] {
			assert.True(t, existing[name], "%s: there is no test %s", row, name)
			bears = bears || number.MatchString(name)
		}
		assert.True(t, bears, "%s: no test in docs/requirements.md has the number in its name", row)
	}
	assert.Len(t, named, len(rows()), "a row of the table is no requirement")
}
