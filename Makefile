# What a developer runs; .ci/run is what must pass before a change goes in.
PKG ?= ./...
RUN ?= .
# Without symbols, linking DuckDB into each package's tests takes a fraction of the time; vet has its own command.
QUICK = -vet=off '-ldflags=-s -w' -count=1
# The commit is read from git by the go command: prof --version shows it.
DIST = go build -buildvcs=true -trimpath '-ldflags=-s -w'

.PHONY: help build test lint golden screenshot dist clean
help:
	@echo 'make build | test [PKG=./queries RUN=TestMfu] | lint | golden | screenshot | dist | clean'

build:
	go build -o prof .

test:
	go test $(QUICK) -run '$(RUN)' $(PKG)

# TestPortable type-checks for Linux on ARM and for macOS.
lint:
	@test -z "$$(gofmt -l .)" || { echo 'not formatted:'; gofmt -l .; exit 1; }
	go vet ./...
	@if command -v golangci-lint >/dev/null; then golangci-lint run ./...; else echo 'golangci-lint is not installed'; fi
	go test $(QUICK) . -run TestPortable

# Read the diff before you commit it.
golden:
	go test $(QUICK) ./schema -run TestImage -update
	go test $(QUICK) ./render/... -update
	go test $(QUICK) ./internal/cli -run TestReportFiles -update
	go test $(QUICK) . -run TestDocs -update

screenshot: build
	@set -e; d=$$(mktemp -d); trap 'rm -rf "$$d"' EXIT; \
	./prof --home $$d/home ingest --run baseline --workload testdata/workload/llama-graph-node.workload.json testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz >/dev/null; \
	./prof --home $$d/home report baseline --out $$d --file report.html >/dev/null; \
	chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,800 --screenshot=$(CURDIR)/docs/report.png file://$$d/report.html

# On Linux: both Linux binaries; the ARM one wants Debian's g++-aarch64-linux-gnu. On a Mac: the Mac's.
dist:
	mkdir -p dist
ifeq ($(shell go env GOOS),darwin)
	$(DIST) -o dist/prof-darwin-$(shell go env GOARCH) .
else
	CGO_ENABLED=1 GOARCH=amd64 $(DIST) -o dist/prof-linux-amd64 .
	CGO_ENABLED=1 GOARCH=arm64 CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ $(DIST) -o dist/prof-linux-arm64 .
endif
	cd dist && for f in prof-*-*64; do tar -czf $$f.tar.gz --transform="s/$$f/prof/" $$f ../LICENSE ../README.md 2>/dev/null || tar -czf $$f.tar.gz -s "/$$f/prof/" $$f -C .. LICENSE README.md; done

clean:
	rm -rf prof dist
