package inject_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/inject"
	"github.com/prism-rpc/prism-rpc/schema"
)

func TestP23_I4_text_of_a_file_is_cleaned(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"as it is":                     {"Be brief.", "Be brief."},
		"newlines at the end":          {"a\n\n\n", "a"},
		"one byte order mark":          {"\ufeffa", "a"},
		"only one of two marks":        {"\ufeff\ufeffa", "\ufeffa"},
		"CRLF":                         {"a\r\nb\r\n", "a\nb"},
		"mixed ends":                   {"a\r\nb\nc\r\n\n", "a\nb\nc"},
		"a lone CR stays":              {"a\rb", "a\rb"},
		"blanks and first lines stay":  {"\n  a  \n\n b ", "\n  a  \n\n b "},
		"templates stay":               {"{{x}} $(x) `x`\n", "{{x}} $(x) `x`"},
		"the replacement char is text": {"a\ufffdb", "a\ufffdb"},
		"256 KiB":                      {strings.Repeat("x", 256<<10), strings.Repeat("x", 256<<10)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := inject.CleanText([]byte(tt.in))
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestP23_I4_text_that_cannot_be_used_is_refused_with_its_place(t *testing.T) {
	tests := map[string]struct {
		in     string
		want   error
		offset int
	}{
		"Latin-1":                {"caf\xe9 au lait", inject.ErrNotUTF8, 3},
		"a cut character":        {"ab\xe6\x97", inject.ErrNotUTF8, 2},
		"a surrogate":            {"\xed\xa0\x80", inject.ErrNotUTF8, 0},
		"UTF-16":                 {"\xff\xfea\x00", inject.ErrNotUTF8, 0},
		"bad UTF-8 after a mark": {"\ufeffa\xff", inject.ErrNotUTF8, 4},
		"NUL":                    {"日\x00", inject.ErrNUL, 3},
		"NUL after a mark":       {"\ufeff\x00", inject.ErrNUL, 3},
		"300 KB":                 {strings.Repeat("x", 300_000), inject.ErrTooLarge, -1},
		"one byte too many":      {strings.Repeat("x", 256<<10+1), inject.ErrTooLarge, -1},
		"nothing":                {"", inject.ErrEmpty, -1},
		"a mark alone":           {"\ufeff", inject.ErrEmpty, -1},
		"white space alone":      {" \r\n\t\n", inject.ErrEmpty, -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := inject.CleanText([]byte(tt.in))
			require.ErrorIs(t, err, tt.want)
			var at *inject.TextError
			if tt.offset >= 0 {
				require.ErrorAs(t, err, &at)
				assert.Equal(t, tt.offset, at.Offset)
			} else {
				assert.NotErrorAs(t, err, &at)
			}
		})
	}
}

func TestP24_an_injector_is_named_after_its_file(t *testing.T) {
	tests := map[string]struct{ paths, want []string }{
		"without its last extension":          {[]string{"rules/style.de.md"}, []string{"style.de"}},
		"without an extension":                {[]string{"/etc/rules"}, []string{"rules"}},
		"a dot file keeps its name":           {[]string{".rules"}, []string{".rules"}},
		"a second file of one name":           {[]string{"a/x.md", "b/x.txt", "c/x"}, []string{"x", "x-2", "x-3"}},
		"a number that is taken":              {[]string{"x-2.md", "x.md", "x.txt"}, []string{"x-2", "x", "x-3"}},
		"a file named like a second":          {[]string{"x.md", "x.txt", "x-2.md"}, []string{"x", "x-2", "x-2-2"}},
		"accents that a file system took off": {[]string{"re\u0301gles.md"}, []string{"r\u00e9gles"}},
		"blank ends are cut":                  {[]string{" x .md"}, []string{"x"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			files := make([]inject.NamedFile, len(tt.paths))
			for i, p := range tt.paths {
				files[i] = inject.NamedFile{Path: p, Data: []byte("text of " + p + "\n")}
			}
			got, err := inject.FileInjectors(files)
			require.NoError(t, err)
			applied, _ := apply(t, inject.Context{Turn: 7}, got...)
			require.Equal(t, tt.want, names(applied), "every one applies, in order")
			for i, a := range applied {
				assert.Equal(t, "text of "+tt.paths[i], a.Instructions)
				assert.Equal(t, schema.WhenEveryTurn, a.When)
			}
		})
	}
}

func TestP24_a_file_that_cannot_name_an_injector_is_refused(t *testing.T) {
	for _, path := range []string{"false.md", "a\u202eb.md", "a\x01.md", strings.Repeat("x", 129) + ".md", " .md", "\xff.md"} {
		_, err := inject.FileInjectors([]inject.NamedFile{{Path: path, Data: []byte("x")}})
		assert.ErrorIs(t, err, inject.ErrName, "%q", path)
	}
	_, err := inject.FileInjectors([]inject.NamedFile{{Path: "a.md", Data: []byte("x")}, {Path: "b.md", Data: []byte("\xff")}})
	assert.ErrorIs(t, err, inject.ErrNotUTF8)
	assert.ErrorContains(t, err, "b.md")
}

func FuzzCleanText(f *testing.F) {
	for _, seed := range []string{"", "\ufeff", "\ufeff\ufeff\r\n", "a\r\r\n\n", "a\r\r\nb", "\xef\xbb", "\x00", "\r\n\r\n x", "\ufffd"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := inject.CleanText(b)
		if err != nil {
			return
		}
		assert.Equal(t, strings.Count(string(b), "\r\r\n") > 0 && strings.Contains(text, "\r\n"), strings.Contains(text, "\r\n"),
			"only a CR before a CRLF leaves one")
		assert.False(t, strings.HasSuffix(text, "\n"))
		_, skipped := apply(t, inject.Context{}, inject.Static("x", say(text)))
		assert.Empty(t, skipped, "clean text can be injected")
	})
}
