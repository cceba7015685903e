package rpc

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/prism-rpc/prism-rpc/internal/contract"
	"github.com/prism-rpc/prism-rpc/schema"
	"github.com/prism-rpc/prism-rpc/session"
	"github.com/prism-rpc/prism-rpc/session/memstore"
)

func TestMethods_AreThoseThatTheSchemaNames(t *testing.T) {
	var names []string
	for _, m := range schema.Methods() {
		names = append(names, m.Name)
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(newServer(Options{}).methods())), names)
}

// answers are what a server with these options says to some lines.
func answers(t *testing.T, o Options, input ...string) []string {
	var out strings.Builder
	require.NoError(t, Serve(t.Context(), strings.NewReader(strings.Join(input, "\n")+"\n"), &out, o))
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestInitialize_NamesTheMethodsOfTheSchema(t *testing.T) {
	manager, err := session.NewManager(session.Config{Store: memstore.New()})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, manager.Close()) })
	var reply struct {
		Result schema.InitializeResult `json:"result"`
	}
	require.NoError(t, json.Unmarshal([]byte(answers(t, Options{Sessions: manager}, request("1", "initialize", "{}"))[0]), &reply))
	var names []string
	for _, m := range schema.Methods() {
		names = append(names, m.Name)
	}
	assert.ElementsMatch(t, names, reply.Result.Capabilities.Methods)
}

func TestDiscover_AnswersTheDocument(t *testing.T) {
	got := answers(t, Options{}, request("1", "rpc.discover", "{}"))
	assert.Equal(t, []string{result("1", schema.OpenRPC())}, got)
}

func TestDiscover_WorksWhileTheConfigurationIsBad(t *testing.T) {
	got := answers(t, Options{Unready: errors.New("bad")},
		request("1", "rpc.discover", "{}"), request("2", "ping", "{}"), request("3", "state", "{}"))
	require.Len(t, got, 3)
	slices.Sort(got)
	assert.Equal(t, result("1", schema.OpenRPC()), got[0])
	assert.Equal(t, result("2", "{}"), got[1])
	assert.Contains(t, got[2], `"kind":"bad_config"`)
}

// Every kind of error that the code names is in the table with the code that it
// is sent with, and the table has no other.
func TestErrorKinds_AreThoseOfTheCode(t *testing.T) {
	used := kindsInSource(t)
	want := map[string][]int{}
	for _, row := range schema.ErrorKinds() {
		want[string(row.Kind)] = []int{row.Code}
	}
	assert.Equal(t, want, used)
}

// kindsInSource reads which kinds this package's errors have, and with which
// codes: from wire(code, kind, …), pastLimit(kind, …) and the wireError
// literals that hold both.
func kindsInSource(t *testing.T) map[string][]int {
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	codes, kinds := map[string]int{}, map[string][]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				constant(codes, n)
			case *ast.CallExpr:
				kindOfCall(kinds, n)
			case *ast.CompositeLit:
				kindOfLiteral(kinds, n)
			}
			return true
		})
	}
	out := map[string][]int{}
	for kind, names := range kinds {
		for _, name := range names {
			if !slices.Contains(out[kind], codes[name]) {
				out[kind] = append(out[kind], codes[name])
			}
		}
	}
	return out
}

func constant(codes map[string]int, spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if i < len(spec.Values) {
			if negative, ok := spec.Values[i].(*ast.UnaryExpr); ok && strings.HasPrefix(name.Name, "code") {
				n, _ := strconv.Atoi(negative.X.(*ast.BasicLit).Value)
				codes[name.Name] = -n
			}
		}
	}
}

func kindOfCall(kinds map[string][]string, call *ast.CallExpr) {
	name, ok := call.Fun.(*ast.Ident)
	switch {
	case ok && name.Name == "wire":
		addKind(kinds, call.Args[0], call.Args[1])
	case ok && name.Name == "pastLimit":
		addKind(kinds, ast.NewIdent("codeInvalidRequest"), call.Args[0])
	}
}

func kindOfLiteral(kinds map[string][]string, lit *ast.CompositeLit) {
	if name, ok := lit.Type.(*ast.Ident); !ok || name.Name != "wireError" || len(lit.Elts) != 3 {
		return
	}
	data, ok := lit.Elts[2].(*ast.CompositeLit)
	if !ok {
		return
	}
	for _, e := range data.Elts {
		if field := e.(*ast.KeyValueExpr); field.Key.(*ast.Ident).Name == "Kind" {
			addKind(kinds, lit.Elts[0], field.Value)
		}
	}
}

func addKind(kinds map[string][]string, code, kind ast.Expr) {
	name, isName := code.(*ast.Ident)
	lit, isWord := kind.(*ast.BasicLit)
	if isName && isWord {
		word, _ := strconv.Unquote(lit.Value)
		kinds[word] = append(kinds[word], name.Name)
	}
}

// The data of errors has no member that the published shape lacks.
func TestErrorData_IsTheShapeOfTheSchema(t *testing.T) {
	known := map[string]reflect.Type{}
	for f := range reflect.TypeFor[schema.ErrorData]().Fields() {
		known[jsonName(f)] = f.Type
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[callData]()) {
		if name := jsonName(f); !f.Anonymous && name != "" {
			require.Contains(t, known, name)
			assert.Equal(t, known[name].Kind(), f.Type.Kind(), name)
		}
	}
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// The document is a constant of the program: to answer is to pass it on.
func BenchmarkDiscover(b *testing.B) {
	doc := jsontext.Value(schema.OpenRPC())
	b.Run("floor: copy", func(b *testing.B) {
		dst := make([]byte, len(doc))
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			copy(dst, doc)
		}
	})
	b.Run("answer", func(b *testing.B) {
		s := newServer(Options{})
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			v, err := s.discover(nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			if err := json.MarshalWrite(io.Discard, v, outgoing); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestTalkLines_AreCheckedByTheContract(t *testing.T) {
	c, err := contract.NewConversation()
	require.NoError(t, err)
	require.NoError(t, Serve(t.Context(), c.Input(strings.NewReader(request("1", "ping", "{}")+"\nnonsense\n")), c.Output(io.Discard), Options{}))
	assert.NoError(t, c.Err())
	assert.Equal(t, 2, c.Checked())
}
