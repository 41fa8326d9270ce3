# Every target that compiles goes through with.sh, which fetches, verifies and
# builds the pinned libuv when it is not there. LIBUV=system takes the
# distribution's instead.
LIBUV   ?= plain
TIMEOUT ?= 15m

WITH := third_party/libuv/with.sh

# Every module of the tree; the root comes last, so that a run ends in its summary.
MODULES := $(shell find . -name go.mod -not -path './build/*' -not -path '*/testdata/*' -printf '%h\n' | sort -r)

# $(call go_test,LIBUV,FLAGS). Never from Go's cache: the kernel, the clock and
# a C library are tested too, and the cache knows nothing of them.
go_test = @set -e; for m in $(MODULES); do $(WITH) $(1) go -C $$m test -count=1 -timeout=$(TIMEOUT) $(2) ./...; done

# go test strips its binaries, and the stacks of a report would be bare addresses.
KEEP_SYMBOLS := -ldflags='-s=0 -w=0'

.PHONY: help run test test-system race asan sim asymmetric bench lint vendor clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

run: ## build the echo server and run it; ARGS='-addr 127.0.0.1:7000' passes flags to it
	@echo "building libuv and the echo server; the first time takes a minute" >&2
	@$(WITH) $(LIBUV) go -C examples build -buildvcs=false -o ../build/bin/echo ./echo
	@exec build/bin/echo $(ARGS)

test: ## test every module against the pinned libuv; LIBUV=system against the distribution's
	$(call go_test,$(LIBUV),)

test-system: ## test every module against the distribution's libuv
	$(call go_test,system,)

race: ## test with Go's race detector
	$(call go_test,$(LIBUV),-race)

asan: ## test with AddressSanitizer in Go, cgo and libuv, C leaks included
	$(call go_test,asan,-asan $(KEEP_SYMBOLS))

SIM_SECONDS ?= 60
sim: ## search for seeds that break what must hold in any order, for SIM_SECONDS=60; a failing one is printed
	@$(WITH) $(LIBUV) tools/sim.sh $(SIM_SECONDS)

asymmetric: ## test the coroutines on the plain execution contexts, which are used where the fast ones do not work
	@$(WITH) $(LIBUV) go test -count=1 -timeout=$(TIMEOUT) -tags=uvasync_asymmetric \
		./internal/coro ./scheduler ./scope ./pool ./future ./channel ./cosync ./uvtest .

bench: ## measure against raw libuv and goroutines; CASES=timer,poll and ROUNDS=9 choose, QUICK=1 is for a first look
	@$(WITH) $(LIBUV) go -C bench run . \
		$(if $(CASES),-cases=$(CASES)) $(if $(ROUNDS),-rounds=$(ROUNDS)) $(if $(QUICK),-quick)

lint: ## gofmt, go vet and staticcheck over every module
	@$(WITH) $(LIBUV) go -C tools build -o ../build/bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	@bad=$$(gofmt -l $$(find . -name '*.go' -not -path './build/*')) && [ -z "$$bad" ] || \
		{ echo "gofmt -w is needed:" $$bad >&2; exit 1; }
	@set -e; for m in $(MODULES); do \
		$(WITH) $(LIBUV) go -C $$m vet ./...; \
		$(WITH) $(LIBUV) env -C $$m "$(CURDIR)/build/bin/staticcheck" ./...; \
	done

vendor: ## fetch, verify and build the pinned libuv; LIBUV_TARBALL=FILE takes it from there
	@$(WITH) plain true

clean: ## remove build/; the verified sources of libuv stay
	rm -rf build
