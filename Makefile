# What one does with a working copy; not part of the built package.
#
#   make demo      install what is missing, build, run the example on real data
#   make test      the quick tier of the tests, after each change: three minutes on two cores (TIER=full: all of them;
#                  RECORD=--record: keeps the times by which the longest files start first)
#   make check     make unit and make package; last line: N passed, N failed, N skipped
#   make package   R CMD build, R CMD check with all tests (TIER=quick: with the quick tier)
#   make unit      what configure makes of false toolkits; whether registers suffice on every GPU, where nvcc is; the
#                  engine's tests without R: plain, with ASan and UBSan, with TSan; whether package and tests link for
#                  Windows, and the tests for ARM; two minutes
#   make releases  make package TIER=quick and BiocCheck on Debian 13 and Debian's unstable release, with current R; root,
#                  an hour and 8 GB at first, then half an hour
#   make mutants   small wrong changes, each of which a test must find; two hours on two cores
#   make ports     the engine's tests for Windows by wine, the tests for ARM by qemu; root, half an hour
#   make bench     speed without a GPU, beside other R packages (BENCH=--record keeps the result)
#   make regress REF=<commit>  every row of inst/bench/rows.R in this copy and in an older commit, interleaved: fails
#                  where this one is slower; on a processor five minutes on two cores
#   make fuzz      random calls against cor(), exact fractions and definitions; damaged files and objects: SECONDS=60 SEED=1
#   make nulls     p values by simulation where there is nothing to find: a table of sizes, SECONDS=300 on all cores
#   make asan      the tests with AddressSanitizer and UBSan; make asan-fuzz: the random calls
#   make valgrind  the tests under valgrind; slow, FILTER=name picks test files
#   make cluster   plans on a Slurm of three nodes on this machine: engines, lost nodes, killed processes; ten minutes
#   make install-check  installations on other systems, as far as this machine can be made to look like them: clang,
#                  musl, no root, no GNU make; ten minutes
#   make lint      the style of C, CUDA, R and the shell's scripts; lists that must agree
#   make format    puts C and CUDA into that style
#   make doc       NAMESPACE and man/ from the comments in R/
#   make claims    what the documentation says of speed and accuracy, against the recorded results
#   make site      the help, the vignettes and the records as a site, in build/site
#   make clean
#
# CONFIGURE=--without-cuda (or --with-cuda=DIR) holds for demo, test, check, fuzz, nulls and bench.
# FILTER=name picks files of tests for test, asan, valgrind and cluster, and rows for regress.

CONFIGURE =
FILTER =
RECORD =
TIER = quick
BENCH =
REF =
SECONDS = 60
SEED = 1
JOBS = $(shell nproc)

BUILD = $(CURDIR)/build
# One library for each way to configure, so that they do not overwrite one another.
LIBRARY = $(BUILD)/library$(subst /,_,$(CONFIGURE))

DEMO_NEEDS = r-base-core r-base-dev libopenblas-dev r-cran-matrix r-cran-withr r-bioc-multtest
TEST_NEEDS = $(DEMO_NEEDS) r-cran-testthat r-cran-callr r-cran-bit64 r-bioc-all r-bioc-bladderbatch r-cran-igraph \
  r-cran-wgcna r-bioc-rhdf5 r-bioc-hdf5array r-bioc-delayedarray r-cran-bigmemory r-bioc-summarizedexperiment \
  r-bioc-singlecellexperiment r-bioc-biobase r-bioc-impute r-cran-seuratobject r-cran-dynamictreecut \
  r-cran-fastcluster r-cran-future.apply r-cran-vdiffr r-cran-xml2 r-cran-corpcor r-cran-energy r-cran-nlme \
  r-cran-rspectra python3-anndata python3-h5py python3-nibabel
# R CMD check warns or notes where checkbashisms (of devscripts), qpdf or tidy are absent.
CHECK_NEEDS = $(TEST_NEEDS) r-cran-knitr r-cran-rmarkdown pandoc devscripts qpdf tidy
FUZZ_NEEDS = $(DEMO_NEEDS) python3-minimal r-bioc-rhdf5 r-cran-bit64 r-cran-xml2
BENCH_NEEDS = $(DEMO_NEEDS) r-cran-wgcna r-cran-pcapp
REGRESS_NEEDS = $(DEMO_NEEDS) git r-bioc-rhdf5 r-cran-dynamictreecut r-cran-rspectra
UNIT_NEEDS = gcc libc6-dev r-base-core gcc-mingw-w64-x86-64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross
CLUSTER_NEEDS = r-base-core r-base-dev r-cran-matrix r-cran-withr r-cran-testthat r-cran-callr slurm-wlm munge r-cran-batchtools \
  r-cran-future.apply r-cran-future.batchtools r-bioc-biocparallel iproute2 util-linux e2fsprogs procps
GALLERY_NEEDS = $(TEST_NEEDS) r-cran-png r-cran-colorspace mricron-data
SITE_NEEDS = $(CHECK_NEEDS) r-cran-pkgdown
LINT_NEEDS = r-base-core r-base-dev r-cran-matrix r-cran-withr r-cran-lintr clang-format shellcheck devscripts

# Each recipe is one bash script that ends at its first error.
SHELL = /bin/bash
.SHELLFLAGS = -euo pipefail -c
.ONESHELL:
.SILENT:
.PHONY: demo test check package unit releases mutants ports claims fuzz nulls gallery bench regress asan asan-fuzz valgrind cluster install-check lint \
  format doc site clean

# The same messages, and thus the same parsing of them, everywhere.
export LC_ALL = C.UTF-8
export R_LIBS = $(LIBRARY)
# Tests run in as many processes as there are processors.
export TESTTHAT_CPUS = $(JOBS)

# Nothing is asked of apt, root or the network where all is there already.
define need
missing=''
for package in $(1); do
  dpkg-query -W -f '$${Status}' $$package 2> /dev/null | grep -q 'ok installed' || missing+=" $$package"
done
if [ -n "$$missing" ] && ! command -v apt-get > /dev/null; then
  echo "no apt-get on this machine; going on in the hope that it has:$$missing"
elif [ -n "$$missing" ]; then
  sudo=''
  [ "$$(id -u)" = 0 ] || sudo=sudo
  $$sudo apt-get update -qq || true # a broken source of something else is no reason to stop
  there=''
  for package in $$missing; do # tests that need what this release lacks are skipped
    case "$$(apt-cache policy $$package)" in
      '' | *'Candidate: (none)'*) echo "this release has no $$package" ;;
      *) there+=" $$package" ;;
    esac
  done
  echo "installing$$there"
  $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$there < /dev/null > /dev/null
fi
endef

# $(1): arguments of R CMD INSTALL. Only if a file is newer than what is installed; the log is
# shown where it failed.
define install
mkdir -p '$(LIBRARY)'
if [ ! -d '$(LIBRARY)/gpucor' ] || [ -n "$$(find DESCRIPTION NAMESPACE configure R src man inst -type f \
     -newer '$(LIBRARY)/gpucor/Meta/package.rds' -print -quit)" ]; then
  echo 'building gpucor; with CUDA this takes a minute or two'
  if ! MAKEFLAGS=-j$(JOBS) R CMD INSTALL --preclean --clean --library='$(LIBRARY)' $(1) . > '$(BUILD)/install.log' 2>&1; then
    cat '$(BUILD)/install.log'
    exit 1
  fi
  grep '^gpucor: ' '$(BUILD)/install.log'
fi
endef

# $(1): further arguments of R.
run_tests = (cd tests && R $(1) --vanilla --no-echo -f testthat.R --args '$(FILTER)' $(RECORD) < /dev/null)

run_fuzz = source("tests/fuzz/fuzz.R"); quit(status = fuzz($(SECONDS), $(SEED), "$(BUILD)/fuzz-case") > 0)

# Of a process that did not live to tell: the call that it was at.
tell_fuzz = { status=$$?; [ $$status = 1 ] || cat '$(BUILD)/fuzz-case'; exit $$status; }

demo:
	$(call need,$(DEMO_NEEDS))
	$(call install,--configure-args='$(CONFIGURE)')
	cd '$(BUILD)'
	Rscript --vanilla -e 'source(system.file("examples", "golub.R", package = "gpucor"))'

test:
	$(call need,$(TEST_NEEDS))
	$(call install,--configure-args='$(CONFIGURE)')
	export GPUCOR_TESTS=$(TIER)
	$(call run_tests)

# The tests of the engine run beside R CMD build and R CMD check, which leave a processor idle now and then.
check: claims
	$(call need,$(CHECK_NEEDS) $(UNIT_NEEDS))
	mkdir -p '$(BUILD)'
	nice $(MAKE) --no-print-directory unit > '$(BUILD)/unit.log' 2>&1 &
	unit=$$!
	trap '[ -z "$$unit" ] || pkill -P "$$unit" || true' EXIT
	status=0
	$(MAKE) --no-print-directory package TIER=full || status=$$?
	wait "$$unit" || status=$$?
	unit=''
	cat '$(BUILD)/unit.log'
	.ci/check-result '$(BUILD)/gpucor.Rcheck' | tail -n 1 || status=1
	exit $$status

# R CMD build compiles, too, for the vignettes, and throws that away: without CUDA.
# A check needs no network: it asks an empty repository what other packages there are.
package: TIER = full
package:
	$(call need,$(CHECK_NEEDS))
	mkdir -p '$(BUILD)/none/src/contrib'
	cd '$(BUILD)'
	rm -rf gpucor.Rcheck gpucor_*.tar.gz
	export MAKEFLAGS=-j$(JOBS) _R_CHECK_CRAN_INCOMING_REMOTE_=FALSE _R_CHECK_SYSTEM_CLOCK_=FALSE
	# CRAN sets this: links between files lead to files of the tarball.
	export _R_CHECK_CRAN_INCOMING_CHECK_FILE_URIS_=TRUE
	export GPUCOR_TESTS=$(TIER)
	# What the package enhances is for its users to have.
	export _R_CHECK_PACKAGE_DEPENDS_IGNORE_MISSING_ENHANCES_=TRUE
	touch none/src/contrib/PACKAGES
	echo 'options(repos = c(CRAN = "file://$(BUILD)/none"))' > check.Rprofile
	export R_PROFILE='$(BUILD)/check.Rprofile'
	GPUCOR_CUDA=no R CMD build '$(CURDIR)'
	# Nothing of CUDA's runs here: code for Hopper is enough, which has the kernels of all GPUs and its own, and need not
	# be fast.
	export GPUCOR_CUDA_ARCH="$${GPUCOR_CUDA_ARCH:-90}"
	if nvcc --help 2> /dev/null | grep -q -e --Ofast-compile; then export NVCC_APPEND_FLAGS=--Ofast-compile=max; fi
	manual='' # where TeX has the font that R's manuals are set in
	kpsewhich inconsolata.sty > /dev/null 2>&1 || manual=--no-manual
	# R CMD build has run the vignettes.
	R CMD check --as-cran --timings --no-vignettes $$manual --install-args=--configure-args='$(CONFIGURE)' \
	  gpucor_*.tar.gz || true
	'$(CURDIR)/.ci/check-result' gpucor.Rcheck

unit:
	$(call need,$(UNIT_NEEDS))
	tests/configure
	tests/spills
	$(MAKE) --no-print-directory --output-sync -j$(JOBS) -C tests/unit OUT='$(BUILD)/unit'
	PORTS='$(BUILD)/ports' tests/ports/run link-windows link-arm64

releases:
	tests/releases '$(BUILD)/releases' trixie sid

mutants:
	$(call need,$(TEST_NEEDS))
	Rscript --vanilla tests/mutants/run.R '$(BUILD)/mutants'

ports:
	$(call need,$(TEST_NEEDS))
	PORTS='$(BUILD)/ports' tests/ports/run

claims:
	$(call need,r-base-core)
	Rscript --vanilla inst/bench/claims.R

fuzz:
	$(call need,$(FUZZ_NEEDS))
	$(call install,--configure-args='$(CONFIGURE)')
	R --vanilla --no-echo -e '$(run_fuzz)' < /dev/null || $(tell_fuzz)

nulls: SECONDS = 300
nulls:
	$(call need,$(DEMO_NEEDS))
	$(call install,--configure-args='$(CONFIGURE)')
	Rscript --vanilla tests/nulls/run.R $(SECONDS) $(JOBS)

# IMAGE: a NIfTI file of fMRI, 4-D.
gallery: IMAGE = /usr/lib/python3/dist-packages/nibabel/tests/data/functional.nii
gallery:
	$(call need,$(GALLERY_NEEDS))
	$(call install,--configure-args='$(CONFIGURE)')
	Rscript --vanilla tests/gallery/run.R '$(BUILD)/gallery' '$(IMAGE)'

bench:
	$(call need,$(BENCH_NEEDS))
	$(call install,--configure-args='$(CONFIGURE)')
	Rscript --vanilla inst/bench/cpu.R $(BENCH)

# Without a GPU nothing of CUDA's is timed, and compiling it takes minutes.
regress: CONFIGURE = $(shell nvidia-smi -L > /dev/null 2>&1 || echo --without-cuda)
regress:
	$(call need,$(REGRESS_NEEDS))
	[ -n '$(REF)' ] || { echo 'REF=<commit>: the commit to compare with'; exit 1; }
	$(call install,--configure-args='$(CONFIGURE)')
	old="$$(git rev-parse --short '$(REF)^{commit}')"
	old_library='$(BUILD)/regress/'"$$old"'$(subst /,_,$(CONFIGURE))'
	if [ ! -d "$$old_library/gpucor" ]; then
	  echo "building gpucor of $$old"
	  rm -rf '$(BUILD)/regress/source'
	  mkdir -p '$(BUILD)/regress/source' "$$old_library"
	  git archive "$$old" | tar -x -C '$(BUILD)/regress/source'
	  if ! MAKEFLAGS=-j$(JOBS) R CMD INSTALL --library="$$old_library" --configure-args='$(CONFIGURE)' \
	    '$(BUILD)/regress/source' > '$(BUILD)/regress/install.log' 2>&1; then
	    cat '$(BUILD)/regress/install.log'
	    exit 1
	  fi
	fi
	R_LIBS='' Rscript --vanilla inst/bench/regress.R "$$old_library" '$(LIBRARY)' \
	  '$(if $(findstring --without-cuda,$(CONFIGURE)),cpu,cuda)' '$(FILTER)'

# R itself leaks, so leaks are valgrind's and the tests' own business.
asan asan-fuzz: LIBRARY = $(BUILD)/library-asan
asan: run = $(call run_tests)
asan-fuzz: run = R --vanilla --no-echo -e '$(run_fuzz)' < /dev/null
asan asan-fuzz:
	$(call need,$(TEST_NEEDS))
	mkdir -p '$(BUILD)'
	echo 'CFLAGS = -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined' > '$(BUILD)/asan.mk'
	export GPUCOR_TESTS=full
	export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
	export R_MAKEVARS_USER='$(BUILD)/asan.mk'
	$(call install,--configure-args=--without-cuda --no-test-load)
	export LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)"
	$(run)

# Judged by valgrind's findings only: it computes R's long doubles as doubles, so that cor(), which
# the tests compare with, is off for constant columns.
valgrind: LIBRARY = $(BUILD)/library-valgrind
valgrind:
	$(call need,$(TEST_NEEDS) valgrind)
	$(call install,--configure-args=--without-cuda)
	export TESTTHAT_CPUS=1 # valgrind does not follow other processes
	$(call run_tests,-d "valgrind --leak-check=full --show-leak-kinds=definite --fullpath-after= --log-file=$(BUILD)/valgrind.log") || true
	.ci/valgrind-result '$(BUILD)/valgrind.log'

# Nodes are namespaces, so this is for root: by sudo where it is somebody else.
cluster: CONFIGURE = --without-cuda
cluster:
	$(call need,$(CLUSTER_NEEDS))
	$(call install,--configure-args='$(CONFIGURE)')
	sudo=''
	[ "$$(id -u)" = 0 ] || sudo='sudo -E'
	$$sudo rm -rf '$(BUILD)/cluster'
	$$sudo env FILTER='$(FILTER)' R_LIBS="$$R_LIBS" tests/cluster/run '$(BUILD)/cluster'

install-check:
	$(call need,$(TEST_NEEDS))
	tests/install '$(BUILD)/install'

# lintr asks the installed package which functions there are.
lint: CONFIGURE = --without-cuda
lint:
	$(call need,$(LINT_NEEDS))
	$(call install,--configure-args='$(CONFIGURE)')
	.ci/lint

format:
	$(call need,clang-format)
	.ci/format -i

doc: CONFIGURE = --without-cuda
doc:
	$(call need,$(TEST_NEEDS) r-cran-roxygen2)
	$(call install,--configure-args='$(CONFIGURE)')
	Rscript --vanilla -e 'roxygen2::roxygenise(load_code = "installed")'

site: CONFIGURE = --without-cuda
site:
	$(call need,$(SITE_NEEDS))
	$(call install,--configure-args='$(CONFIGURE)')
	rm -rf '$(BUILD)/site'
	Rscript --vanilla .ci/site.R '$(BUILD)/site' > '$(BUILD)/site.log' 2>&1 || { tail -n 20 '$(BUILD)/site.log'; exit 1; }
	.ci/site-links '$(BUILD)/site'
	echo 'the site is in $(BUILD)/site'

clean:
	./cleanup
	rm -rf build
