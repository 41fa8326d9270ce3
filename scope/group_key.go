package scope

import (
	"fmt"
	"reflect"

	"github.com/uvasync/uvasync/event"
)

// Automatic keys cannot meet each other, so nobody keeps the keys until one is passed.

// claim takes a key, or says that it is taken.
func (e *engine[K, T]) claim(call string, key K) error {
	if !reflect.ValueOf(&key).Elem().Comparable() {
		return &event.InvalidArgumentError{Call: call, Arg: "key", Got: key, Legal: "it must be comparable, with all that it holds"}
	}
	if e.keys == nil {
		e.keys = make(map[K]struct{}, e.count+1)
		for t := e.first; t != nil; t = t.next {
			e.keys[entryOf(e, t).key] = struct{}{}
		}
	}
	if key != key { // NaN is like no other, and no map finds it again
		return nil
	}
	if _, taken := e.keys[key]; taken {
		return &event.UsageError{Call: call, Problem: fmt.Sprintf("the key %v is taken", key), Fix: "give each task a key of its own"}
	}
	e.keys[key] = struct{}{}
	return nil
}

// unclaim gives a key back.
func (e *engine[K, T]) unclaim(key K) {
	if e.keys != nil {
		delete(e.keys, key)
	}
}

// number gives t the next automatic key. K is int.
func (e *engine[K, T]) number(t *entry[K, T]) {
	place := any(&t.key).(*int)
	*place = e.nextKey
	e.nextKey++
	if e.keys == nil {
		return
	}
	for {
		if _, taken := e.keys[t.key]; !taken {
			break
		}
		*place = e.nextKey
		e.nextKey++
	}
	e.keys[t.key] = struct{}{}
}

// numbered reports whether the keys can be automatic.
func (e *engine[K, T]) numbered(call string) error {
	var key K
	if _, ok := any(key).(int); ok {
		return nil
	}
	return &event.UsageError{Call: call, Problem: fmt.Sprintf("automatic keys are of type int, those of this %s of type %v", e.kind, reflect.TypeFor[K]()), Fix: "pass the key, with SpawnKey or TrySpawnKey"}
}
