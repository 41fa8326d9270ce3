package event

import "testing"

func benchNotify(b *testing.B, callbacks int) {
	var e Base
	e.Init(NopKind{}, nil, 0)
	calls := 0
	for range callbacks {
		if _, err := e.Subscribe(func(*Base, *Callback, any, error) { calls++ }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		_ = e.Notify(nil, nil)
	}
}

func BenchmarkBase_NotifyOne(b *testing.B) { benchNotify(b, 1) }
func BenchmarkBase_Notify64(b *testing.B)  { benchNotify(b, 64) }

func BenchmarkBase_StartStop(b *testing.B) {
	var live Count
	var e Base
	e.Init(NopKind{}, &live, 0)
	b.ReportAllocs()
	for b.Loop() {
		_ = e.Start()
		_ = e.Stop()
	}
}

func BenchmarkBase_AddDelCallback(b *testing.B) {
	var e Base
	e.Init(NopKind{}, nil, 0)
	cb := NewCallback(func(*Base, *Callback, any, error) {}, nil)
	b.ReportAllocs()
	for b.Loop() {
		_ = e.AddCallback(cb)
		e.DelCallback(cb)
	}
}
