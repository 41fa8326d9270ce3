package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/uvasync/uvasync"
	"github.com/uvasync/uvasync/channel"
)

const jobTakes = 20 * time.Millisecond

// A worker is a coroutine that does jobs, one after the other, until it is stopped or dies.
type worker struct {
	id      int
	self    *uvasync.Coroutine
	jobs    *channel.Channel[string]
	results *channel.Channel[string]
	owes    bool // it has a job, and nobody has taken the result
}

// newWorker starts one. It belongs to the scope of co: started by Create of a pool, it is the pool's.
func newWorker(co *uvasync.Coroutine, id int) (*worker, error) {
	w := &worker{id: id}
	var err1, err2, err3 error
	w.jobs, err1 = channel.New[string](co, 0)
	w.results, err2 = channel.New[string](co, 1)
	w.self, err3 = co.Spawn(w.serve, uvasync.Named(w.String()))
	return w, errors.Join(err1, err2, err3)
}

func (w *worker) String() string { return fmt.Sprint("worker ", w.id) }

func (w *worker) serve(co *uvasync.Coroutine) error {
	defer w.results.Close()
	defer w.jobs.Close()
	for job, err := range w.jobs.All(co) {
		if err == nil {
			err = co.Delay(jobTakes)
		}
		if err == nil {
			err = w.results.Send(co, fmt.Sprintf("%s is done, by %v", job, w))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// do has a job done. Whoever is cancelled meanwhile leaves a worker that owes a result.
func (w *worker) do(co *uvasync.Coroutine, job string) (string, error) {
	if err := w.jobs.Send(co, job); err != nil {
		return "", err
	}
	w.owes = true
	return w.result(co)
}

func (w *worker) result(co *uvasync.Coroutine, opts ...uvasync.WaitOption) (string, error) {
	result, err := w.results.Recv(co, opts...)
	w.owes = err != nil
	return result, err
}

// stop lets the worker finish what it has, and returns when it has ended.
func (w *worker) stop(co *uvasync.Coroutine) error {
	err := w.jobs.Close()
	_, _ = co.Await(w.self) // how it has died was told by the health check
	return err
}

// die is what nobody wants to happen.
func (w *worker) die(reason error) error { return w.self.Cancel(reason) }
