package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/prism-rpc/prism-rpc/internal/plain"
)

// MaxNameBytes bounds session ids and injector names.
const MaxNameBytes = 128

// ValidSessionID tells whether id can name a session, and so its file, on
// every system: [A-Za-z0-9_][A-Za-z0-9._-]{0,127}, no trailing dot, no Windows
// device name (protocol §6).
func ValidSessionID(id string) bool {
	if id == "" || len(id) > MaxNameBytes || id[0] == '.' || id[0] == '-' || id[len(id)-1] == '.' {
		return false
	}
	for i := range len(id) {
		if !idByte(id[i]) {
			return false
		}
	}
	return !windowsDevice(id)
}

func idByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

func windowsDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "COM" || stem[:3] == "LPT") && stem[3] >= '0' && stem[3] <= '9'
}

// ValidInjectorName tells whether name can be registered (protocol §7).
func ValidInjectorName(name string) bool {
	if name == "" || len(name) > MaxNameBytes || name == "false" || !utf8.ValidString(name) ||
		!norm.NFC.IsNormalString(name) || strings.TrimSpace(name) != name {
		return false
	}
	for _, r := range name {
		if !unicode.IsPrint(r) || invisible(r) {
			return false
		}
	}
	return true
}

const producerRule = "must be 1 to 64 of A-Z a-z 0-9 . _ / @ -, begin with a letter, a digit or @, and not be \"plugin\""

// DefaultProducer gives the notices that name nobody else.
const DefaultProducer = "prism-rpc"

// ValidProducer tells whether name can stand for who gives notices (R8). The
// bare "plugin" is retired.
func ValidProducer(name string) bool {
	if name == "" || len(name) > 64 || name == "plugin" || !idByte(name[0]) && name[0] != '@' || strings.IndexByte("._-", name[0]) >= 0 {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || !idByte(byte(r)) && r != '/' && r != '@' }) < 0
}

// invisible holds what unicode.IsPrint lets pass though it shows nothing.
func invisible(r rune) bool {
	const blankBraille = 0x2800
	return plain.Filler(r) || r == blankBraille || unicode.Is(unicode.Variation_Selector, r)
}
