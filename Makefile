# Roost's own work. `make` lists what there is; each target installs what it lacks, where this user may.

# Turns warnings into errors and adds the benchmark and fuzzing targets (see Package.swift).
export ROOST_DEVELOPMENT = 1

# How long `make simulate`, `make fuzz`, `make soak` and each half of `make soak-hostile` run.
SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-server demo-chat deb package test simulate fuzz soak soak-hostile sanitize golden bench format lint docs coverage format-example

help: ## Lists the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Installs what building needs and this machine lacks.
	@Scripts/setup

demo: setup ## Imports a few thousand cities, reads, changes, compacts and checks them, with the times it took.
	@Scripts/demo

demo-server: setup ## Starts a server, loads the sample, asks it over HTTP, and stops it.
	@Scripts/demo-server

demo-chat: setup ## Tells CouchChat's story: a server, three people, a room, a picture, refusals, and devices without a network.
	@Scripts/demo-chat

deb: setup ## Makes a Debian package of the tool with a service, its manual and completions, in .build/deb.
	swift build -c release --static-swift-stdlib --product roost
	@Scripts/make-deb .build/release/roost

package: setup ## Builds a package that depends on a clone of this one by its URL, in a directory of its own.
	@Scripts/check-package

test: setup ## Builds everything and runs all tests.
	swift test

simulate: setup ## Runs random histories on a simulated disk that crashes and fails, SECONDS long (60), or replays SEED.
	swift run -c release roost-simulate $(if $(SEED),$(SEED),--seconds $(SECONDS))

fuzz: setup ## Fuzzes every decoder and whole files with libFuzzer, SECONDS long in all (60), or RUNS inputs each.
	Fuzz/run $(if $(RUNS),--runs $(RUNS),$(SECONDS))

soak: setup ## Kills a server under mixed clients again and again, SECONDS long (60): what was acknowledged must stay.
	swift build -c release --product roost
	Scripts/soak .build/release/roost $(SECONDS)

soak-hostile: setup ## Serves ten accounts alone and beside one hostile account, SECONDS long each (60): the ten must not notice.
	swift build -c release --product roost
	Scripts/soak-hostile .build/release/roost $(SECONDS)

# Debug builds, because a race that the optimizer removes is a race still.
sanitize: setup ## Runs the tests of concurrent use under the thread sanitizer, those of memory under the address sanitizer.
	Scripts/run-thread-sanitizer
	Scripts/run-address-sanitizer

golden: setup ## Writes the golden files that are missing; those that are there are never written again.
	ROOST_WRITE_GOLDEN=1 swift test --filter "GoldenFileTests|GoldenDatabaseTests|GoldenReleaseTests"

bench: setup ## Measures Roost beside SQLite, LMDB, RocksDB, raw appends, OpenSSL and plain copies.
	Benchmarks/run

format: ## Formats all Swift code.
	@Scripts/swift-files | xargs swift format --in-place --parallel --configuration .swift-format

lint: ## Checks format, style, layering and the list of promises without building.
	@status=0; \
	Scripts/swift-files | xargs swift format lint --strict --parallel --configuration .swift-format || status=1; \
	Scripts/check-style || status=1; \
	Scripts/check-layers || status=1; \
	Scripts/check-promises || status=1; \
	exit $$status

docs: setup ## Builds the documentation of the products into .build/documentation.
	@Scripts/build-documentation

coverage: setup ## Runs the tests and prints how many lines of each module they reach.
	@Scripts/measure-coverage

format-example: setup ## Writes the example in FileFormat.md anew; read what changed.
	ROOST_REWRITE_EXAMPLE=1 swift test --filter WorkedExampleTests
	git --no-pager diff --stat -- FileFormat.md
