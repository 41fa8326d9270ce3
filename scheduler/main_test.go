package scheduler_test

import (
	"testing"

	"github.com/uvasync/uvasync/internal/cotest"
	"github.com/uvasync/uvasync/internal/leak"
	"github.com/uvasync/uvasync/scheduler"
)

func TestMain(m *testing.M) {
	cotest.Defaults = scheduler.Options{} // with the slices that users have
	leak.Main(m)
}
