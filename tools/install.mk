# SPDX-License-Identifier: MIT
# The places of installed files, and the Debian packages.  Included by the root Makefile.

D := $(DESTDIR)$(PREFIX)
L := $(DESTDIR)$(LIBDIR)
Z := $(DESTDIR)$(ZSHDIR)
M := $(D)/share/cachepeek/modulefiles/cachepeek
MANUALS := $(wildcard doc/*.[1-8])
SCHEMAS := $(wildcard doc/*.schema.json)
EXAMPLES := $(wildcard examples/*)
DOCS := $(wildcard doc/*.md doc/*.png)
# Each as DIRECTORY/NAME, for both directions.
INSTALLED := $(D)/bin/cachepeek $(L)/libcachepeek.so $(L)/pkgconfig/cachepeek.pc \
	$(L)/cmake/cachepeek/cachepeek-config.cmake \
	$(L)/cmake/cachepeek/cachepeek-config-version.cmake \
	$(D)/include/cachepeek.h $(Z)/_cachepeek \
	$(D)/share/bash-completion/completions/cachepeek \
	$(D)/share/fish/vendor_completions.d/cachepeek.fish \
	$(foreach m,$(MANUALS),$(D)/share/man/man$(subst .,,$(suffix $m))/$(notdir $m))
INSTALLED_DIRECTORIES := $(L)/libcachepeek $(D)/share/cachepeek $(D)/share/doc/cachepeek

# Files that tell others where it is, and in which version.
FOUND_BY := $(B)/cachepeek.pc $(B)/cachepeek-config.cmake $(B)/cachepeek-config-version.cmake \
	$(B)/cachepeek.modulefile
FILLED_MANUALS := $(MANUALS:doc/%=$(B)/filled/%)
FILLED := $(FOUND_BY) $(FILLED_MANUALS) $(B)/filled/cachepeek.py
$(FOUND_BY): $(B)/%: tools/%.in
$(FILLED_MANUALS): $(B)/filled/%: doc/%
$(B)/filled/cachepeek.py: regions/cachepeek.py
$(FILLED): FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' $(filter-out FORCE,$^) > $@

# The library is found by name, from any directory, once ld.so knows it.
.PHONY: install uninstall
install: all $(FILLED) ## copy everything below DESTDIR/PREFIX
	install -d $(sort $(dir $(INSTALLED))) $(L)/libcachepeek $(M) \
		$(D)/share/doc/cachepeek/examples $(D)/share/doc/cachepeek/doc
	install -m 755 $(CLI) $(D)/bin/cachepeek
	install -m 644 $(LIB) $(L)/libcachepeek.so
	install -m 755 $(SIM) $(REPORTER) $(L)/libcachepeek/
	install -m 644 $(DATA) $(ENCODER) $(HEAP) $(PATCHER) $(PERFSTUBS) $(SIM_CORE) $(L)/libcachepeek/
	install -m 644 $(B)/cachepeek.pc $(L)/pkgconfig/cachepeek.pc
	install -m 644 $(filter %.cmake,$(FOUND_BY)) $(L)/cmake/cachepeek/
	install -m 644 regions/cachepeek.h $(D)/include/cachepeek.h
	install -m 644 $(B)/cachepeek.modulefile $(M)/$(VERSION)
	install -m 644 regions/cachepeek.f90 regions/cachepeek.go regions/cachepeek.rs regions/cachepeek_criterion.rs regions/Cachepeek.java $(B)/filled/cachepeek.py regions/cachepeek_pytest.py output/cachepeek_report.py $(D)/share/cachepeek/
	install -m 644 $(B)/completion/_cachepeek $(Z)/_cachepeek
	install -m 644 $(B)/completion/cachepeek.fish $(D)/share/fish/vendor_completions.d/
	install -m 644 $(B)/completion/cachepeek.bash $(D)/share/bash-completion/completions/cachepeek
	for page in $(FILLED_MANUALS); do \
		install -m 644 $$page $(D)/share/man/man$${page##*.}/ || exit 1; \
	done
	install -m 644 $(SCHEMAS) $(D)/share/cachepeek/
	install -m 644 README.md $(D)/share/doc/cachepeek/
	install -m 644 $(DOCS) $(D)/share/doc/cachepeek/doc/
	install -m 644 $(EXAMPLES) $(D)/share/doc/cachepeek/examples/
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi
uninstall: ## remove what install copied
	rm -f $(INSTALLED)
	rm -rf $(INSTALLED_DIRECTORIES)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi
