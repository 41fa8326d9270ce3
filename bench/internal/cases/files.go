package cases

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrTooFewFiles says that the case needs more open files than the process may
// have.
var ErrTooFewFiles = errors.New("too few open files allowed")

// otherFiles is what the rest of the process may have open.
const otherFiles = 100

// needFiles looks at the soft limit, which Go has raised to the hard one.
func needFiles(n int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("getrlimit: %w", err)
	}
	if need := uint64(n + otherFiles); limit.Cur < need {
		return fmt.Errorf("%w: this case needs %d (ulimit -n says %d)", ErrTooFewFiles, need, limit.Cur)
	}
	return nil
}
