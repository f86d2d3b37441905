# install.mk - what leaves the build directory: install, uninstall, packages, a portable build.
# A build directory that runs on a machine without libcjson1 and cmocka (scripts/gpu-tests.sh there); zlib1g
# is everywhere.
portable: gpu-build
	for name in cjson.so.1 cmocka.so.0; do \
		cp -L "$$(ldconfig -p | sed -n "s/.*lib$$name .*=> //p" | head -1)" $(BUILD)/lib$$name || exit; done

# The packages; scripts/package.sh says what each needs.
package-deb package-wheel: package-%:
	@scripts/package.sh $*

# Kernels compiled ahead, for machines that then need no compiler: not part of `make`, for it takes minutes.
CUBINS ?= cubins
CUBINS_CONFIG ?= configs/grid.json
cubins: $(BUILD)/cudal2-bench
	for a in f16 f32; do $(BUILD)/cudal2-bench compile --config $(CUBINS_CONFIG) --choice portfolio --accumulate $$a --kernels kernels --output $(CUBINS) || exit; done

# All is put together in a directory of its own first, so that what was installed is known, and goes again.
STAGE = $(BUILD)/stage
STAGED = $(STAGE)$(PREFIX)
INSTALLED = $(patsubst /%,%,$(PREFIX))/lib/cudal2-bench/installed
install: all
	@rm -rf $(STAGE)
	@install -d $(STAGED)/lib/cudal2-bench/plugins $(STAGED)/bin $(STAGED)/include/cudal2/abi $(STAGED)/share/cudal2-bench \
		$(STAGED)/share/pkgconfig $(STAGED)/share/man/man1 $(STAGED)/share/bash-completion/completions $(STAGED)/share/zsh/site-functions
	@install $(BUILD)/cudal2-bench $(STAGED)/lib/cudal2-bench/cudal2-bench
	@install -m 644 $(PLUGINS) $(STAGED)/lib/cudal2-bench/plugins
	@cp -R kernels $(STAGED)/lib/cudal2-bench/
	@[ ! -d '$(CUBINS)' ] || cp -R '$(CUBINS)' $(STAGED)/lib/cudal2-bench/cubins
	@cp -R configs $(STAGED)/share/cudal2-bench/
	@install -m 644 harness/abi/contender.h harness/abi/plugin.map $(STAGED)/include/cudal2/abi/
	@sed 's,@PREFIX@,$(PREFIX),; s,@VERSION@,$(VERSION),' \
		scripts/cudal2-bench.pc.in > $(STAGED)/share/pkgconfig/cudal2-bench.pc
	@$(BUILD)/cudal2-bench help --man > $(STAGED)/share/man/man1/cudal2-bench.1
	@$(BUILD)/cudal2-bench help --completion bash > $(STAGED)/share/bash-completion/completions/cudal2-bench
	@$(BUILD)/cudal2-bench help --completion zsh > $(STAGED)/share/zsh/site-functions/_cudal2-bench
	@ln -sf ../lib/cudal2-bench/cudal2-bench $(STAGED)/bin/cudal2-bench
	@scripts/install.sh $(STAGE) '$(DESTDIR)' $(INSTALLED)
	@rm -rf $(STAGE)
	@echo "installed $(DESTDIR)$(PREFIX)/bin/cudal2-bench and what it needs; make uninstall PREFIX=$(PREFIX) removes it"

uninstall:
	@scripts/install.sh --remove '$(DESTDIR)' $(INSTALLED)
