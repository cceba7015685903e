package redact

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A spelling is one way in which a value may stand in a text. A literal one
// has the value's own plain characters in their places; the others, hex and
// base64, have none.
type spelling struct {
	text    string
	literal bool
	shares  bool // base64 whose next digit may hold bits of the value
}

// spellings lists how s may be written, s itself first. Some may be equal.
func spellings(s string) []spelling {
	out := make([]spelling, 0, 32)
	for _, text := range literals(s) {
		out = append(out, spelling{text: text, literal: true})
	}
	lower := hex.EncodeToString([]byte(s))
	out = append(out, spelling{text: lower}, spelling{text: strings.ToUpper(lower)})
	return append(out, base64Spellings(s)...)
}

func literals(s string) []string {
	out := append(make([]string, 0, 24), s)
	if !utf8.ValidString(s) {
		out = append(out, string([]rune(s))) // as decoders repair it
	}
	if !plainName(s) { // else no escaper changes it
		out = append(out, jsonSpellings(s)...)
		out = append(out, percentSpellings(s)...)
		out = append(out, htmlSpellings(s)...)
	}
	return out
}

var (
	jsonSafe = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "\u2028", `\u2028`, "\u2029", `\u2029`)
	jsonGson = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "=", `\u003d`, "'", `\u0027`)
	jsonNet  = strings.NewReplacer(`\\`, `\\`, `\"`, `\u0022`, "<", `\u003C`, ">", `\u003E`, "&", `\u0026`, "'", `\u0027`, "+", `\u002B`, "`", `\u0060`)
	unescape = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
)

// jsonSpellings gives s as within a JSON string, and that within another.
func jsonSpellings(s string) []string {
	once := jsonEscapes(s)
	out := append(once, escapeSlash(s))
	for _, e := range once {
		if e != s {
			out = append(out, jsonEscapes(e)...)
		}
	}
	for _, e := range jsonCautious(s) {
		out = append(out, e, jsonQuoted(e))
	}
	return out
}

// jsonCautious covers the encoders that escape more than HTML asks for: Gson,
// and .NET's.
func jsonCautious(s string) []string {
	least := jsonQuoted(s)
	return slices.DeleteFunc([]string{jsonGson.Replace(least), jsonASCII(jsonNet.Replace(least), `\u%04X`)}, func(e string) bool { return e == least })
}

// jsonEscapes covers the habits of encoders: as little as allowed, HTML-safe,
// ASCII only, and each with \/ for a slash.
func jsonEscapes(s string) []string {
	least := jsonQuoted(s)
	out := []string{least}
	for _, e := range []string{jsonSafe.Replace(least), jsonASCII(least, `\u%04x`)} {
		if e != least {
			out = append(out, e)
		}
	}
	if strings.Contains(least, "/") {
		for _, e := range out {
			out = append(out, escapeSlash(e))
		}
	}
	return out
}

func jsonQuoted(s string) string {
	// The error is about bytes that are no UTF-8, which it replaces.
	quoted, _ := jsontext.AppendQuote(nil, s)
	return string(quoted[1 : len(quoted)-1])
}

// jsonASCII writes what is not ASCII in a form.
func jsonASCII(s, form string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, form, unit)
		}
	}
	return b.String()
}

func escapeSlash(s string) string { return strings.ReplaceAll(s, "/", `\/`) }

// percentSpellings gives s as in a query, as in a path, as RFC 3986 asks and
// as JavaScript's encodeURIComponent does, with hex digits of either case.
func percentSpellings(s string) []string {
	query := url.QueryEscape(s)
	strict := strings.ReplaceAll(query, "+", "%20")
	var out []string
	for _, e := range []string{query, url.PathEscape(s), strict, unescape.Replace(strict)} {
		if !slices.Contains(out, e) {
			out = append(out, e, lowerPercent(e))
		}
	}
	return out
}

func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], strings.ToLower(s[i:i+3]))
		}
	}
	return string(b)
}

// htmlSpellings gives s as in an element or an attribute, with each way to
// write its quotes.
func htmlSpellings(s string) []string {
	numeric := html.EscapeString(s)
	out := []string{numeric}
	if !strings.ContainsAny(s, `'"`) {
		return out
	}
	for _, double := range []string{"&#34;", "&quot;", `"`} {
		for _, single := range []string{"&#39;", "&#x27;", "&apos;", "'"} {
			named := strings.ReplaceAll(strings.ReplaceAll(numeric, "&#34;", double), "&#39;", single)
			if named != numeric {
				out = append(out, named)
			}
		}
	}
	return out
}

// base64Spellings gives those digits of s that depend on no neighbour, for each
// place that s may have among the bytes that digits stand for together.
func base64Spellings(s string) []spelling {
	padded := append([]byte{0, 0}, s...)
	out := make([]spelling, 0, 6)
	for before := range 3 {
		first, end := (before*8+5)/6, (before+len(s))*8/6
		shares := (before+len(s))%3 != 0
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			digits := enc.EncodeToString(padded[2-before:])
			out = append(out, spelling{digits[min(first, end):end], false, shares})
		}
	}
	return out
}
