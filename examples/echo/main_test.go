package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

const asProgram = "UVASYNC_TEST_RUN_ECHO"

// TestMain lets the test binary be the program as well: the children that the tests start are its real main, compiled with
// whatever the tests are (-race, -asan).
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}
