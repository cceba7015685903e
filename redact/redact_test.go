package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	stdjson "encoding/json"
	"html"
	"net/url"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/redact"
)

func value(name, secret string) redact.Value {
	return redact.Value{Name: name, Secret: redact.NewSecret(secret)}
}

func short(name, secret string) redact.Value {
	return redact.Value{Name: name, Secret: redact.NewSecret(secret), Short: true}
}

func redactor(t testing.TB, values ...redact.Value) *redact.Redactor {
	t.Helper()
	r, err := redact.New(values...)
	require.NoError(t, err)
	return r
}

func TestS3Text(t *testing.T) {
	for name, c := range map[string]struct {
		values []redact.Value
		in     string
		want   string
	}{
		"a value alone":                                {[]redact.Value{value("", "abcdefgh")}, "abcdefgh", "[REDACTED]"},
		"a named one":                                  {[]redact.Value{value("db", "abcdefgh")}, "-abcdefgh-", "-[REDACTED:db]-"},
		"within a word":                                {[]redact.Value{value("", "abcdefgh")}, "xabcdefghx", "x[REDACTED]x"},
		"each occurrence":                              {[]redact.Value{value("", "abcdefgh")}, "abcdefgh abcdefgh", "[REDACTED] [REDACTED]"},
		"two that overlap leave nothing":               {[]redact.Value{value("", "abcdWXYZ"), value("", "WXYZefgh")}, "abcdWXYZefgh", "[REDACTED]"},
		"one that overlaps itself":                     {[]redact.Value{value("", "abababab")}, "ababababab", "[REDACTED]"},
		"two that touch":                               {[]redact.Value{value("one", "abcdefgh"), value("two", "ijklmnop")}, "abcdefghijklmnop", "[REDACTED:one]"},
		"one inside another":                           {[]redact.Value{value("in", "bcdefghi"), value("out", "abcdefghij")}, "abcdefghij bcdefghi", "[REDACTED:out] [REDACTED:in]"},
		"one that begins another: longest names":       {[]redact.Value{value("s", "abcdefgh"), value("l", "abcdefghij")}, "abcdefghij abcdefgh", "[REDACTED:l] [REDACTED:s]"},
		"a failed longer one and one inside":           {[]redact.Value{value("", "xabcdefghy"), value("", "abcdefgh")}, "xabcdefghz", "x[REDACTED]z"},
		"the same value twice: the first name":         {[]redact.Value{value("a", "abcdefgh"), value("b", "abcdefgh")}, "abcdefgh", "[REDACTED:a]"},
		"removal does not make a new one":              {[]redact.Value{value("", "12345678"), value("", "abcdefgh")}, "abcd12345678efgh", "abcd[REDACTED]efgh"},
		"white space around a value":                   {[]redact.Value{value("", " abcdefgh\n")}, "x abcdefgh.", "x [REDACTED]."},
		"one byte, as a word":                          {[]redact.Value{short("", "q")}, "q, (q) quiz q_ éq", "[REDACTED], ([REDACTED]) quiz q_ é[REDACTED]"},
		"a short value at both ends":                   {[]redact.Value{short("pin", "4711")}, "4711 47114711 4711", "[REDACTED:pin] 47114711 [REDACTED:pin]"},
		"a short value with edges that are no word":    {[]redact.Value{short("", "+a=")}, "x+a=y", "x[REDACTED]y"},
		"a short value glued to another":               {[]redact.Value{short("", "pin"), value("", "abcdefgh")}, "pinabcdefghpin pinx", "[REDACTED] pinx"},
		"a short value glued to one inside another":    {[]redact.Value{short("", ".9G"), value("k", "NUahov18"), value("", "GNUahov18")}, "x.9GNUahov18", "x[REDACTED]"},
		"a short value escaped":                        {[]redact.Value{short("", `a"b`)}, `a\"b xa\"b a%22b`, `[REDACTED] xa\"b [REDACTED]`},
		"a long value marked short":                    {[]redact.Value{short("", "abcdefgh")}, "xabcdefghx", "x[REDACTED]x"},
		"a name with odd characters":                   {[]redact.Value{value("a]b", "abcdefgh")}, "abcdefgh", "[REDACTED]"},
		"a name that is the value":                     {[]redact.Value{value("abcdefgh", "abcdefgh")}, "abcdefgh", "[REDACTED]"},
		"a name that holds another value":              {[]redact.Value{value("my-12345678", "abcdefgh"), value("", "12345678")}, "abcdefgh", "[REDACTED]"},
		"a named marker that ends like a value begins": {[]redact.Value{value("token", "12345678"), value("", "oken]abcdef")}, "12345678abcdef", "[REDACTED]abcdef"},
		"a named marker that begins like a value ends": {[]redact.Value{value("token", "12345678"), value("", "abcdef[REDACTED:t")}, "abcdef12345678", "abcdef[REDACTED]"},
		"a named marker that holds a value":            {[]redact.Value{value("token", "12345678"), value("", "ED:token")}, "12345678", "[REDACTED]"},
		"a value that holds a named marker":            {[]redact.Value{value("token", "12345678"), value("", "a[REDACTED:token]b")}, "a12345678b", "a[REDACTED]b"},
		"an edge like the marker's":                    {[]redact.Value{value("", "]abcdefgh["), value("", "12345678")}, "]abcdefgh[ abcdefgh12345678", "][REDACTED][ [REDACTED]"},
		"a marker in the text":                         {[]redact.Value{value("db", "abcdefgh")}, "[REDACTED:db] [REDACTED]", "[REDACTED:db] [REDACTED]"},
		"case differs":                                 {[]redact.Value{value("", "abcdefgh")}, "ABCDEFGH", "ABCDEFGH"},
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

func TestS3EncodedSpellings(t *testing.T) {
	const secret = "p+s/w=\"d\\é<&'\n ~!"
	r := redactor(t, value("k", secret))
	once, err := stdjson.Marshal(secret)
	require.NoError(t, err)
	twice, err := stdjson.Marshal(string(once))
	require.NoError(t, err)
	inner := func(s string) string { return strings.Trim(s, `"`) }
	for name, text := range map[string]string{
		"JSON":                   inner(string(once)),
		"JSON in JSON":           strings.TrimSuffix(strings.TrimPrefix(string(twice), `"\"`), `\""`),
		"JSON, HTML not escaped": `p+s/w=\"d\\é<&'\n ~!`,
		`JSON with \/`:           `p+s\/w=\"d\\é<&'\n ~!`,
		"JSON in ASCII":          `p+s/w=\"d\\\u00e9<&'\n ~!`,
		`JSON in ASCII with \/`:  `p+s\/w=\"d\\\u00e9<&'\n ~!`,
		"JSON of Gson":           `p+s/w\u003d\"d\\é\u003c\u0026\u0027\n ~!`,
		"JSON of .NET":           `p\u002Bs/w=\u0022d\\\u00E9\u003C\u0026\u0027\n ~!`,
		"JSON of .NET in JSON":   `p\\u002Bs/w=\\u0022d\\\\\\u00E9\\u003C\\u0026\\u0027\\n ~!`,
		"query":                  url.QueryEscape(secret),
		"path":                   url.PathEscape(secret),
		"query, lower case":      "p%2bs%2fw%3d%22d%5c%c3%a9%3c%26%27%0a+~%21",
		"encodeURIComponent":     "p%2Bs%2Fw%3D%22d%5C%C3%A9%3C%26'%0A%20~!",
		"HTML":                   html.EscapeString(secret),
		"HTML, quotes by name":   `p+s/w=&quot;d\é&lt;&amp;&apos;` + "\n ~!",
		"HTML, quotes kept":      `p+s/w="d\é&lt;&amp;'` + "\n ~!",
		"hex":                    hex.EncodeToString([]byte(secret)),
		"hex, upper case":        strings.ToUpper(hex.EncodeToString([]byte(secret))),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, "<[REDACTED:k]>", r.Text("<"+text+">", nil))
		})
	}
}

func TestS3Base64AtEachAlignment(t *testing.T) {
	const secret = "p?s>w~rd\xff\xfe:0123456789"
	r := redactor(t, value("", secret))
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
		for before := range 6 {
			for after := range 4 {
				text := enc.EncodeToString([]byte(strings.Repeat("u", before) + secret + strings.Repeat("v", after)))
				got := r.Text(text, nil)
				assert.Contains(t, got, "[REDACTED]")
				kept := strings.ReplaceAll(got, "[REDACTED]", "")
				assert.LessOrEqual(t, len(kept), (before+2)/3*4+(after+2)/3*4+4, "only digits shared with neighbours stay: %s", got)
			}
		}
	}
}

func TestS3RefusedValues(t *testing.T) {
	for name, c := range map[string]struct {
		value redact.Value
		want  error
	}{
		"empty":                    {value("n", ""), redact.ErrEmpty},
		"empty and short":          {short("n", ""), redact.ErrEmpty},
		"white space":              {short("n", " \t\n         "), redact.ErrEmpty},
		"the zero Secret":          {redact.Value{Name: "n"}, redact.ErrEmpty},
		"7 bytes":                  {value("n", "abcdefg"), redact.ErrShort},
		"8 bytes with white space": {value("n", "abcdefg\n"), redact.ErrShort},
		"one byte":                 {value("n", "a"), redact.ErrShort},
		"the marker":               {value("n", "[REDACTED]"), redact.ErrUnfit},
		"a part of the marker":     {value("n", "REDACTED"), redact.ErrUnfit},
		"a marker inside":          {value("n", "abc[REDACTED]def"), redact.ErrUnfit},
		"mostly marker":            {value("n", "DACTED]ab"), redact.ErrUnfit},
		"a short bracket":          {short("n", "["), redact.ErrUnfit},
		"no text":                  {value("n", "\x80\x81\x82\x83\x84\x85\x86\x87"), redact.ErrUnfit},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := redact.New(value("", "fine-value"), c.value)
			require.ErrorIs(t, err, c.want)
			assert.Contains(t, err.Error(), `"n"`)
			if secret := strings.TrimSpace(c.value.Secret.Reveal()); len(secret) > 1 {
				assert.NotContains(t, err.Error(), secret)
			}
		})
	}
	_, err := redact.New(value("is-abc", "abc"))
	require.ErrorIs(t, err, redact.ErrShort)
	assert.NotContains(t, err.Error(), "abc")
}

func TestS4TextWithoutSecretsIsTheSame(t *testing.T) {
	r := redactor(t, value("", "abcdefgh"), short("", "pin"), value("", "]tail-of-it"))
	image := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x89PNG\r\n\x1a\n\x00\xff", 1000)))
	for name, text := range map[string]string{
		"empty":        "",
		"base64":       image,
		"not UTF-8":    "\xff\xfeabc\xc3",
		"near misses":  "abcdefg bcdefgh abcdefgabcdefg pins spin [REDACTED]",
		"escapes":      `\u0061 %61 &#97; \\ \"`,
		"NUL and tags": "\x00\u2028\U000E0041\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			got := r.Text(text, nil)
			assert.Equal(t, text, got)
			assert.Same(t, unsafe.StringData(text), unsafe.StringData(got), "not copied")
			s := r.Stream()
			assert.Equal(t, text, s.Write(text)+s.Flush())
		})
	}
}

func TestWithLeavesTheOldOne(t *testing.T) {
	old := redactor(t, value("a", "abcdefgh"))
	both, err := old.With(value("b", "12345678"))
	require.NoError(t, err)
	assert.Equal(t, "[REDACTED:a] 12345678", old.Text("abcdefgh 12345678", nil))
	assert.Equal(t, "[REDACTED:a] [REDACTED:b]", both.Text("abcdefgh 12345678", nil))
	same, err := both.With(value("c", "12345678"))
	require.NoError(t, err)
	assert.Same(t, both, same, "nothing new is nothing to build")
	_, err = both.With(value("d", ""))
	require.ErrorIs(t, err, redact.ErrEmpty)
}

func TestWithWidensAShortValue(t *testing.T) {
	r := redactor(t, short("s", `a"b"c"`))
	wide, err := r.With(value("w", `a\"b\"c\"`)) // as the short one looks escaped
	require.NoError(t, err)
	assert.Equal(t, `xa\"b\"c\"`, r.Text(`xa\"b\"c\"`, nil))
	assert.Equal(t, "x[REDACTED:w]", wide.Text(`xa\"b\"c\"`, nil))
}

func TestNoValuesRedactNothing(t *testing.T) {
	for name, r := range map[string]*redact.Redactor{"nil": nil, "without values": redactor(t)} {
		t.Run(name, func(t *testing.T) {
			raw := []byte(`{"a":1}`)
			assert.Equal(t, "text", r.Text("text", nil))
			assert.Equal(t, raw, r.JSON(raw, nil))
			assert.False(t, r.Contains("text"))
			s := r.Stream()
			assert.Equal(t, "text", s.Write("text"))
			assert.Empty(t, s.Flush())
			with, err := r.With(value("", "abcdefgh"))
			require.NoError(t, err)
			assert.True(t, with.Contains("abcdefgh"))
		})
	}
}

func TestTally(t *testing.T) {
	r := redactor(t, value("b", "abcdefgh"), value("", "12345678"), value("a", "ABCDEFGH"))
	var tally, sum redact.Tally
	r.Text("abcdefgh 12345678 ABCDEFGH abcdefgh", &tally)
	r.JSON([]byte(`{"12345678":"abcdefgh"}`), &tally)
	want := []redact.Count{{"", 2}, {"a", 1}, {"b", 3}}
	assert.Equal(t, want, tally.Counts())
	sum.Add(&tally)
	sum.Add(nil)
	sum.Add(&redact.Tally{})
	assert.Equal(t, want, sum.Counts())
	(*redact.Tally)(nil).Add(&tally)
	assert.Empty(t, (*redact.Tally)(nil).Counts())
	sum.Add(&tally)
	assert.Equal(t, want, tally.Counts(), "what was added stays as it is")
}

func TestManyGoroutinesShareOne(t *testing.T) {
	r := redactor(t, value("k", "abcdefgh"), short("", "pin"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s := r.Stream()
			for range 200 {
				assert.Equal(t, "[REDACTED:k] [REDACTED]", r.Text("abcdefgh pin", nil))
				assert.Equal(t, "[REDACTED:k]!", s.Write("abcd")+s.Write("efgh!")+s.Flush())
				_, err := r.With(value("", "12345678"))
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
}
