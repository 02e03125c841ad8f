# What the layers' makefiles share. `sam build` runs `make build-<layer>` with ARTIFACTS_DIR and nothing else: it does
# not tell the architecture. So template.yaml points ContentUri at the folder arm64/ or x86_64/ of a layer, by the same
# parameter that sets the functions' architecture, and the makefile there sets ARCH and includes the layer's own.
# Wheels are downloaded, never compiled, so any machine builds for either architecture, and no container is needed.

SHELL := /bin/bash
.SILENT:
layers := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

# Any Python with pip will do to unpack wheels.
PYTHON ?= python3
# Bytecode must come from the version that Lambda runs. Without it each cold start compiles what it imports: measured
# on 2 cores, 0.25 s with and 0.8 s without for the dependencies, 0.13 s and 0.27 s for the inference packages.
BYTECODE_PYTHON ?= $(shell sh "$(layers)/find-python.sh")

machine_arm64 := aarch64
machine_x86_64 := x86_64
machine = $(or $(machine_$(ARCH)),$(error ARCH is "$(ARCH)"; it must be arm64 or x86_64))

# $(call install,requirements.txt): every wheel that the file names, and no other, into the layer, if it is the one whose
# hash the file has. The platforms are the manylinux tags that Lambda's Amazon Linux 2023 (glibc 2.34) can load. Which
# Python a package requires is not asked: pip would ask it of the Python that unpacks.
define install
$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-input --root-user-action=ignore \
  --require-hashes --no-deps --no-compile --only-binary=:all: --ignore-requires-python \
  --implementation cp --python-version 3.13 \
  $(foreach glibc,2_17 2_27 2_28 2_34,--platform manylinux_$(glibc)_$(machine)) \
  --target "$(ARTIFACTS_DIR)/python" --requirement "$(1)"
endef

# $(call drop,pattern ...): takes parts of packages out of the layer. A pattern that matches nothing stops the build:
# the package has changed, and what was found out about it must be looked at again.
define drop
cd "$(ARTIFACTS_DIR)/python" && for pattern in $(1); do \
  compgen -G "$$pattern" >/dev/null || { echo "nothing to drop at $$pattern" >&2; exit 1; }; rm -r $$pattern; done
endef

# Drops tests, type stubs, C headers, console scripts, bills of materials and symbol tables, then compiles.
# `unchecked-hash` because the zip of a layer does not keep file times, and bytecode that is checked by time would be
# thrown away. Optimisation stays off: assertions and docstrings are the packages' own business.
define finish
cd "$(ARTIFACTS_DIR)/python" && rm -rf bin \
  && find . -type d \( -name __pycache__ -o -name tests -o -path '*.dist-info/sboms' \) -prune -exec rm -rf {} + \
  && find . -type f \( -name '*.pyi' -o -name '*.pxd' -o -name '*.h' -o -name '*.a' \) -delete
$(PYTHON) "$(layers)/drop_symbols.py" "$(ARTIFACTS_DIR)/python"
if "$(BYTECODE_PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null; then \
  cd "$(ARTIFACTS_DIR)/python" && "$(BYTECODE_PYTHON)" -m compileall -q --invalidation-mode unchecked-hash .; \
else \
  echo "warning: no Python 3.13 found: this layer has no bytecode, and cold starts take longer"; \
fi
chmod -R a+rX "$(ARTIFACTS_DIR)"
endef
