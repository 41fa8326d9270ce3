// Zombies shows how to end a scope while code is at work in it that nobody trusts to be cancelled. Its coroutines become
// zombies, which run on to their end without anybody waiting for them, or they get a time limit; and a log tells who became a
// zombie, who lingers and who has ended. From the root of the repository:
//
//	third_party/libuv/with.sh plain go -C examples run ./zombies
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/future"
	"github.com/uvasync/uvasync/scope"
)

func main() {
	// What is told and what is logged go the same way, so that they stay in order.
	if err := tell(context.Background(), os.Stdout, slog.New(slog.NewTextHandler(os.Stdout, nil))); err != nil {
		log.Fatal(err)
	}
}

const linger = 100 * time.Millisecond

// tell runs the story. The log gets a record when a coroutine becomes a zombie, when it has ended, and every linger in between.
func tell(ctx context.Context, out io.Writer, l *slog.Logger) error {
	return uvasync.Run(ctx, func(co *uvasync.Coroutine) error { return story(co, out) }, uvasync.WithZombieLog(l, linger))
}

func story(co *uvasync.Coroutine, out io.Writer) error {
	return errors.Join(closing(co, out), timeLimit(co, out), endOfTheRun(co, out))
}

// A RequestHandler answers requests. It owns a scope, and the scope owns the coroutines that work for the handler.
type RequestHandler struct {
	scope      *uvasync.Scope
	middleware []middleware
}

// middleware is somebody else's code, called with every request.
type middleware struct {
	name string
	call func(co *uvasync.Coroutine, request string) error
}

func newRequestHandler(co *uvasync.Coroutine, out io.Writer, m ...middleware) (*RequestHandler, error) {
	h := &RequestHandler{scope: scope.New(co), middleware: m}
	// Without a handler of failures, that of one coroutine would end them all, and the run.
	return h, h.scope.OnError(func(_ *uvasync.Scope, co *uvasync.Coroutine, err error) error {
		fmt.Fprintf(out, "  %s has failed, the others go on: %v\n", co.Name(), err)
		return nil
	})
}

// Handle starts the middleware, and waits for our own code only.
func (h *RequestHandler) Handle(co *uvasync.Coroutine, request string) (string, error) {
	for _, m := range h.middleware {
		_, err := h.scope.Spawn(func(co *uvasync.Coroutine) error { return m.call(co, request) }, uvasync.Named(m.name))
		if err != nil {
			return "", err
		}
	}
	response := future.Go(h.scope, func(co *uvasync.Coroutine) (string, error) {
		return "200 OK", co.Delay(10 * time.Millisecond) // cancelled, it returns the error, and nothing is lost
	}, uvasync.Named("response"))
	return response.Await(co)
}

// Close ends the scope. It is a safe one, as scopes are unless AsNotSafely is called, so nothing is cancelled: middleware that
// is at work becomes a zombie. On a safe scope Close does what DisposeSafely does.
func (h *RequestHandler) Close() error { return h.scope.Close() }

func closing(co *uvasync.Coroutine, out io.Writer) error {
	fmt.Fprintln(out, "A request handler is closed while its middleware is at work.")
	h, err := newRequestHandler(co, out, middleware{"cache", useCache}, middleware{"mail", sendMail}, middleware{"metrics", count})
	if err != nil {
		return err
	}
	response, err := h.Handle(co, "/buy")
	if err := errors.Join(err, h.Close()); err != nil {
		return err
	}
	fmt.Fprintf(out, "  /buy: %s\n", response)
	if err := h.scope.AwaitCompletion(co); err != nil { // does not wait for zombies
		return err
	}
	fmt.Fprintf(out, "  the handler's %s\n", h.scope.Info())
	err = h.scope.AwaitAfterCancellation(co, func(err error, _ *uvasync.Scope) error { // waits for them, too
		fmt.Fprintf(out, "  a zombie has failed: %v\n", err)
		return nil
	})
	fmt.Fprintf(out, "  the handler's %s\n", h.scope.Info())
	return err
}

func timeLimit(co *uvasync.Coroutine, out io.Writer) error {
	fmt.Fprintln(out, "A scope gives third-party code 200 ms to end.")
	s := scope.New(co)
	notification, err1 := s.Spawn(notify, uvasync.Named("notification"))
	analytics, err2 := s.Spawn(analyse, uvasync.Named("analytics"))
	if err := errors.Join(err1, err2, s.DisposeAfterTimeout(200*time.Millisecond)); err != nil {
		return err
	}
	err := s.AwaitCompletion(co) // until the limit they are active, and no zombies
	fmt.Fprintf(out, "  the notification has gone out: %v\n", notification.Error() == nil)
	fmt.Fprintf(out, "  analytics hung: %v\n", analytics.Error())
	return err
}

func endOfTheRun(co *uvasync.Coroutine, out io.Writer) error {
	fmt.Fprintln(out, "The run ends. It does not wait for zombies, but cancels them: who needs them waits for them.")
	h, err := newRequestHandler(co, out, middleware{"mail", sendMail})
	if err != nil {
		return err
	}
	_, err = h.Handle(co, "/pay")
	return errors.Join(err, h.Close())
}

// What follows is not ours.

func useCache(*uvasync.Coroutine, string) error { return errors.New("there is no cache") }
func notify(co *uvasync.Coroutine) error        { return co.Delay(20 * time.Millisecond) }
func analyse(co *uvasync.Coroutine) error       { return co.Delay(time.Hour) }

func sendMail(co *uvasync.Coroutine, request string) error {
	for _, part := range []string{"head", "body"} {
		if err := co.Delay(120 * time.Millisecond); err != nil {
			return fmt.Errorf("the mail about %s has no %s: %w", request, part, err)
		}
	}
	return nil
}

func count(co *uvasync.Coroutine, request string) error {
	for range 2 {
		if err := co.Delay(20 * time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("there is no counter for " + request)
}
