package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leaksC lists the exported declarations of a file in whose types unsafe.Pointer or something of C stands.
func leaksC(f *ast.File) []string {
	var found []string
	check := func(name string, types ...ast.Node) {
		for _, t := range types {
			ast.Inspect(t, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Field: // of a struct: unexported ones are nobody's business
					return len(n.Names) == 0 || slices.ContainsFunc(n.Names, func(i *ast.Ident) bool { return i.IsExported() || !inStruct(t, n) })
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && (x.Name == "C" || x.Name == "unsafe" && n.Sel.Name == "Pointer") {
						found = append(found, name+": "+x.Name+"."+n.Sel.Name)
					}
				}
				return true
			})
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) {
				check(d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						check(s.Name.Name, s.Type)
					}
				case *ast.ValueSpec:
					if s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
						check(s.Names[0].Name, s.Type)
					}
				}
			}
		}
	}
	return found
}

// inStruct reports whether a field is one of a struct, not a parameter.
func inStruct(root ast.Node, field *ast.Field) bool {
	found := false
	ast.Inspect(root, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok && slices.Contains(s.Fields.List, field) {
			found = true
		}
		return !found
	})
	return found
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}

func TestSignatures_NoPointersOfCOutsideOfCuv(t *testing.T) {
	for _, p := range readGraph(t) {
		if !p.ours() || p.name() == "cuv" || slices.Contains(testOnly, p.name()) {
			continue
		}
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, leak := range leaksC(f) {
				t.Errorf("%s: %s", p.ImportPath, leak)
			}
		}
	}
}

func TestSignatures_TheCheckerSeesThem(t *testing.T) {
	const source = `package p
import "unsafe"
func Result() unsafe.Pointer { return nil }
func Parameter(p map[string]*unsafe.Pointer) {}
func (t *Type) Method(h C.uv_loop_t) {}
func fine(p unsafe.Pointer) {}
func (t *hidden) Method(p unsafe.Pointer) {}
func Body() { var p unsafe.Pointer; _ = p }
type Type struct {
	Field unsafe.Pointer
	fine  unsafe.Pointer
}
type Func func(p unsafe.Pointer)
type hidden struct { P unsafe.Pointer }
var Variable unsafe.Pointer
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"Result: unsafe.Pointer", "Parameter: unsafe.Pointer", "Method: C.uv_loop_t", "Type: unsafe.Pointer", "Func: unsafe.Pointer", "Variable: unsafe.Pointer",
	}, leaksC(f), strings.TrimSpace(source))
}
