package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A panic in a goroutine that nobody guards would print its value, which may be
// a secret. So whatever runs on a goroutine of its own defers recovered first.
func TestEveryGoroutineIsGuarded(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	methods, begun := map[string]*ast.BlockStmt{}, map[string]ast.Expr{}
	set := token.NewFileSet()
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				methods[n.Name.Name] = n.Body
			case *ast.GoStmt:
				begun[set.Position(n.Pos()).String()] = n.Call.Fun
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "AfterFunc" {
					begun[set.Position(n.Pos()).String()] = n.Args[len(n.Args)-1]
				}
			}
			return true
		})
	}
	require.NotEmpty(t, begun)
	for where, run := range begun {
		body := methods[lastName(run)]
		if f, ok := run.(*ast.FuncLit); ok {
			body = f.Body
		}
		require.NotNil(t, body, where)
		assert.True(t, guarded(body), "%s begins a goroutine that does not defer recovered", where)
	}
}

func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// guarded tells whether the body defers recovered first, or does nothing but
// end the process.
func guarded(body *ast.BlockStmt) bool {
	switch first := body.List[0].(type) {
	case *ast.DeferStmt:
		return lastName(first.Call.Fun) == "recovered"
	case *ast.ExprStmt:
		call, ok := first.X.(*ast.CallExpr)
		return ok && len(body.List) == 1 && lastName(call.Fun) == "Exit"
	}
	return false
}
