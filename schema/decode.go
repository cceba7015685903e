package schema

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/go-playground/validator/v10"
)

// FieldError says what is wrong with one field: its path by JSON names
// (`input[0].type`), the rule it breaks and a sentence for people. Path and
// sentence hold what was sent as it was sent: whoever shows them takes secrets
// out, then makes them fit to be shown.
type FieldError struct {
	Field   string `json:"field"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// A ParamsError reports params that are not of their method's shape.
type ParamsError struct {
	Errors []FieldError
	Limit  int // the limit that was passed; 0 when none was
}

func (e *ParamsError) Error() string {
	first := e.Errors[0]
	if first.Field == "" {
		return first.Message
	}
	return first.Field + ": " + first.Message
}

// BadField is a ParamsError about one field.
func BadField(field, rule, message string) *ParamsError {
	return &ParamsError{Errors: []FieldError{{Field: field, Rule: rule, Message: message}}}
}

// PastLimit is a ParamsError about a field that is larger than it may be.
func PastLimit(field string, limit int, unit string) *ParamsError {
	e := BadField(field, "max", fmt.Sprintf("is larger than %d %s", limit, unit))
	e.Limit = limit
	return e
}

// A checker has rules that tags can't say.
type checker interface{ check() *ParamsError }

// Decode reads one params object into the struct that into points to and
// checks it. Empty raw stands for an empty object. Text with lone surrogate
// escapes is taken, each as U+FFFD. The error is a *ParamsError.
func Decode(raw []byte, into any) error {
	return decode(raw, into, json.RejectUnknownMembers(true))
}

// DecodeLenient is Decode for the one method whose unknown fields are ignored.
func DecodeLenient(raw []byte, into any) error {
	return decode(raw, into, json.RejectUnknownMembers(false))
}

func decode(raw []byte, into any, opts json.Options) error {
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	if err := json.Unmarshal(raw, into, opts, jsontext.AllowInvalidUTF8(true)); err != nil {
		return shapeError(err)
	}
	if err := Validate(into); err != nil {
		return err
	}
	return nil
}

// Validate checks a struct against its tags and its own rules. The error is a
// *ParamsError.
func Validate(v any) error {
	if err := broken(v); err != nil {
		return err
	}
	if c, ok := v.(checker); ok {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// broken says which tags a struct does not keep, nil when it keeps them all.
func broken(v any) *ParamsError {
	err := rules().Struct(v)
	if bad, ok := errors.AsType[validator.ValidationErrors](err); ok {
		return tagErrors(bad)
	}
	must(err) // v is a struct
	return nil
}

// embedded stands in a path for a Go type whose fields are on the wire those of
// the object around it.
const embedded = "<embedded>"

var rules = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			return embedded
		}
		return name
	})
	must(v.RegisterValidation("sessionid", func(f validator.FieldLevel) bool { return ValidSessionID(f.Field().String()) }))
	must(v.RegisterValidation("producer", func(f validator.FieldLevel) bool { return ValidProducer(f.Field().String()) }))
	must(v.RegisterValidation("spliceid", func(f validator.FieldLevel) bool { return ValidSpliceID(f.Field().String()) }))
	must(v.RegisterValidation("injectorname", func(f validator.FieldLevel) bool { return ValidInjectorName(f.Field().String()) }))
	return v
})

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func shapeError(err error) *ParamsError {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field := fieldPath(semantic.JSONPointer)
		var own *ParamsError
		switch {
		case errors.As(semantic.Err, &own):
			return under(field, own)
		case errors.Is(semantic.Err, json.ErrUnknownName):
			return BadField(field, "unknown", "is not a field of this method")
		}
		return BadField(field, "type", "must be "+wanted(semantic.GoType)+found(semantic.JSONKind))
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		if errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
			return BadField(fieldPath(syntactic.JSONPointer), "duplicate", "stands twice")
		}
		return BadField(fieldPath(syntactic.JSONPointer), "json", "is not valid JSON")
	}
	return BadField("", "json", "could not be read")
}

// Under is err with its fields below the path of the part that it is about, if
// it is a *ParamsError.
func Under(prefix string, err error) error {
	if bad, ok := errors.AsType[*ParamsError](err); ok {
		return under(prefix, bad)
	}
	return err
}

// UnderIndex is Under for an entry of a list.
func UnderIndex(i int, err error) error { return Under(index(i), err) }

// under puts the fields of a part's error below the part's own path.
func under(prefix string, e *ParamsError) *ParamsError {
	out := &ParamsError{Limit: e.Limit}
	for _, f := range e.Errors {
		f.Field = joinPath(prefix, f.Field)
		out.Errors = append(out.Errors, f)
	}
	return out
}

func joinPath(prefix, field string) string {
	switch {
	case prefix == "":
		return field
	case field == "" || field[0] == '[':
		return prefix + field
	}
	return prefix + "." + field
}

// fieldPath turns a JSON pointer into the path that people read: /a/0/b → a[0].b.
func fieldPath(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case b.Len() == 0:
			b.WriteString(token)
		default:
			b.WriteString("." + token)
		}
	}
	return b.String()
}

func wanted(t reflect.Type) string {
	if t == nil {
		return "of another type"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Int32, reflect.Uint32:
		return "an integer in range"
	case reflect.Float64, reflect.Float32:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	}
	return "an object"
}

func found(k jsontext.Kind) string {
	switch k {
	case jsontext.KindNull:
		return ", not null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return ", not a boolean"
	case jsontext.KindString:
		return ", not a string"
	case jsontext.KindNumber:
		return ", not this number"
	case jsontext.KindBeginObject:
		return ", not an object"
	case jsontext.KindBeginArray:
		return ", not an array"
	}
	return ""
}

func tagErrors(broken validator.ValidationErrors) *ParamsError {
	out := &ParamsError{}
	for _, f := range broken {
		_, field, _ := strings.Cut(f.Namespace(), ".")
		field = strings.ReplaceAll(field, embedded+".", "")
		out.Errors = append(out.Errors, FieldError{Field: field, Rule: f.Tag(), Message: sentence(f)})
		out.Limit = max(out.Limit, limitOf(f))
	}
	return out
}

// limitOf is the bound on a text's or a list's size that f reports; 0 where it
// is about something else.
func limitOf(f validator.FieldError) int {
	if f.Tag() != "max" || f.Kind() != reflect.String && f.Kind() != reflect.Slice {
		return 0
	}
	limit, err := strconv.Atoi(f.Param())
	must(err) // a tag of ours
	return limit
}

func sentence(f validator.FieldError) string {
	switch f.Tag() {
	case "required":
		return "is missing or empty"
	case "oneof":
		return "must be one of: " + strings.Join(strings.Fields(f.Param()), ", ")
	case "min", "gte":
		return "must be at least " + f.Param()
	case "max", "lte":
		return "must be at most " + f.Param()
	case "unique":
		return "has an entry twice"
	case "sessionid":
		return "must be 1 to 128 of A-Z a-z 0-9 . _ -, not begin with . or -, not end with a dot, and not be a Windows device name"
	case "producer":
		return producerRule
	case "spliceid":
		return "must be 1 to 128 printable ASCII characters without blanks"
	case "injectorname":
		return "must be 1 to 128 bytes of NFC text without control, format or invisible characters and without blank ends, and not \"false\""
	}
	return "breaks the rule " + f.Tag()
}
