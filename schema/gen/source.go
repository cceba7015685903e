package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

const schemaPath = "github.com/prism-rpc/prism-rpc/schema"

// comments are those of types and fields by invopop's keys, for readers of the
// documents: on one line, without references to this project's own papers.
func comments(dir string) (map[string]string, error) {
	var r jsonschema.Reflector
	if err := r.AddGoComments(schemaPath, dir); err != nil {
		return nil, err
	}
	for key, text := range r.CommentMap {
		r.CommentMap[key] = strings.Join(strings.Fields(references.ReplaceAllString(text, "")), " ")
	}
	return r.CommentMap, nil
}

var references = regexp.MustCompile(`\s*\((protocol )?(§[0-9.]+|[A-Z][0-9]+)(, (§[0-9.]+|[A-Z][0-9]+))*\)`)

// enums are the constants of each string type in the sources of dir, in the
// order in which they stand.
func enums(dir string) (map[string][]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range parsed.Decls {
			addConstants(out, decl)
		}
	}
	return out, nil
}

func addConstants(out map[string][]string, decl ast.Decl) {
	group, ok := decl.(*ast.GenDecl)
	if !ok || group.Tok != token.CONST {
		return
	}
	for _, spec := range group.Specs {
		value := spec.(*ast.ValueSpec)
		typ, ok := value.Type.(*ast.Ident)
		if !ok {
			continue
		}
		for _, v := range value.Values {
			if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if word, err := strconv.Unquote(lit.Value); err == nil {
					out[typ.Name] = append(out[typ.Name], word)
				}
			}
		}
	}
}
