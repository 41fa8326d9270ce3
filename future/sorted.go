package future

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
)

// sorted yields a map in the order of its keys, when they are numbers or strings, so that a run in virtual time is the same
// every time. Other keys come in the map's order.
func sorted[K comparable, V any](m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		keys := make([]K, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		if compare := comparison(reflect.TypeFor[K]()); compare != nil {
			slices.SortFunc(keys, func(a, b K) int { return compare(reflect.ValueOf(a), reflect.ValueOf(b)) })
		}
		for _, k := range keys {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

func comparison(key reflect.Type) func(a, b reflect.Value) int {
	switch key.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(a, b reflect.Value) int { return cmp.Compare(a.Int(), b.Int()) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return func(a, b reflect.Value) int { return cmp.Compare(a.Uint(), b.Uint()) }
	case reflect.Float32, reflect.Float64:
		return func(a, b reflect.Value) int { return cmp.Compare(a.Float(), b.Float()) }
	case reflect.String:
		return func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) }
	}
	return nil
}
