# What a developer runs; .ci/run is what must pass before a change goes in.
PKG ?= ./...
RUN ?= .
# Without symbols, linking DuckDB into each package's tests takes a fraction of the time; vet has its own command.
QUICK = -vet=off '-ldflags=-s -w' -count=1

.PHONY: help build test bench torture lint golden screenshot release darwin clean FORCE
help:
	@echo 'make build | test [PKG=./queries RUN=TestMfu] | bench [PKG=./ingest RUN=Shapes] | torture | lint | golden | screenshot | release | clean'

build:
	go build -o prof .

test:
	go test $(QUICK) -run '$(RUN)' $(PKG)

# Benchmarks into bench.out. With benchstat those of BASE too, turn by turn, into bench-base.out, and what changed; COUNT=6 gives it enough to tell
# change from noise. ARGS=-short leaves out the largest inputs.
BASE ?= HEAD~1
COUNT ?= 1
BENCH = go test $(QUICK) -run '^$$' -bench '$(RUN)' -timeout 0 $(ARGS) $(PKG)
bench: PKG = ./ingest/... ./queries/... ./schema/...
bench: SHELL = bash -o pipefail
bench:
	@set -e; rm -f bench.out bench-base.out; failed=0; compare=$$(command -v benchstat || true); \
	if [ -n "$$compare" ]; then \
		base=$$(mktemp -d); trap 'rm -rf "$$base"' EXIT; \
		git archive $(BASE) | tar -x -C "$$base"; \
	else \
		echo 'benchstat is not installed, so nothing is compared; with a network: go install golang.org/x/perf/cmd/benchstat@latest'; \
	fi; \
	for i in $$(seq $(COUNT)); do \
		if [ -n "$$compare" ]; then (cd "$$base" && $(BENCH)) >>bench-base.out || echo 'not all benchmarks of $(BASE) ran, see bench-base.out'; fi; \
		$(BENCH) | tee -a bench.out || failed=1; \
	done; \
	if [ -n "$$compare" ]; then benchstat $(BASE)=bench-base.out now=bench.out; fi; \
	exit $$failed

# The long hunt, an hour and more; .ci/run makes a short one. A failure names its trial: the same SEED tries the same.
SEED ?= 1
torture:
	go run ./internal/torture -seed $(SEED) -hour

# TestPortable type-checks for Linux on ARM and for macOS.
lint:
	@test -z "$$(gofmt -l .)" || { echo 'not formatted:'; gofmt -l .; exit 1; }
	go vet -tags lake ./...
	@if command -v golangci-lint >/dev/null; then golangci-lint run ./...; else echo 'golangci-lint is not installed'; fi
	go test $(QUICK) . -run TestPortable

# Read the diff before you commit it.
golden:
	go test $(QUICK) ./queries -run TestGolden -update
	go test $(QUICK) ./internal/ledger -update
	go test $(QUICK) ./queries/caveat ./queries/judge ./queries/judge/gate ./queries/judge/trend -update
	go test $(QUICK) ./queries/judge/diff -run 'Sentences|TestErrorRates' -update
	go test $(QUICK) ./render/chart ./render/compare ./render/report ./render/screen ./render/table ./render/typeset ./render/words -update
	go test $(QUICK) ./internal/cli -run 'TestReportFiles|TestModelGolden|TestDiagnosis' -update
	go test $(QUICK) . -run TestDocs -update

screenshot: build
	@set -e; d=$$(mktemp -d); trap 'rm -rf "$$d"' EXIT; \
	./prof --home $$d/home ingest --run baseline --workload testdata/workload/llama-graph-node.workload.json testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz >/dev/null; \
	./prof --home $$d/home report baseline --out $$d --file report.html >/dev/null; \
	chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,800 --screenshot=$(CURDIR)/docs/report.png file://$$d/report.html

# A release, in dist: the archive, the wheel, the bill of materials and the checksums of this machine's system, and on Linux on x86-64 also those of Linux on ARM if
# Debian's g++-aarch64-linux-gnu is installed. They need the C library of this machine or a newer one: the workflow builds on an old Linux.
# Where zig is installed (pip install ziglang), everything but main is compiled for a Mac too; linking wants Apple's SDK.
RELEASE = $(shell sed -n 's/^const release = "\(.*\)"$$/\1/p' internal/cli/version.go)
SYSTEM = $(shell go env GOOS)-$(shell go env GOARCH)
release:
	rm -rf dist
	$(MAKE) dist/prof-$(SYSTEM).tar.gz
ifeq ($(SYSTEM),linux-amd64)
	@if command -v aarch64-linux-gnu-g++ >/dev/null; then $(MAKE) dist/prof-linux-arm64.tar.gz CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++; \
	else echo 'aarch64-linux-gnu-g++ is not installed: nothing is built for Linux on ARM'; fi
	@if $(ZIG) version >/dev/null 2>&1; then $(MAKE) darwin; else echo 'zig is not installed: not compiled for darwin/arm64'; fi
endif
	cd dist && $$(command -v sha256sum || echo shasum -a 256) *.tar.gz *.whl *.cdx.json >SHA256SUMS && cat SHA256SUMS

# The go command reads the commit from git; prof --version shows it.
dist/prof-%.tar.gz: FORCE
	mkdir -p dist/prof-$*
	CGO_ENABLED=1 GOOS=$(word 1,$(subst -, ,$*)) GOARCH=$(word 2,$(subst -, ,$*)) go build -buildvcs=true -trimpath '-ldflags=-s -w' -o dist/prof-$*/prof .
	cp LICENSE README.md CHANGELOG.md dist/prof-$*
	CGO_ENABLED=0 go run ./internal/notices/make -version $(RELEASE) -licences dist/prof-$*/LICENSES.txt -bill dist/prof-$*.cdx.json dist/prof-$*/prof
	tar -C dist -czf $@ prof-$*
	CGO_ENABLED=0 go run ./internal/wheel -version $(RELEASE) -out dist dist/prof-$*/prof LICENSE dist/prof-$*/LICENSES.txt

ZIG ?= python3 -m ziglang
darwin:
	CGO_ENABLED=1 GOOS=darwin GOARCH=arm64 CC='$(ZIG) cc -target aarch64-macos' CXX='$(ZIG) c++ -target aarch64-macos' \
		go build $$(go list -f '{{if ne .Name "main"}}{{.ImportPath}}{{end}}' ./...)

clean:
	rm -rf prof dist
