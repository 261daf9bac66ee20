# Two commands do everything on a fresh Debian 12: `make demo` and `make test`.
.PHONY: demo test peers prove build all configure cuda debug bench lint clean

demo:
	@scripts/install run
	@$(MAKE) --no-print-directory build
	build/akgen bench --provider reference --case 0 --report build/demo.html --db build/demo.db
	cat examples/rms_norm.md
	build/akgen gen --describe examples/rms_norm.md --yes -o build/rms_norm

test:
	@scripts/install test
	@$(MAKE) --no-print-directory debug
	@scripts/test quick

# Comparisons with PyTorch: packages of PyPI, in a virtual environment under ~/.cache/akgen (scripts/peers.txt).
peers:
	@scripts/install peers
	@$(MAKE) --no-print-directory all
	@scripts/test peers

# The long proofs, or `make prove PROOF=mutations` one of them; their figures go to docs/proofs.md.
prove:
	@scripts/install peers
	@$(MAKE) --no-print-directory all
	@scripts/prove $(PROOF)

# The program, at build/akgen, and libakgen.a.
build: configure
	@ninja -C build --quiet product

# These, and the programs of tests and benchmarks.
all: configure
	@start=$$(date +%s); ninja -C build --quiet && echo "built build in $$(($$(date +%s) - start)) s"

configure:
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }
	@mv -f build.log build/configure.log

# build/akgen-cuda.so, for a GPU (docs/lm.md): `make build` makes it where there is one.
cuda: build
	@ninja -C build --quiet akgen-cuda

# The same with AddressSanitizer and UndefinedBehaviorSanitizer, at build/debug/akgen, and the other tests (docs/testing.md).
debug:
	@cmake --preset debug >build-debug.log 2>&1 || { cat build-debug.log; exit 1; }
	@mv -f build-debug.log build/debug/configure.log
	@start=$$(date +%s); ninja -C build/debug --quiet && echo "built build/debug in $$(($$(date +%s) - start)) s"

# Ratios measured side by side on this machine; see benchmarks/README.md.
bench: all
	@for program in build/benchmarks/*; do [ -x "$$program" ] && [ -f "$$program" ] && "$$program"; done

# Format and clang-tidy's findings; clang-format-19 and clang-tidy-19 are not among the packages that `make test` installs.
lint: all
	@scripts/install lint
	@scripts/lint

clean:
	rm -rf build
