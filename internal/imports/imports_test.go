package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/uvasync/uvasync"

// pkg is what `go list -json` says of a package.
type pkg struct {
	ImportPath string
	Dir        string
	Standard   bool
	Module     *struct{ Path string }
	GoFiles    []string
	CgoFiles   []string
	Imports    []string
	Deps       []string
}

func (p *pkg) ours() bool {
	return p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
}

// name is the path within the module: "cuv", "internal/leak"; "" for the root.
func (p *pkg) name() string { return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/") }

// graph is every package of the module and what they need, without tests.
type graph map[string]*pkg

func readGraph(t *testing.T) graph {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module,GoFiles,CgoFiles,Imports,Deps", "./...")
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1") // without it, go list hides the files that import "C"
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &stderr)
	g := graph{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		g[p.ImportPath] = &p
	}
	require.Contains(t, g, module+"/cuv")
	return g
}

// Packages that only tests import: they may use C and test libraries, and nothing that is not a test may use them.
var testOnly = []string{"internal/child", "internal/cotest", "internal/csignal", "internal/foreign", "internal/leak", "internal/imports", "internal/reactortest"}

// forbidden says which of our packages a package may not reach, directly or not.
var forbidden = map[string]func(dep string) bool{
	"event":               all,
	"cuv":                 all,
	"scheduler":           among("cuv", "reactor", "internal/simreactor"),
	"scope":               among("cuv", "reactor", "internal/simreactor"),
	"pool":                among("cuv", "reactor", "internal/simreactor"),
	"channel":             among("cuv", "reactor", "internal/simreactor"),
	"future":              among("cuv", "reactor", "internal/simreactor"),
	"cosync":              among("cuv", "reactor", "internal/simreactor"),
	"uvtest":              among("cuv", "reactor"),
	"reactor":             among("scheduler", "scope", "pool", "channel", "future", "cosync", "aio", "uvtest"),
	"internal/coro":       among("cuv", "reactor", "event", "scheduler"),
	"internal/goid":       all,
	"internal/ring":       all,
	"internal/waitq":      among("cuv", "reactor", "internal/simreactor"),
	"internal/simreactor": func(dep string) bool { return dep != "event" },
}

func all(string) bool { return true }

func among(names ...string) func(string) bool {
	return func(dep string) bool { return slices.Contains(names, dep) }
}

// Modules that a package which is not for tests may need.
var allowedModules = []string{module, "github.com/mattn/go-pointer"}

// violations lists what breaks the rules.
func (g graph) violations() []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, p := range g {
		if !p.ours() {
			continue
		}
		helper := slices.Contains(testOnly, p.name())
		if len(p.CgoFiles) > 0 && p.name() != "cuv" && !helper {
			report(`%s imports "C": only cuv may`, p.ImportPath)
		}
		for _, path := range p.Deps {
			dep := g[path]
			switch {
			case dep == nil || helper:
			case dep.ours():
				if no := forbidden[p.name()]; no != nil && no(dep.name()) {
					report("%s may not depend on %s", p.ImportPath, path)
				}
				if slices.Contains(testOnly, dep.name()) {
					report("%s depends on %s, which is for tests", p.ImportPath, path)
				}
			case path == "testing":
				report("%s depends on testing", p.ImportPath)
			case dep.Module != nil && !slices.Contains(allowedModules, dep.Module.Path):
				report("%s depends on %s", p.ImportPath, path)
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestImports_FollowTheArchitecture(t *testing.T) {
	for _, v := range readGraph(t).violations() {
		t.Error(v)
	}
}

func TestImports_OnlyCuvLeadsToGoPointer(t *testing.T) {
	g := readGraph(t)
	for _, p := range g {
		if p.ours() && p.name() != "cuv" && !slices.Contains(testOnly, p.name()) {
			assert.NotContains(t, p.Imports, "github.com/mattn/go-pointer", p.ImportPath)
		}
	}
}

// The checker itself, on graphs that break each rule.
func TestImports_TheCheckerSeesEveryKindOfViolation(t *testing.T) {
	ours := func(name string, deps ...string) *pkg {
		p := &pkg{ImportPath: module + "/" + name}
		for _, d := range deps {
			p.Deps = append(p.Deps, strings.Replace(d, "~", module, 1))
		}
		return p
	}
	other := &pkg{ImportPath: "example.org/x", Module: &struct{ Path string }{"example.org/x"}}
	std := &pkg{ImportPath: "testing", Standard: true}
	cgo := ours("reactor")
	cgo.CgoFiles = []string{"c.go"}
	for want, list := range map[string][]*pkg{
		"event may not depend on":        {ours("event", "~/cuv"), ours("cuv")},
		"cuv may not depend on":          {ours("cuv", "~/event"), ours("event")},
		"scheduler may not depend on":    {ours("scheduler", "~/reactor"), ours("reactor")},
		`reactor imports "C"`:            {cgo},
		"reactor depends on example":     {ours("reactor", "example.org/x"), other},
		"depends on testing":             {ours("reactor", "testing"), std},
		"internal/leak, which is for":    {ours("reactor", "~/internal/leak"), ours("internal/leak")},
		"internal/foreign, which is for": {ours("cuv", "~/internal/foreign"), ours("internal/foreign")},
	} {
		g := graph{}
		for _, p := range list {
			g[p.ImportPath] = p
		}
		assert.Contains(t, strings.Join(g.violations(), "\n"), want)
	}
}
