package pool_test

import (
	"testing"

	"github.com/uvasync/uvasync/internal/leak"
)

func TestMain(m *testing.M) { leak.Main(m) }
