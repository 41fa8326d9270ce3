package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func Example_main() {
	main()
	// Output:
	// [ada grace]
	// 0
	// 1
	// 4
	// scheduler: WithTimeout: timeout after 10ms
}

// What the README shows is this program.
func TestTheReadmeShowsThisProgram(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, code, found := strings.Cut(string(source), "package main")
	require.True(t, found)
	assert.Contains(t, string(readme), "```go\npackage main"+code+"```")
}
